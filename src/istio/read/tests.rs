//! Whole documents, read and judged.

use super::*;
use crate::istio::decode::Items as _;
use crate::source::FileId;
use crate::yaml::Tree;

fn decode(text: &str) -> Decoded {
    let tree = Tree::parse(FileId(0), text);
    let mut out = Decoded::default();
    for document in tree.documents(text) {
        let mut one = read(document.root, IstioVersion::default());
        out.resources.append(&mut one.resources);
        out.diagnostics.append(&mut one.diagnostics);
    }
    out
}

#[test]
fn items_of_a_list_are_resources_of_their_own() {
    let out = decode(
        "apiVersion: v1\nkind: List\nitems:\n\
         - apiVersion: networking.istio.io/v1\n  kind: ServiceEntry\n  metadata: {name: a}\n  \
         spec: {hosts: [a.example], resolution: DNS}\n\
         - apiVersion: v1\n  kind: Service\n  metadata: {name: b, namespace: other}\n  spec: {ports: [{port: 80}]}\n\
         - apiVersion: apps/v1\n  kind: Deployment\n",
    );
    let names: Vec<_> = out
        .resources
        .iter()
        .map(|it| (it.spec.kind(), it.name(), it.namespace()))
        .collect();
    assert_eq!(
        names,
        [("ServiceEntry", "a", None), ("Service", "b", Some("other"))]
    );
    assert!(out.diagnostics.is_empty(), "{:?}", out.diagnostics);
}

/// The API server drops the field, and Istio gets the rest.
#[test]
fn what_stands_beside_a_misspelt_field_is_kept() {
    let out = decode(
        "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: a}\nspec:\n  host: a.example\n  \
         trafficPolicy: {tls: {mode: SIMPLE}}\n  exportsTo: ['.']\n",
    );
    let rules: Vec<_> = out.diagnostics.iter().map(|it| it.rule).collect();
    assert_eq!(rules, ["unknown-field"]);
    let [rule] = out.resources.as_slice() else {
        panic!("{:?}", out.resources);
    };
    let Spec::DestinationRule(spec) = &rule.spec else {
        panic!("{:?}", rule.spec);
    };
    assert!(!rule.refused && rule.misspells_top());
    assert!(spec.traffic_policy.is_some());
}

/// Nothing is said of what follows, but the object is refused all the same.
#[test]
fn a_misspelt_field_can_be_read_as_what_it_means() {
    let text = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: a}\nspec:\n  \
                host: [a.example]\n  gateways: [mesh]\n  http:\n  - route: [{destination: {host: a.example}}]\n";
    let tree = Tree::parse(FileId(0), text);
    let root = tree.documents(text).next().unwrap().root;
    let out = Reader::new(IstioVersion::default(), true).read(root);
    let [finding] = &out.diagnostics[..] else {
        panic!("{:?}", out.diagnostics);
    };
    assert_eq!(
        (finding.rule, finding.refused_by.is_some()),
        (SPELLING, true)
    );
    let [service] = &out.resources[..] else {
        panic!("{:?}", out.resources);
    };
    let Spec::VirtualService(spec) = &service.spec else {
        panic!("{:?}", service.spec);
    };
    assert!(!service.refused && spec.hosts.items().len() == 1);
    let [meant] = service.meant()[..] else {
        panic!("{:?}", service.meant());
    };
    assert_eq!(
        &text[meant.start as usize..meant.end as usize],
        "host: [a.example]"
    );

    let written = decode(text);
    assert!(written.resources[0].refused && written.diagnostics.len() > 1);
}

/// `attempts` and the number are there, and all that is wrong are their quotes.
#[test]
fn what_stands_in_quotes_can_be_read_as_what_it_means() {
    let text = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: a}\nspec:\n  \
                hosts: [a.example]\n  http:\n  - retries: {attempts: \"2\", perTryTimeout: 2s}\n    \
                route: [{destination: {host: a.example, port: {number: \"80\"}}}]\n";
    let tree = Tree::parse(FileId(0), text);
    let root = tree.documents(text).next().unwrap().root;
    let out = Reader::new(IstioVersion::default(), true).read(root);
    let messages: Vec<_> = out.diagnostics.iter().map(|it| &*it.message).collect();
    assert_eq!(
        messages,
        [
            "`spec.http[0].retries.attempts` must be an integer, not the string `2`",
            "`spec.http[0].route[0].destination.port.number` must be an integer, not the string `80`",
        ]
    );
    assert!(!out.resources[0].refused);
    assert_eq!(out.resources[0].meant().len(), 2);
}

#[test]
fn lists_in_lists_are_unfolded_in_their_order() {
    let entry = |name| {
        format!(
            "{{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {{name: {name}}}, spec: {{hosts: [a.example], resolution: DNS}}}}"
        )
    };
    let (a, b, c) = (entry("a"), entry("b"), entry("c"));
    let out = decode(&format!(
        "{{apiVersion: v1, kind: List, items: [{a}, {{apiVersion: v1, kind: List, items: [{b}]}}, {c}]}}"
    ));
    let names: Vec<_> = out.resources.iter().map(Resource::name).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn a_placeholder_is_there_and_nothing_is_said_about_it() {
    let out = decode(
        "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: a}\n\
         spec: {hosts: '${HOSTS}', ports: [{number: {port}, name: http}], resolution: <type>}\n",
    );
    assert!(out.diagnostics.is_empty(), "{:?}", out.diagnostics);
    let [resource] = &out.resources[..] else {
        panic!()
    };
    assert_eq!(resource.placeholders().len(), 3);
    assert!(!resource.refused);
    let Spec::ServiceEntry(entry) = &resource.spec else {
        panic!()
    };
    assert!(entry.hosts.as_ref().is_some_and(|hosts| hosts.is_empty()));
}

fn messages(text: &str) -> Vec<String> {
    decode(text)
        .diagnostics
        .into_iter()
        .map(|it| it.message.to_string())
        .collect()
}

#[test]
fn unknown_versions_and_kinds_are_refused() {
    for (version, kind, message) in [
        (
            "networking.istio.io/v1alpha4",
            "ServiceEntry",
            Some("`ServiceEntry` has no version `v1alpha4` in `networking.istio.io`"),
        ),
        (
            "networking.istio.io/v1apha3",
            "Sidecar",
            Some("`Sidecar` has no version `v1apha3` in `networking.istio.io`"),
        ),
        (
            "networking.istio.io/v1",
            "EnvoyFilter",
            Some("`EnvoyFilter` has no version `v1` in `networking.istio.io`"),
        ),
        (
            "networking.istio.io/v1",
            "VirtualServices",
            Some("`networking.istio.io` has no kind `VirtualServices`"),
        ),
        (
            "networking.istio.io/v1",
            "Telemetry",
            Some("`networking.istio.io` has no kind `Telemetry`"),
        ),
        (
            "networking.isto.io/v1",
            "Sidecar",
            Some("`Sidecar` is a kind of `networking.istio.io`, not of `networking.isto.io`"),
        ),
        ("networking.istio.io/v1beta1", "ProxyConfig", None),
        ("config.istio.io/v1alpha2", "RouteRule", None),
        ("rbac.istio.io/v1alpha1", "ServiceRole", None),
        ("gateway.networking.k8s.io/v1", "Gateway", None),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", None),
    ] {
        let found = messages(&format!(
            "apiVersion: {version}\nkind: {kind}\nspec: {{egress: [{{hosts: ['*/*']}}]}}\n"
        ));
        let found = found
            .iter()
            .find(|it| it.contains("kind") || it.contains("version"))
            .map(String::as_str);
        assert_eq!(found, message, "{version} {kind}");
    }
}

#[test]
fn an_unknown_field_says_where_it_belongs() {
    let out = decode(
        "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: a}\nspec:\n  hosts: [a.example]\n  trafficPolicy: {}\n  \
         http:\n  - per_try_timeout: 1s\n    timeOut: 3s\n    websocketUpgrade: true\n    redirect: {prefixRewrite: /, uri: /}\n",
    );
    let helps: Vec<_> = out
        .diagnostics
        .iter()
        .filter_map(|it| Some((it.extras().field.as_deref()?, it.help.as_deref()?)))
        .collect();
    assert_eq!(
        helps,
        [
            ("spec.trafficPolicy", "it is a field of a DestinationRule"),
            (
                "spec.http[0].per_try_timeout",
                "`perTryTimeout` belongs in `spec.http.retries`"
            ),
            ("spec.http[0].timeOut", "did you mean `timeout`?"),
            (
                "spec.http[0].websocketUpgrade",
                "remove it: WebSockets work without"
            ),
            ("spec.http[0].redirect.prefixRewrite", "it needs Istio 1.31"),
        ]
    );
    assert!(!out.resources[0].refused);
}

/// What the API server drops is not there for the webhook either.
#[test]
fn fields_of_later_versions_are_dropped() {
    let text = "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: a}\n\
                spec: {host: a.example, trafficPolicy: {connectionPool: {http: {http2KeepAlive: {}}}}}\n";
    let tree = Tree::parse(FileId(0), text);
    for (minor, refused) in [(30, false), (31, true)] {
        let document = tree.documents(text).next().unwrap();
        let out = read(document.root, IstioVersion(minor));
        assert_eq!(out.resources[0].refused, refused, "{:?}", out.diagnostics);
    }
}

/// Who has written both fields has not misspelt one.
#[test]
fn a_field_that_is_there_is_not_meant_by_another() {
    let message = "`spec.http[0].retries` has no field `attempt`";
    for (retries, help) in [
        ("{attempt: 2}", Some("did you mean `attempts`?")),
        ("{attempt: 2, attempts: 2}", None),
    ] {
        let text = format!(
            "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: a}}\nspec:\n  hosts: [a.example]\n  \
             http:\n  - retries: {retries}\n    route: [{{destination: {{host: a}}}}]\n"
        );
        let found = decode(&text).diagnostics;
        let found: Vec<_> = found
            .iter()
            .map(|it| (&*it.message, it.help.as_deref()))
            .collect();
        assert_eq!(found, [(message, help)]);
    }
}

/// `retryOn: a,b` in braces is one value and one field more.
#[test]
fn a_comma_in_braces_ends_a_value() {
    let quote = "quote the value before it: in braces a comma ends a value";
    for (retries, help) in [
        ("{attempts: 2, retryOn: 5xx,reset}", Some(quote)),
        ("{attempts: 2, reset: }", None),
        ("{attempts: 2, reset: 1}", None),
        ("\n      attempts: 2\n      reset:", None),
    ] {
        let text = format!(
            "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: a}}\nspec:\n  hosts: [a.example]\n  \
             http:\n  - retries: {retries}\n    route: [{{destination: {{host: a}}}}]\n"
        );
        let found = decode(&text).diagnostics;
        let found: Vec<_> = found.iter().map(|it| it.help.as_deref()).collect();
        assert_eq!(found, [help], "{retries}");
    }
}

/// Of the places that know `interval` the one that knows its neighbours too.
#[test]
fn fields_that_went_astray_together_belong_together() {
    let text = "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: a}\nspec:\n  host: a.example\n  trafficPolicy:\n    \
                connectionPool:\n      http: {consecutiveGatewayErrors: 5, interval: 30s}\n      tcp: {keepAlive: {time: 60s}}\n    \
                outlierDetection: {consecutive5xx: 3}\n";
    let tree = Tree::parse(FileId(0), text);
    let out = read(tree.documents(text).next().unwrap().root, IstioVersion(30));
    let found = out.diagnostics.iter();
    let found: Vec<_> = found
        .map(|it| (&*it.message, it.help.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        found,
        [
            (
                "`spec.trafficPolicy.connectionPool.http` has no fields `consecutiveGatewayErrors` and `interval`",
                "they belong in `spec.trafficPolicy.outlierDetection`"
            ),
            (
                "`spec.trafficPolicy.connectionPool.tcp` has no field `keepAlive`",
                "did you mean `tcpKeepalive`?"
            ),
            (
                "`spec.trafficPolicy.outlierDetection` has no field `consecutive5xx`",
                "did you mean `consecutive5xxErrors`?"
            ),
        ]
    );
}

/// What other software calls it, or what it was once called.
#[test]
fn an_invented_field_is_known_by_its_name() {
    let text = "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: a}\nspec:\n  host: a.example\n  trafficPolicy:\n    \
                loadBalancer: {roundRobin: {}}\n    outlierDetection: {consecutiveGatewayFailure: 5}\n    circuitBreaker: {}\n    retry: {attempts: 2}\n    \
                portLevelSettings:\n    - port: {number: 443, protocol: HTTPS}\n      tls: {mode: DISABLE}\n    \
                - port: {name: https}\n      tls: {mode: DISABLE}\n";
    let out = decode(text);
    let helps: Vec<_> = out
        .diagnostics
        .iter()
        .filter_map(|it| it.help.as_deref())
        .collect();
    assert_eq!(
        helps,
        [
            "remove it: `outlierDetection` and `connectionPool` do that",
            "use `retries` in an HTTP route of a VirtualService",
            "write `simple: ROUND_ROBIN`",
            "use `consecutiveGatewayErrors`",
            "remove it: a port is selected by its `number`",
            "use `number`",
        ]
    );
}

/// What stands behind a map without content was to be its content.
#[test]
fn what_an_empty_map_lacks_stands_behind_it() {
    let match_of = |text: &str| {
        decode(&format!(
            "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: a}}\nspec:\n  hosts: [a.example]\n  \
             http:\n  - match:\n    - {text}    route: [{{destination: {{host: a}}}}]\n"
        ))
    };
    let out = match_of("headers:\n      x-a: {exact: b}\n      end-user: {exact: c}\n");
    let found: Vec<_> = out
        .diagnostics
        .iter()
        .map(|it| (&*it.message, it.help.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        found,
        [(
            "`spec.http[0].match[0]` has no fields `x-a` and `end-user`",
            "indent them: they belong in `headers`, which is empty"
        )]
    );
    assert!(out.resources[0].misspells("headers"));
    let out = match_of("uri:\n      prefix: /a\n");
    let help = out.diagnostics[0].help.as_deref();
    assert_eq!(help, Some("indent it: it belongs in `uri`, which is empty"));
    let out = match_of("headers: {}\n      x-a: {exact: b}\n");
    assert_eq!(out.diagnostics[0].help, None);
}

/// Several places of one mistake are one finding.
#[test]
fn one_mistake_is_told_once() {
    for (kind, spec, message) in [
        (
            "EnvoyFilter",
            "{workloadLabels: {app: a}, filters: []}",
            "the fields `workloadLabels` and `filters` were removed from Istio",
        ),
        (
            "VirtualService",
            "{hosts: [a.example], tls: [{match: [{sniHosts: [b.example, c.example]}], route: [{destination: {host: a}}]}]}",
            "the SNI hosts `b.example` and `c.example` are none of the VirtualService's hosts",
        ),
        (
            "VirtualService",
            "{hosts: ['*', a.example, b.example], gateways: [a], http: [{route: [{destination: {host: a}}]}]}",
            "the hosts `*`, `a.example` and `b.example` overlap",
        ),
        (
            "DestinationRule",
            "{host: a.example, trafficPolicy: {outlierDetection: {}, loadBalancer: {localityLbSetting: {failover: [{from: a/b, to: \
             a/c}]}}}}",
            "`a/b` and `a/c` are no regions",
        ),
        (
            "VirtualService",
            "{hosts: [a.example], http: [{route: [{destination: null, host: a, subset: v1}]}]}",
            "`spec.http[0].route[0]` has no fields `host` and `subset`, and `destination` is missing",
        ),
        (
            "VirtualService",
            "{hosts: [a.example], http: [{route: [{destination: {name: a}}]}]}",
            "the field `name` was removed from Istio, and `host` is missing",
        ),
        (
            "DestinationRule",
            "{name: a.example}",
            "the field `name` was removed from Istio, and `host` is missing",
        ),
        (
            "VirtualService",
            "{hosts: [a.example], http: [{route: [{destination: {host: a, port: {number: 80, name: http, protocol: HTTP}}}]}]}",
            "`spec.http[0].route[0].destination.port` has no fields `name` and `protocol`",
        ),
        (
            "DestinationRule",
            "{host: a.example, trafficPolicy: {loadBalancer: {consistentHash: {httpHeaderName: a, httpCookie: {name: b, ttl: 0s}, \
             useSourceIp: true}}}}",
            "`httpHeaderName`, `httpCookie` and `useSourceIp` exclude each other",
        ),
        (
            "VirtualService",
            "{hosts: [a.example], http: {route: [{destination: {host: a}}]}}",
            "`spec.http` must be a list, not an object",
        ),
        (
            "Sidecar",
            "{egress: [{hosts: [./*, a/b.example, '*/*']}]}",
            "`./*` and `a/b.example` add nothing to what the listener imports",
        ),
    ] {
        let found = messages(&format!(
            "apiVersion: networking.istio.io/v1alpha3\nkind: {kind}\nmetadata: {{name: a, namespace: b}}\nspec: {spec}\n"
        ));
        assert_eq!(found, [message]);
    }
}

#[test]
fn an_object_has_a_name() {
    let missing = |metadata: &str| {
        let found = messages(&format!(
            "apiVersion: networking.istio.io/v1\nkind: Sidecar\n{metadata}spec: {{egress: [{{hosts: ['*/*']}}]}}\n"
        ));
        found == ["`metadata.name` is missing"]
    };
    assert!(missing(""));
    assert!(missing("metadata:\n"));
    assert!(missing("metadata: {namespace: payments}\n"));
    assert!(!missing("metadata: {name: default}\n"));
    assert!(!missing("metadata: {generateName: default-}\n"));
}

/// One mistake is said once.
#[test]
fn a_required_field_in_another_spelling_is_one_finding() {
    let text = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: a}\nspec:\n  hosts: [a.example]\n  tls:\n  \
                - match: [{sni_hosts: [a.example]}]\n    route: [{destination: {host: a.example}}]\n";
    let tree = Tree::parse(FileId(0), text);
    let out = read(tree.documents(text).next().unwrap().root, IstioVersion(30));
    let found: Vec<_> = out.diagnostics.iter().map(|it| &*it.message).collect();
    assert_eq!(
        found,
        ["`spec.tls[0].match[0]` has no field `sni_hosts`, and `sniHosts` is missing"]
    );
    assert!(out.resources[0].refused);
}

#[test]
fn a_namespace_that_will_be_put_in_is_unknown() {
    let text = "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: a, namespace: <team>}\n\
                spec: {hosts: [a.example], exportTo: [., istio-system], ports: [{number: 80, name: http}]}\n";
    let tree = Tree::parse(FileId(0), text);
    let out = read(tree.documents(text).next().unwrap().root, IstioVersion(30));
    assert!(out.diagnostics.is_empty(), "{:?}", out.diagnostics);
    assert_eq!(out.resources[0].namespace(), None);
}

#[test]
fn a_patch_is_judged_by_its_values() {
    let text = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nspec:\n  http:\n  - $patch: delete\n    timeout: 5\n    \
                timeOut: 3s\n    match: [{uri: {exact: a, prefix: b}}]\n";
    let tree = Tree::parse(FileId(0), text);
    let document = tree.documents(text).next().unwrap();
    let found: Vec<_> = check_patch(document.root, IstioVersion(30))
        .into_iter()
        .map(|it| it.message.to_string())
        .collect();
    assert_eq!(
        found,
        [
            "`spec.http[0]` has no field `timeOut`",
            "`spec.http[0].timeout` must be a duration, not the number `5`"
        ]
    );
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    /// Values as they come up in these resources, and others that do not belong there.
    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("''".to_owned()),
            Just("'*'".to_owned()),
            Just("'%'".to_owned()),
            Just("'${X}'".to_owned()),
            Just("-1".to_owned()),
            Just("9223372036854775807".to_owned()),
            Just("1e400".to_owned()),
            Just("unix://".to_owned()),
            Just("DNS".to_owned()),
            Just("'{'".to_owned()),
            "[a-z*./_%()\\[\\]-]{1,12}".prop_map(|text| format!("'{text}'")),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4)
                    .prop_map(|items| format!("[{}]", items.join(", "))),
                prop::collection::vec((key(), inner), 0..4).prop_map(|entries| {
                    let entries: Vec<_> = entries
                        .iter()
                        .map(|(key, value)| format!("{key}: {value}"))
                        .collect();
                    format!("{{{}}}", entries.join(", "))
                }),
            ]
        })
    }

    fn key() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            "hosts",
            "host",
            "http",
            "tls",
            "tcp",
            "match",
            "route",
            "retries",
            "retryOn",
            "port",
            "number",
            "name",
            "ports",
            "endpoints",
            "address",
            "resolution",
            "trafficPolicy",
            "loadBalancer",
            "localityLbSetting",
            "distribute",
            "to",
            "from",
            "subsets",
            "egress",
            "servers",
            "headers",
            "request",
            "set",
            "exportTo",
            "sniHosts",
            "uri",
            "regex",
            "x",
        ])
        .prop_map(str::to_owned)
    }

    proptest! {
        #[test]
        fn decoding_never_panics(
            kind in prop::sample::select(vec![
                "ServiceEntry", "VirtualService", "DestinationRule", "Sidecar", "Gateway", "EnvoyFilter", "WorkloadEntry",
                "WorkloadGroup", "Service",
            ]),
            spec in value(),
            minor in 24_u32..=32,
        ) {
            let group = if kind == "Service" { "v1" } else { "networking.istio.io/v1" };
            let text = format!("apiVersion: {group}\nkind: {kind}\nspec: {spec}\n");
            let tree = Tree::parse(FileId(0), &text);
            for document in tree.documents(&text) {
                let out = read(document.root, IstioVersion(minor));
                check_patch(document.root, IstioVersion(minor));
                for finding in &out.diagnostics {
                    for span in finding.spans() {
                        prop_assert!(text.get(span.start as usize..span.end as usize).is_some());
                    }
                }
            }
        }
    }
}

#[test]
fn a_kind_whose_schema_needs_no_spec_may_still_need_one() {
    for (kind, refused) in [
        ("DestinationRule", true),
        ("VirtualService", true),
        ("Sidecar", true),
        ("Gateway", true),
        ("ServiceEntry", true),
        ("EnvoyFilter", false),
    ] {
        let version = if kind == "EnvoyFilter" {
            "v1alpha3"
        } else {
            "v1"
        };
        let out = decode(&format!(
            "apiVersion: networking.istio.io/{version}\nkind: {kind}\nmetadata: {{name: a}}\n"
        ));
        assert_eq!(out.resources[0].refused, refused, "{kind}");
        assert!(out.diagnostics.len() <= 1, "{:?}", out.diagnostics);
    }
}

#[test]
fn mesh_configurations_are_read_leniently() {
    let text = "connectTimeout: 2h\noutboundTraficPolicy: {}\ndns_refresh_rate: 5s\nunheardOf: 1\n\
                defaultHttpRetryPolicy: {perTryTimeout: 0s}\naccessLogFile: {}\nh2UpgradePolicy: Upgrade\n";
    let tree = Tree::parse(FileId(0), text);
    let document = tree.documents(text).next().unwrap();
    let read = crate::istio::MeshConfig::read(document.root).unwrap();
    let found: Vec<_> = read.diagnostics.iter().map(|it| &*it.message).collect();
    assert_eq!(
        found,
        [
            "a MeshConfig has no field `outboundTraficPolicy`",
            "`Upgrade` is no value of `h2UpgradePolicy`",
            "the mesh's `connectTimeout` is more than an hour",
        ]
    );
    assert!(read.diagnostics.iter().all(|it| it.refused_by.is_none()));
}
