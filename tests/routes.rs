//! Where calls go: the choices between listeners, filter chains, virtual hosts, rules and gateways, one by one.

#![allow(clippy::unwrap_used)]

use egress_lint::calls;
use egress_lint::egress::facts::{CallResult, Outcome};
use egress_lint::egress::model::Model;
use egress_lint::egress::settings::Settings;
use egress_lint::istio::{self, IstioVersion, MeshConfig, Resource};
use egress_lint::source::FileId;
use egress_lint::yaml::Tree;

/// What becomes of calls in a world of these manifests, one line each.
fn answers(manifests: &str, calls: &str) -> Vec<String> {
    answers_in(IstioVersion::default(), manifests, calls)
}

fn answers_in(version: IstioVersion, manifests: &str, calls: &str) -> Vec<String> {
    let resources = resources(version, manifests);
    let all: Vec<&Resource> = resources.iter().collect();
    let mesh = MeshConfig::default();
    let settings = Settings {
        version,
        ..Settings::default()
    };
    let model = Model::of_resources(&all, &mesh, &settings);
    let text = format!("calls:\n{calls}");
    let tree = Tree::parse(FileId(1), &text);
    let (calls, mistakes) = calls::read(tree.documents(&text).next().unwrap().root);
    assert_eq!(mistakes, []);
    calls.iter().map(|call| show(&model.call(call))).collect()
}

fn resources(version: IstioVersion, manifests: &str) -> Vec<Resource> {
    let tree = Tree::parse(FileId(0), manifests);
    assert_eq!(tree.errors(), []);
    let decoded = tree
        .documents(manifests)
        .map(|it| istio::read(it.root, version));
    let resources: Vec<_> = decoded.flat_map(|it| it.resources).collect();
    for resource in &resources {
        assert!(!resource.refused, "{} is refused", resource.name());
    }
    resources
}

fn show(result: &CallResult) -> String {
    let clusters = result.clusters.iter().map(|cluster| {
        let name = cluster.name.value.trim_start_matches("outbound|");
        match result.clusters.len() {
            1 => name.to_owned(),
            _ => format!("{name}={}", cluster.weight.value),
        }
    });
    let clusters: Vec<_> = clusters.collect();
    let handler = result.handler.map_or("none", |handler| match handler {
        egress_lint::egress::facts::Handler::Http => "http",
        egress_lint::egress::facts::Handler::Tcp => "tcp",
    });
    match result.outcome.value {
        Outcome::Error => format!("{handler} {:?}", result.error.unwrap()),
        Outcome::Forwarded | Outcome::Passthrough | Outcome::Blackhole => {
            format!("{handler} {}", clusters.join(" "))
        }
        other => format!("{handler} {other:?}"),
    }
}

fn entry(name: &str, host: &str, ports: &str, more: &str) -> String {
    format!(
        "---\napiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {{name: {name}, namespace: app}}\n\
         spec:\n  hosts: [{host}]\n  resolution: DNS\n  ports: [{ports}]\n{more}"
    )
}

fn virtual_service(name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: {name}, namespace: app}}\n\
         spec: {spec}\n"
    )
}

const HTTP: &str = "{number: 8080, name: http, protocol: HTTP}";

fn http(host: &str, path: &str) -> String {
    format!(
        "- {{client: {{namespace: app}}, host: {host}, port: 8080, protocol: http, path: {path}}}\n"
    )
}

#[test]
fn rules_are_tried_in_order_and_regular_expressions_take_the_whole_path() {
    let world = entry("a", "a.example", HTTP, "")
        + &virtual_service(
            "a",
            "{hosts: [a.example], http: [
               {match: [{uri: {regex: '/v[0-9]'}}], route: [{destination: {host: a.example, subset: regex}}]},
               {match: [{uri: {prefix: /V1}, ignoreUriCase: true}], route: [{destination: {host: a.example, subset: prefix}}]},
               {match: [{uri: {exact: /x}, port: 80}], route: [{destination: {host: a.example, subset: port}}]},
               {match: [{uri: {exact: /x}, sourceLabels: {app: web}}], route: [{destination: {host: a.example, subset: label}}]},
               {match: [{uri: {exact: /x}}], route: [{destination: {host: a.example, subset: exact}}]}]}",
        );
    let calls = http("a.example", "/v1")
        + &http("a.example", "/v1/x")
        + &http("a.example", "/x")
        + &http("a.example", "/y");
    assert_eq!(
        answers(&world, &calls),
        [
            "http 8080|regex|a.example",
            "http 8080|prefix|a.example",
            "http 8080|exact|a.example",
            "http NoRoute",
        ]
    );
    let web = "- {client: {namespace: app, labels: {app: web}}, host: a.example, port: 8080, protocol: http, path: '/x?q'}\n";
    assert_eq!(answers(&world, web), ["http 8080|label|a.example"]);
}

#[test]
fn the_first_virtual_service_of_a_host_takes_it_whole() {
    let world = entry("a", "a.example", HTTP, "")
        + &virtual_service(
            "z",
            "{hosts: [a.example], http: [{match: [{uri: {prefix: /one}}], route: [{destination: {host: a.example, subset: one}}]}]}",
        )
        + &virtual_service(
            "a",
            "{hosts: [a.example, other.example], http: [{route: [{destination: {host: a.example, subset: two}}]}]}",
        );
    let calls =
        http("a.example", "/one") + &http("a.example", "/two") + &http("other.example", "/");
    // The host that only the second has is still its own, on a port of a service that it is for.
    assert_eq!(
        answers(&world, &calls),
        [
            "http 8080|one|a.example",
            "http NoRoute",
            "http 8080|two|a.example"
        ]
    );
}

#[test]
fn the_most_specific_host_of_a_virtual_service_counts() {
    let world = entry("a", "a.b.example", HTTP, "")
        + &virtual_service(
            "wide",
            "{hosts: ['*.example'], http: [{route: [{destination: {host: a.b.example, subset: wide}}]}]}",
        )
        + &virtual_service(
            "near",
            "{hosts: ['*.b.example'], http: [{route: [{destination: {host: a.b.example, subset: near}}]}]}",
        );
    assert_eq!(
        answers(&world, &http("a.b.example", "/")),
        ["http 8080|near|a.b.example"]
    );
}

#[test]
fn a_virtual_service_without_a_service_acts_on_port_80_only() {
    let world = virtual_service(
        "v",
        "{hosts: [x.example], http: [{route: [{destination: {host: x.example}}]}]}",
    ) + &entry(
        "a",
        "a.example",
        "{number: 80, name: http, protocol: HTTP}, {number: 8080, name: http2, protocol: HTTP}",
        "",
    );
    let at = |port| {
        format!("- {{client: {{namespace: app}}, host: x.example, port: {port}, protocol: http}}\n")
    };
    assert_eq!(
        answers(&world, &(at(80) + &at(8080))),
        ["http 80||x.example", "http PassthroughCluster"]
    );
}

#[test]
fn a_delegate_is_narrowed_by_the_rule_that_delegates() {
    let root = "{hosts: [a.example], http: [
        {match: [{uri: {prefix: /api}}], delegate: {name: parts}, timeout: 7s},
        {match: [{uri: {prefix: /gone}}], delegate: {name: missing}},
        {match: [{uri: {prefix: /hidden}}], delegate: {name: hidden, namespace: elsewhere}},
        {route: [{destination: {host: a.example, subset: rest}}]}]}";
    let world = entry("a", "a.example", HTTP, "")
        + &virtual_service("a", root)
        + &virtual_service("parts", "{http: [
            {match: [{uri: {prefix: /other}}], route: [{destination: {host: a.example, subset: other}}]},
            {match: [{uri: {prefix: /api/v1}}], route: [{destination: {host: a.example, subset: v1}}]},
            {route: [{destination: {host: a.example, subset: v0}}]}]}")
        + "---\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: hidden, namespace: elsewhere}\n\
           spec: {exportTo: ['.'], http: [{route: [{destination: {host: a.example, subset: hidden}}]}]}\n";
    let calls: String = ["/api/v1/x", "/api/z", "/other", "/gone", "/hidden"]
        .map(|path| http("a.example", path))
        .concat();
    assert_eq!(
        answers(&world, &calls),
        [
            "http 8080|v1|a.example",
            "http 8080|v0|a.example",
            "http 8080|rest|a.example",
            "http 8080|rest|a.example",
            "http 8080|rest|a.example",
        ]
    );
}

#[test]
fn a_delegate_that_delegates_to_its_root_is_no_circle() {
    let manifests = entry("a", "a.example", HTTP, "")
        + &virtual_service("a", "{hosts: [a.example], http: [{delegate: {name: a}}]}")
        + &virtual_service("b", "{hosts: [b.example], http: [{delegate: {name: b}}]}");
    assert_eq!(
        answers(&manifests, &http("a.example", "/")),
        ["http 8080||a.example"]
    );
}

#[test]
fn of_services_that_take_everything_on_a_port_the_first_wins() {
    let port = "{number: 9000, name: tcp, protocol: TCP}";
    let world = entry("a", "a.example", port, "")
        + &entry("b", "b.example", port, "")
        + &entry(
            "c",
            "c.example",
            "{number: 9000, name: http, protocol: HTTP}",
            "",
        )
        + &entry("d", "d.example", port, "  addresses: [192.0.2.1]\n")
        + &entry("e", "e.example", port, "")
            .replace("DNS", "STATIC")
            .replace(
                "ports:",
                "endpoints: [{address: 192.0.2.9}]\n  addresses: [203.0.113.0/24]\n  ports:",
            );
    let at =
        |more| format!("- {{client: {{namespace: app}}, host: c.example, port: 9000, {more}}}\n");
    assert_eq!(
        answers(
            &world,
            &[
                at("protocol: tcp"),
                at("protocol: http"),
                at("protocol: tcp, address: 192.0.2.1"),
                at("protocol: tcp, address: 203.0.113.7"),
                at("protocol: http, address: 203.0.113.7"),
            ]
            .concat()
        ),
        [
            "tcp 9000||a.example",
            "http 9000||c.example",
            "tcp 9000||d.example",
            "tcp 9000||e.example",
            // The range is compared before it is known to be HTTP.
            "tcp 9000||e.example",
        ]
    );
}

/// The API server gives it an address, whether the file does or not.
#[test]
fn a_service_has_a_listener_of_its_own() {
    let service = |name: &str, port: &str| {
        format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: app}}\n\
             spec: {{ports: [{{port: 9000, name: {port}}}]}}\n"
        )
    };
    let world = service("a", "tcp")
        + &service("b", "unknown")
        + &entry(
            "c",
            "c.example",
            "{number: 9000, name: tcp, protocol: TCP}",
            "",
        );
    let call = |host: &str| {
        format!("- {{client: {{namespace: app}}, host: {host}, port: 9000, protocol: tcp}}\n")
    };
    let hosts = [
        "a.app.svc.cluster.local",
        "a",
        "b.app",
        "c.example",
        "d.example",
    ];
    assert_eq!(
        answers(&world, &hosts.map(call).concat()),
        [
            "tcp 9000||a.app.svc.cluster.local",
            "tcp 9000||a.app.svc.cluster.local",
            "tcp 9000||b.app.svc.cluster.local",
            "tcp 9000||c.example",
            // As all that has no listener of its own.
            "tcp 9000||c.example",
        ]
    );
}

#[test]
fn mongo_shares_its_port_with_nothing() {
    let world = entry(
        "a",
        "a.example",
        "{number: 27017, name: mongo, protocol: MONGO}",
        "",
    ) + &entry(
        "b",
        "b.example",
        "{number: 27017, name: http, protocol: HTTP}",
        "",
    );
    let call = "- {client: {namespace: app}, host: b.example, port: 27017, protocol: http}\n";
    assert_eq!(answers(&world, call), ["tcp 27017||a.example"]);
}

#[test]
fn a_tls_condition_inherits_the_subnets_of_the_one_before_it() {
    let rules = "{hosts: ['*.example'], tls: [
        {match: [{sniHosts: [x.example], destinationSubnets: [192.0.2.0/24]}], route: [{destination: {host: a.example, subset: x}}]},
        {match: [{sniHosts: [a.example]}], route: [{destination: {host: a.example, subset: a}}]}]}";
    let world = entry(
        "a",
        "a.example",
        "{number: 443, name: tls, protocol: TLS}",
        "",
    ) + &virtual_service("v", rules);
    let at = |address| {
        format!(
            "- {{client: {{namespace: app}}, host: a.example, port: 443, protocol: tls{address}}}\n"
        )
    };
    assert_eq!(
        answers(&world, &(at("") + &at(", address: 192.0.2.5"))),
        ["tcp PassthroughCluster", "tcp 443|a|a.example"]
    );
}

#[test]
fn weights_of_zero_are_left_out() {
    let route = "[{destination: {host: a.example, subset: none}, weight: 0}, {destination: {host: a.example, subset: all}, weight: 100}]";
    let world = entry("a", "a.example", HTTP, "")
        + &virtual_service(
            "v",
            &format!("{{hosts: [a.example], http: [{{route: {route}}}]}}"),
        );
    assert_eq!(
        answers(&world, &http("a.example", "/")),
        ["http 8080|all|a.example"]
    );
}

#[test]
fn upper_case_in_a_service_entry_leads_to_a_cluster_that_is_not_there() {
    let world = entry("a", "API.example", HTTP, "");
    assert_eq!(
        answers(&world, &http("api.example", "/")),
        ["http 8080||api.example"]
    );
    let all = resources(IstioVersion::default(), &world);
    let all: Vec<&Resource> = all.iter().collect();
    let mesh = MeshConfig::default();
    let model = Model::of_resources(&all, &mesh, &Settings::default());
    let client = egress_lint::egress::client::Client::sidecar(Some("app"));
    assert!(
        model
            .cluster(&client, "outbound|8080||api.example")
            .is_none()
    );
    assert!(
        model
            .cluster(&client, "outbound|8080||API.example")
            .is_some()
    );
}

const SERVICES: &str = "---\napiVersion: v1\nkind: Service\nmetadata: {name: real, namespace: app}\n\
    spec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 8080}]}\n\
    ---\napiVersion: v1\nkind: Service\nmetadata: {name: other, namespace: app}\n\
    spec: {type: ExternalName, externalName: a.example, ports: [{name: http, port: 8080}]}\n\
    ---\napiVersion: v1\nkind: Service\nmetadata: {name: pods, namespace: app}\n\
    spec: {clusterIP: None, ports: [{name: http, port: 8080}]}\n";

#[test]
fn services_have_many_names() {
    let world = entry("a", "a.example", HTTP, "") + SERVICES;
    let hosts = [
        "real",
        "real.app",
        "real.app.svc",
        "real.app.svc.cluster.local.",
        "10.0.0.1",
        "A.EXAMPLE.",
        "other.app",
        "pod-1.pods.app.svc.cluster.local",
        "real.elsewhere",
    ];
    let calls: String = hosts.map(|host| http(host, "/")).concat();
    let real = "http 8080||real.app.svc.cluster.local";
    let pods = "http 8080||pods.app.svc.cluster.local";
    let a = "http 8080||a.example";
    assert_eq!(
        answers(&world, &calls),
        [
            real,
            real,
            real,
            real,
            real,
            a,
            a,
            pods,
            "http PassthroughCluster"
        ]
    );
}

fn sidecar(spec: &str) -> String {
    format!(
        "---\napiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {{name: default, namespace: app}}\nspec: {spec}\n"
    )
}

#[test]
fn a_sidecar_limits_what_is_known_and_says_what_becomes_of_the_rest() {
    let world = entry("a", "a.example", HTTP, "") + &entry("b", "b.example", HTTP, "");
    let calls = http("a.example", "/") + &http("b.example", "/");
    let with = |spec: &str| answers(&(world.clone() + &sidecar(spec)), &calls);
    assert_eq!(
        with("{egress: [{hosts: ['./a.example']}]}"),
        ["http 8080||a.example", "http PassthroughCluster"]
    );
    assert_eq!(
        with("{egress: [{hosts: ['./a.example']}], outboundTrafficPolicy: {}}"),
        ["http 8080||a.example", "http DirectResponse"]
    );
    let proxy = "{egress: [{hosts: ['*/a.example']}], outboundTrafficPolicy: {mode: ALLOW_ANY, egressProxy: {host: out.app.svc.cluster.local, port: {number: 9}}}}";
    assert_eq!(
        with(proxy),
        ["http 8080||a.example", "http 9||out.app.svc.cluster.local"]
    );
}

#[test]
fn a_sidecar_excludes_hosts_from_1_31_on() {
    let world = entry("a", "a.example", HTTP, "") + &entry("b", "b.example", HTTP, "");
    let calls = http("a.example", "/") + &http("b.example", "/");
    let world = world + &sidecar("{egress: [{hosts: ['*/*', '~./b.example']}]}");
    assert_eq!(
        answers_in(IstioVersion(32), &world, &calls),
        ["http 8080||a.example", "http PassthroughCluster"]
    );
}

#[test]
fn an_egress_listener_with_a_port_stands_for_it_alone() {
    let world = entry("a", "a.example", HTTP, "")
        + &entry("b", "b.example", HTTP, "")
        + &sidecar(
            "{egress: [{port: {number: 8080, protocol: HTTP, name: x}, bind: 127.0.0.1, captureMode: NONE, hosts: ['./a.example']}, {hosts: ['./b.example']}]}",
        );
    let at = |host, address| {
        format!(
            "- {{client: {{namespace: app}}, host: {host}, port: 8080, protocol: http, address: {address}}}\n"
        )
    };
    assert_eq!(
        answers(
            &world,
            &[
                at("a.example", "127.0.0.1"),
                at("b.example", "127.0.0.1"),
                at("b.example", "192.0.2.1")
            ]
            .concat()
        ),
        // The virtual hosts of a port are those of its egress listener, whatever the address.
        [
            "http 8080||a.example",
            "http PassthroughCluster",
            "http PassthroughCluster"
        ]
    );
}

#[test]
fn a_destination_of_an_imported_virtual_service_is_known_too() {
    let world = entry("a", "a.example", HTTP, "")
        + &entry(
            "b",
            "b.example",
            "{number: 443, name: tls, protocol: TLS}",
            "",
        )
        + &virtual_service(
            "v",
            "{hosts: [a.example], http: [{route: [{destination: {host: b.example, port: {number: 443}}}]}]}",
        )
        + &sidecar("{egress: [{hosts: ['./a.example']}]}");
    assert_eq!(
        answers(&world, &http("a.example", "/")),
        ["http 443||b.example"]
    );
    let all = resources(IstioVersion::default(), &world);
    let all: Vec<&Resource> = all.iter().collect();
    let mesh = MeshConfig::default();
    let model = Model::of_resources(&all, &mesh, &Settings::default());
    let client = egress_lint::egress::client::Client::sidecar(Some("app"));
    assert!(model.cluster(&client, "outbound|443||b.example").is_some());
}

#[test]
fn an_unknown_namespace_may_be_the_clients() {
    let world = (entry("a", "a.example", HTTP, "  exportTo: ['.']\n")
        + &virtual_service("v", "{hosts: [a.example], exportTo: ['.'], http: [{route: [{destination: {host: a.example, subset: v}}]}]}"))
    .replace(", namespace: app", "");
    let call = "- {client: {namespace: payments}, host: a.example, port: 8080, protocol: http}\n- {host: a.example, port: 8080, protocol: http}\n";
    assert_eq!(
        answers(&world, call),
        ["http 8080|v|a.example", "http 8080|v|a.example"]
    );
}

const ROUTER: &str = "---\napiVersion: v1\nkind: Service\nmetadata: {name: out, namespace: gw}\n\
    spec: {clusterIP: 10.0.0.9, selector: {istio: egress}, ports: [{name: http, port: 80, targetPort: 8080}, {name: https, port: 443, targetPort: 8443}]}\n";

fn gateway(name: &str, servers: &str) -> String {
    format!(
        "---\napiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {{name: {name}, namespace: app}}\n\
         spec: {{selector: {{istio: egress}}, servers: [{servers}]}}\n"
    )
}

/// A call that reaches the router.
fn routed(host: &str, port: u32, protocol: &str) -> String {
    format!(
        "- {{client: {{namespace: gw, labels: {{istio: egress}}, proxy: gateway}}, host: {host}, port: {port}, protocol: {protocol}}}\n"
    )
}

#[test]
fn what_a_server_does_with_tls_decides_over_the_rules_it_uses() {
    let port = |number: u32, name: &str, protocol: &str| {
        format!("port: {{number: {number}, name: {name}, protocol: {protocol}}}")
    };
    let secret = "credentialName: secret";
    let servers = [
        format!("{{{}, hosts: ['*']}}", port(80, "http", "HTTP")),
        format!(
            "{{{}, hosts: [a.example], tls: {{mode: PASSTHROUGH}}}}",
            port(443, "tls", "TLS")
        ),
        format!(
            "{{{}, hosts: [b.example], tls: {{mode: SIMPLE, {secret}}}}}",
            port(443, "https", "HTTPS")
        ),
        format!(
            "{{{}, hosts: [c.example], tls: {{mode: ISTIO_MUTUAL}}}}",
            port(443, "mtls", "TLS")
        ),
        format!("{{{}, hosts: ['*']}}", port(9000, "tcp", "TCP")),
    ]
    .join(", ");
    let rules = "http: [{route: [{destination: {host: s.example, subset: http, port: {number: 1}}}]}],
        tls: [{match: [{sniHosts: [a.example]}], route: [{destination: {host: s.example, subset: tls, port: {number: 1}}}]}],
        tcp: [{match: [{port: 443}], route: [{destination: {host: s.example, subset: mtls, port: {number: 1}}}]},
              {route: [{destination: {host: s.example, subset: tcp, port: {number: 1}}}]}]";
    let world = ROUTER.to_owned()
        + &gateway("g", &servers)
        + &virtual_service(
            "v",
            &format!("{{hosts: [a.example, b.example, c.example], gateways: [g], {rules}}}"),
        );
    let calls = [
        routed("a.example", 8080, "http"),
        routed("a.example", 8443, "tls"),
        routed("b.example", 8443, "tls"),
        routed("c.example", 8443, "tls"),
        routed("c.example", 8443, "tcp"),
        routed("x.example", 8443, "tls"),
        routed("a.example", 9000, "tcp"),
        routed("a.example", 80, "http"),
        routed("x.example", 8080, "http"),
    ];
    assert_eq!(
        answers(&world, &calls.concat()),
        [
            "http 1|http|s.example",
            "tcp 1|tls|s.example",
            "http 1|http|s.example",
            "tcp 1|mtls|s.example",
            "none NoFilterChain",
            "none NoFilterChain",
            "tcp 1|tcp|s.example",
            // The listener stands on the target of the Service's port.
            "none NoListener",
            "http NoVirtualHost",
        ]
    );
}

#[test]
fn at_a_gateway_the_rules_of_all_virtual_services_add_up_and_what_takes_everything_comes_last() {
    let server = "{port: {number: 80, name: http, protocol: HTTP}, hosts: ['app/*.example']}";
    let rule = |path: &str, subset: &str| {
        format!(
            "{{match: [{{uri: {{prefix: {path}}}}}], route: [{{destination: {{host: s.example, subset: {subset}, port: {{number: 1}}}}}}]}}"
        )
    };
    let service = |name: &str, rules: &str| {
        virtual_service(
            name,
            &format!("{{hosts: [a.example], gateways: [app/g], http: [{rules}]}}"),
        )
    };
    let world = ROUTER.to_owned()
        + &gateway("g", server)
        + &service("one", &rule("/", "one"))
        + &service("two", &(rule("/two", "two") + ", " + &rule("/", "late")));
    let call = |path: &str| {
        routed("a.example", 8080, "http").replace("protocol", &format!("path: {path}, protocol"))
    };
    assert_eq!(
        answers(&world, &(call("/two") + &call("/x"))),
        ["http 1|two|s.example", "http 1|one|s.example"]
    );
    // A host of a server is for the VirtualServices of one namespace.
    let elsewhere = world.replace("'app/*.example'", "'other/*.example'");
    assert_eq!(answers(&elsewhere, &call("/x")), ["http NoRoute"]);
}

#[test]
fn servers_that_cannot_share_a_port_are_left_out() {
    let tls = |host: &str| {
        format!(
            "{{port: {{number: 443, name: tls-{host}, protocol: TLS}}, hosts: [{host}.example], tls: {{mode: PASSTHROUGH}}}}"
        )
    };
    let rule = |gateway: &str, subset: &str| {
        virtual_service(
            gateway,
            &format!(
                "{{hosts: [a.example, b.example], gateways: [{gateway}], tls: [{{match: [{{sniHosts: [a.example]}}], route: [{{destination: {{host: s.example, subset: {subset}, port: {{number: 1}}}}}}]}}, {{match: [{{sniHosts: [b.example]}}], route: [{{destination: {{host: s.example, subset: {subset}, port: {{number: 1}}}}}}]}}]}}"
            ),
        )
    };
    let world = ROUTER.to_owned()
        + &gateway("one", &tls("a"))
        + &gateway("two", &format!("{}, {}", tls("a"), tls("b")))
        + &gateway(
            "three",
            "{port: {number: 443, name: http, protocol: HTTP}, hosts: ['*']}",
        )
        + &rule("one", "one")
        + &rule("two", "two");
    let calls = routed("a.example", 8443, "tls") + &routed("b.example", 8443, "tls");
    // Gateway two's server for `a` is left out. That for `b` stays, but the first VirtualService, which only shares
    // `a` with its server, has brought its rule for `b` along.
    assert_eq!(
        answers(&world, &calls),
        ["tcp 1|one|s.example", "tcp 1|one|s.example"]
    );
}

#[test]
fn a_server_can_send_plaintext_back() {
    let world = ROUTER.to_owned()
        + &gateway(
            "g",
            "{port: {number: 80, name: http, protocol: HTTP}, hosts: [a.example], tls: {httpsRedirect: true}}",
        );
    assert_eq!(
        answers(&world, &routed("a.example", 8080, "http")),
        ["http Redirect"]
    );
}
