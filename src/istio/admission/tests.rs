//! What is admitted with a warning.

use super::super::read;
use super::super::version::IstioVersion;
use crate::source::FileId;
use crate::yaml::Tree;

/// What is said of a resource: the rules, and the texts of the places.
fn said(kind: &str, spec: &str) -> Vec<(&'static str, String)> {
    said_in("app", kind, spec)
}

fn said_in(namespace: &str, kind: &str, spec: &str) -> Vec<(&'static str, String)> {
    let text = format!(
        "apiVersion: networking.istio.io/v1\nkind: {kind}\nmetadata: {{name: a, namespace: {namespace}}}\nspec: {spec}\n"
    );
    let tree = Tree::parse(FileId(0), &text);
    let documents = tree.documents(&text);
    let findings =
        documents.flat_map(|it| read::read(it.root, IstioVersion::default()).diagnostics);
    let place = |at: crate::source::Span| text[at.start as usize..at.end as usize].to_owned();
    findings.map(|it| (it.rule, place(it.span))).collect()
}

const HTTP: &str = "ports: [{number: 80, name: http, protocol: HTTP}]";
const TLS: &str = "ports: [{number: 443, name: tls, protocol: TLS}]";
const ROUTE: &str = "route: [{destination: {host: a.example}}]";

#[test]
fn what_has_no_effect_or_another_than_it_seems() {
    let server = |tls: &str| {
        format!(
            "{{servers: [{{port: {{number: 443, name: s, protocol: HTTPS}}, hosts: [a.example], tls: {tls}}}]}}"
        )
    };
    let cases = [
        (
            "ServiceEntry",
            format!("{{hosts: [a.example], {HTTP}, resolution: STATIC, workloadSelector: {{}}}}"),
            vec!["workloadSelector"],
        ),
        (
            "ServiceEntry",
            format!("{{hosts: [a.example], {HTTP}, workloadSelector: {{labels: {{a: b}}}}}}"),
            vec!["workloadSelector"],
        ),
        (
            "ServiceEntry",
            format!("{{hosts: ['*a.example', '*.b.example', '*-c.example'], {HTTP}}}"),
            vec!["'*a.example'", "'*-c.example'"],
        ),
        (
            "ServiceEntry",
            format!("{{hosts: ['*a.example'], {HTTP}, resolution: DYNAMIC_DNS}}"),
            vec![],
        ),
        (
            "ServiceEntry",
            format!(
                "{{hosts: [a.example, b.example], addresses: [192.0.2.1], {TLS}, resolution: DNS}}"
            ),
            vec!["addresses"],
        ),
        (
            "ServiceEntry",
            format!(
                "{{hosts: [a.example, b.example], addresses: [192.0.2.1], {HTTP}, resolution: DNS}}"
            ),
            vec![],
        ),
        (
            "ServiceEntry",
            format!(
                "{{hosts: [a.example], {HTTP}, resolution: STATIC, endpoints: [{{network: far}}]}}"
            ),
            vec!["far"],
        ),
        ("WorkloadEntry", "{network: far}".to_owned(), vec!["far"]),
        (
            "DestinationRule",
            "{host: a.example, workloadSelector: {matchLabels: {}}}".to_owned(),
            vec!["workloadSelector"],
        ),
        (
            "VirtualService",
            format!(
                "{{hosts: [192.0.2.1], tls: [{{match: [{{sniHosts: [192.0.2.1]}}], {ROUTE}}}]}}"
            ),
            vec!["192.0.2.1"],
        ),
        (
            "VirtualService",
            format!(
                "{{hosts: [a.example], http: [{{directResponse: {{status: 503, body: {{string: {}}}}}}}]}}",
                "x".repeat(102_401)
            ),
            vec!["string"],
        ),
        (
            "Gateway",
            server("{mode: SIMPLE, credentialName: a, httpsRedirect: true}"),
            vec!["httpsRedirect"],
        ),
        (
            "Gateway",
            server("{mode: PASSTHROUGH, credentialName: a}"),
            vec!["credentialName"],
        ),
        (
            "Gateway",
            server("{mode: SIMPLE, credentialName: a, minProtocolVersion: TLSV1_1}"),
            vec!["TLSV1_1"],
        ),
        (
            "Gateway",
            server(
                "{mode: SIMPLE, credentialName: a, minProtocolVersion: TLSV1_1, cipherSuites: [ECDHE-RSA-AES128-SHA]}",
            ),
            vec![],
        ),
        (
            "Sidecar",
            "{egress: [{hosts: ['*/*', ./a.example]}, ]}".to_owned(),
            vec!["./a.example"],
        ),
        (
            "Sidecar",
            "{egress: [{hosts: [./*, app/a.example, b/a.example, b/a.example, '*/a.example']}]}"
                .to_owned(),
            vec!["app/a.example", "b/a.example"],
        ),
    ];
    for (kind, spec, places) in cases {
        let wanted: Vec<_> = places
            .into_iter()
            .map(|it| ("warned", it.to_owned()))
            .collect();
        assert_eq!(
            said(kind, &spec),
            wanted,
            "{kind} {}",
            spec.get(..100).unwrap_or(&spec)
        );
    }
}

#[test]
fn a_dot_in_the_root_namespace_is_each_workload_s_own() {
    let said = |namespace: &str, hosts: &str| {
        let spec = format!("{{egress: [{{hosts: {hosts}}}]}}");
        said_in(namespace, "Sidecar", &spec)
    };
    let both = |namespace: &str| said(namespace, &format!("['./*', '{namespace}/*']"));
    assert_eq!(both("app").len(), 1);
    assert_eq!(both("istio-system"), []);
    assert_eq!(said("istio-system", "['./*', ./a.example]").len(), 1);
}

#[test]
fn what_has_a_newer_spelling() {
    let cases = [
        ("VirtualService", format!("{{hosts: [a.example], gateways: [b/a, a.b.svc.cluster.local], http: [{{{ROUTE}}}]}}"), "a.b.svc.cluster.local"),
        ("VirtualService", format!("{{hosts: [a.example], http: [{{{ROUTE}, mirror: {{host: b.example}}, mirrorPercent: 5}}]}}"), "mirrorPercent"),
        ("DestinationRule", "{host: a.example, trafficPolicy: {loadBalancer: {consistentHash: {useSourceIp: true, minimumRingSize: 9}}}}".to_owned(), "minimumRingSize"),
    ];
    for (kind, spec, place) in cases {
        assert_eq!(
            said(kind, &spec),
            [("deprecated", place.to_owned())],
            "{spec}"
        );
    }
}

#[test]
fn nothing_is_warned_of_in_what_is_refused() {
    let spec = "{hosts: ['*a.example'], ports: [{number: 0, name: http, protocol: HTTP}]}";
    let rules: Vec<_> = said("ServiceEntry", spec)
        .into_iter()
        .map(|it| it.0)
        .collect();
    assert_eq!(rules, ["refused"]);
}
