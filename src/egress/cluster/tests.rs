//! What the recorded answers do not cover: merging, visibility, workloads, versions and unknown namespaces.

use crate::egress::client::{Client, ProxyKind};
use crate::egress::facts::{ClusterFacts, ClusterType, TlsFacts};
use crate::egress::model::Model;
use crate::egress::settings::Settings;
use crate::istio::{self, IstioVersion, MeshConfig, Resource};
use crate::source::{FileId, Span};
use crate::yaml::Tree;

/// The files of a world, and what it is asked.
struct Files {
    text: String,
    mesh: &'static str,
    version: u32,
}

fn files(text: &str) -> Files {
    Files {
        text: text.to_owned(),
        mesh: "{}",
        version: 30,
    }
}

impl Files {
    fn ask(&self, client: &Client, cluster: &str) -> Option<ClusterFacts> {
        let version = IstioVersion(self.version);
        let tree = Tree::parse(FileId(0), &self.text);
        let documents = tree.documents(&self.text);
        let resources: Vec<Resource> = documents
            .flat_map(|document| istio::read(document.root, version).resources)
            .collect();
        assert!(!resources.is_empty());
        let tree = Tree::parse(FileId(1), self.mesh);
        let mesh = tree.documents(self.mesh).next();
        let mesh = mesh
            .and_then(|mesh| MeshConfig::read(mesh.root))
            .expect("a mesh configuration")
            .config;
        let resources: Vec<&Resource> = resources.iter().collect();
        let settings = Settings {
            version,
            ..Settings::default()
        };
        Model::of_resources(&resources, &mesh, &settings).cluster(client, cluster)
    }

    fn get(&self, client: &Client, cluster: &str) -> ClusterFacts {
        self.ask(client, cluster).expect("a cluster")
    }

    fn at(&self, span: Span) -> &str {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }
}

fn sidecar(namespace: &str) -> Client {
    Client::sidecar(Some(namespace))
}

fn labelled(namespace: &str, key: &str, value: &str) -> Client {
    let mut client = sidecar(namespace);
    client.labels.insert(key.to_owned(), value.to_owned());
    client
}

fn gateway(namespace: &str) -> Client {
    Client {
        proxy: ProxyKind::Gateway,
        ..sidecar(namespace)
    }
}

/// A ServiceEntry `api.example` of namespace `app`, with ports 80 and 443.
const ENTRY: &str = "
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: api, namespace: app}
spec:
  hosts: [api.example]
  ports:
  - {number: 80, name: http, protocol: HTTP, targetPort: 443}
  - {number: 443, name: tls, protocol: TLS}
  resolution: DNS
---
";

fn rule(name: &str, namespace: &str, spec: &str) -> String {
    format!(
        "apiVersion: networking.istio.io/v1\nkind: DestinationRule\n\
         metadata: {{name: {name}, namespace: {namespace}}}\nspec:\n{spec}\n---\n"
    )
}

fn connections(facts: &ClusterFacts) -> Option<u32> {
    let limit = facts.circuit_breakers.as_ref()?.max_connections.as_ref();
    limit.map(|limit| limit.value)
}

fn limit(count: u32) -> String {
    format!("  trafficPolicy: {{connectionPool: {{tcp: {{maxConnections: {count}}}}}}}")
}

const HTTP: &str = "outbound|80||api.example";
const TLS: &str = "outbound|443||api.example";

#[test]
fn the_first_policy_of_merged_rules_decides() {
    let host = "  host: api.example\n";
    let text = ENTRY.to_owned()
        + &rule("b", "app", &format!("{host}  subsets: [{{name: v1}}]"))
        + &rule("a", "app", &format!("{host}{}", limit(2)))
        + &rule("c", "app", &format!("{host}{}", limit(3)));
    let files = files(&text);
    let facts = files.get(&sidecar("app"), TLS);
    assert_eq!(connections(&facts), Some(2));
    assert_eq!(
        facts.destination_rule.expect("a rule").value,
        "app/b",
        "the oldest names it"
    );
    let [lost] = facts.overridden.as_slice() else {
        panic!("{:?}", facts.overridden)
    };
    assert_eq!(
        (files.at(lost.span), lost.block),
        ("trafficPolicy", "trafficPolicy")
    );
    assert!(lost.because < lost.span);
}

#[test]
fn rules_of_different_visibility_are_not_merged_and_the_last_holds() {
    let text = ENTRY.to_owned()
        + &rule("a", "app", &format!("  host: api.example\n{}", limit(1)))
        + &rule(
            "b",
            "app",
            &format!("  host: api.example\n  exportTo: ['*']\n{}", limit(2)),
        );
    let files = files(&text);
    let facts = files.get(&sidecar("other"), TLS);
    assert_eq!(connections(&facts), Some(2));
    let [lost] = facts.overridden.as_slice() else {
        panic!("{:?}", facts.overridden)
    };
    assert_eq!(
        (files.at(lost.span), lost.block),
        ("api.example", "DestinationRule")
    );
}

#[test]
fn a_rule_that_is_exported_further_joins_the_narrower_one() {
    let host = "  host: api.example\n";
    let text = ENTRY.to_owned()
        + &rule(
            "a",
            "app",
            &format!("{host}  exportTo: [one]\n  subsets: [{{name: v1}}]"),
        )
        + &rule(
            "b",
            "app",
            &format!("{host}  exportTo: [one, two]\n{}", limit(2)),
        );
    let files = files(&text);
    assert_eq!(connections(&files.get(&sidecar("one"), TLS)), Some(2));
    // It went under in the narrower one, which the second does not see.
    assert_eq!(files.get(&sidecar("two"), TLS).destination_rule, None);
}

#[test]
fn a_selector_takes_the_workloads_it_selects() {
    let host = "  host: api.example\n";
    let selector = "  workloadSelector: {matchLabels: {app: web}}\n";
    let text = ENTRY.to_owned()
        + &rule("a", "app", &format!("{host}{}", limit(1)))
        + &rule("b", "app", &format!("{host}{selector}{}", limit(2)));
    let files = files(&text);
    let of = |client: &Client| connections(&files.get(client, TLS));
    assert_eq!(of(&labelled("app", "app", "web")), Some(2));
    assert_eq!(of(&sidecar("app")), Some(1));
    assert_eq!(of(&labelled("other", "app", "web")), Some(1));
}

#[test]
fn a_private_rule_goes_under_in_one_with_a_selector() {
    let host = "  host: api.example\n";
    let selector = "  workloadSelector: {matchLabels: {app: web}}\n";
    let text = ENTRY.to_owned()
        + &rule("a", "app", &format!("{host}  exportTo: [.]\n{}", limit(1)))
        + &rule(
            "b",
            "app",
            &format!("{host}{selector}  subsets: [{{name: v1}}]"),
        );
    let files = files(&text);
    let selected = files.get(&labelled("app", "app", "web"), TLS);
    assert_eq!(connections(&selected), Some(1));
    let others = files.get(&sidecar("app"), TLS);
    assert_eq!(others.destination_rule, None);
}

#[test]
fn the_clients_namespace_comes_first_even_with_a_wildcard() {
    let text = ENTRY.to_owned()
        + &rule(
            "exact",
            "app",
            &format!("  host: api.example\n{}", limit(1)),
        )
        + &rule("wide", "client", &format!("  host: '*'\n{}", limit(2)))
        + &rule(
            "root",
            "istio-system",
            &format!("  host: '*.example'\n{}", limit(3)),
        );
    let files = files(&text);
    let facts = files.get(&sidecar("client"), TLS);
    assert_eq!(connections(&facts), Some(2));
    let lost: Vec<_> = facts
        .overridden
        .iter()
        .map(|lost| files.at(lost.span))
        .collect();
    assert_eq!(lost, ["api.example", "'*.example'"]);
    assert_eq!(connections(&files.get(&sidecar("other"), TLS)), Some(1));
    // Rules of the root namespace are for others first.
    assert_eq!(
        connections(&files.get(&sidecar("istio-system"), TLS)),
        Some(1)
    );
}

#[test]
fn settings_for_a_port_replace_the_whole_policy() {
    let policy = "  host: api.example
  trafficPolicy:
    outlierDetection: {consecutive5xxErrors: 3}
    connectionPool: {tcp: {maxConnections: 7}}
    portLevelSettings:
    - port: {number: 443}
      connectionPool: {tcp: {connectTimeout: 1s}}
    - port: {number: 443}
      outlierDetection: {}";
    let files = files(&(ENTRY.to_owned() + &rule("a", "app", policy)));
    let tls = files.get(&sidecar("app"), TLS);
    assert_eq!((tls.outlier.value.clone(), connections(&tls)), (None, None));
    assert_eq!(tls.connect_timeout_ms.value, 1000);
    let because: Vec<_> = tls
        .outlier
        .spans()
        .iter()
        .map(|span| files.at(*span))
        .collect();
    assert_eq!(because, ["443", "outlierDetection"]);
    let lost: Vec<_> = tls.overridden.iter().map(|lost| lost.block).collect();
    assert_eq!(lost, ["connectionPool", "outlierDetection"]);
    let http = files.get(&sidecar("app"), HTTP);
    assert!(http.outlier.is_some());
    assert_eq!(connections(&http), Some(7));
    assert!(http.overridden.is_empty());
}

#[test]
fn a_subset_replaces_blocks_and_with_settings_for_the_port_all_of_them() {
    let policy = "  host: api.example
  trafficPolicy:
    outlierDetection: {consecutive5xxErrors: 3}
    connectionPool: {tcp: {maxConnections: 7}}
  subsets:
  - name: a
    trafficPolicy: {connectionPool: {tcp: {connectTimeout: 1s}}}
  - name: b
    trafficPolicy: {portLevelSettings: [{port: {number: 443}, tls: {mode: DISABLE}}]}
  - {name: none, labels: {version: v1}}";
    let files = files(&(ENTRY.to_owned() + &rule("r", "app", policy)));
    let of = |subset: &str| {
        files.ask(
            &sidecar("app"),
            &format!("outbound|443|{subset}|api.example"),
        )
    };
    let a = of("a").expect("a cluster");
    assert!(a.outlier.is_some());
    assert_eq!((connections(&a), a.connect_timeout_ms.value), (None, 1000));
    let b = of("b").expect("a cluster");
    assert_eq!((b.outlier.value.clone(), connections(&b)), (None, None));
    assert_eq!(
        of("none"),
        None,
        "a host that stands for itself has no labels"
    );
    assert_eq!(of("unknown"), None);
}

#[test]
fn what_a_resolution_means_to_sidecars_and_gateways() {
    let entry = |resolution: &str| ENTRY.replace("DNS", resolution);
    let of = |resolution: &str, client: &Client| {
        let facts = files(&entry(resolution)).ask(client, TLS);
        facts.map(|facts| facts.cluster_type.value)
    };
    assert_eq!(of("NONE", &sidecar("app")), Some(ClusterType::OriginalDst));
    assert_eq!(of("NONE", &gateway("app")), Some(ClusterType::Eds));
    assert_eq!(of("STATIC", &sidecar("app")), Some(ClusterType::Eds));
    assert_eq!(of("DNS", &gateway("app")), Some(ClusterType::StrictDns));
    assert_eq!(
        of("DNS_ROUND_ROBIN", &sidecar("app")),
        Some(ClusterType::LogicalDns)
    );
    let wildcard = entry("DYNAMIC_DNS").replace("api.example", "'*.example'");
    let mut wildcard = files(&wildcard);
    let facts = wildcard.get(&sidecar("app"), "outbound|443||*.example");
    assert_eq!(facts.cluster_type.value, ClusterType::DynamicForwardProxy);
    assert_eq!(facts.lb_policy.value, "CLUSTER_PROVIDED");
    wildcard.version = 29;
    let before = wildcard.ask(&sidecar("app"), "outbound|443||*.example");
    assert_eq!(before, None);
}

#[test]
fn a_race_of_connections_makes_dns_logical_from_1_30_on() {
    let annotated = ENTRY.replace(
        "namespace: app}",
        "namespace: app, annotations: {istio.io/connect-strategy: RACE_FIRST_TCP_CONNECT}}",
    );
    let mut files = files(&annotated);
    let facts = files.get(&sidecar("app"), TLS);
    assert_eq!(facts.cluster_type.value, ClusterType::LogicalDns);
    assert_eq!(facts.dns.expect("DNS").family.value, "ALL");
    files.version = 29;
    let facts = files.get(&sidecar("app"), TLS);
    assert_eq!(facts.cluster_type.value, ClusterType::StrictDns);
}

#[test]
fn workload_entries_stand_behind_the_entries_that_select_them() {
    let selecting = |resolution: &str| {
        ENTRY.replace(
            "resolution: DNS",
            &format!("resolution: {resolution}\n  workloadSelector: {{labels: {{app: api}}}}"),
        ) + "apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: ip, namespace: app, labels: {app: api}}
spec: {address: 192.0.2.1, ports: {tls: 8443}, serviceAccount: api}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: name, namespace: app}
spec: {address: vm.example, labels: {app: api}}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: elsewhere, namespace: other, labels: {app: api}}
spec: {address: 192.0.2.3}
"
    };
    let of = |resolution: &str, cluster| {
        let facts = files(&selecting(resolution)).get(&sidecar("app"), cluster);
        let endpoints = facts.endpoints.iter();
        endpoints
            .map(|endpoint| format!("{}:{}", endpoint.address.value, endpoint.port.value))
            .collect::<Vec<_>>()
    };
    assert_eq!(of("STATIC", TLS), ["192.0.2.1:8443"]);
    assert_eq!(of("STATIC", HTTP), ["192.0.2.1:443"]);
    assert_eq!(of("DNS", HTTP), ["192.0.2.1:443", "vm.example:443"]);
}

#[test]
fn endpoints_prefer_the_clients_zone_where_the_service_asks_for_it() {
    let text = ENTRY
        .replace("namespace: app}", "namespace: app, annotations: {networking.istio.io/traffic-distribution: PreferClose}}")
        .replace("resolution: DNS", "resolution: STATIC\n  endpoints:\n  - {address: 192.0.2.1, locality: eu/a}\n  - {address: 192.0.2.2, locality: eu/b}");
    let mut client = labelled("app", "topology.kubernetes.io/region", "eu");
    client
        .labels
        .insert("topology.kubernetes.io/zone".to_owned(), "b".to_owned());
    let facts = files(&text).get(&client, TLS);
    let priorities: Vec<_> = facts
        .endpoints
        .iter()
        .map(|e| (e.address.value.as_str(), e.priority))
        .collect();
    assert_eq!(priorities, [("192.0.2.1", 1), ("192.0.2.2", 0)]);
    assert_eq!(facts.panic_threshold_percent.value, Some(0));
    assert!(facts.locality_weighted);
}

#[test]
fn the_mesh_fills_in_what_rules_leave_out_from_1_31_on() {
    let policy = rule(
        "a",
        "app",
        "  host: api.example\n  trafficPolicy: {connectionPool: {tcp: {maxConnections: 5}}}",
    );
    let mut files = files(&(ENTRY.to_owned() + &policy));
    files.mesh = "{defaultTrafficPolicy: {connectionPool: {tcp: {maxConnections: 1}}, outlierDetection: {}}}";
    let facts = files.get(&sidecar("app"), TLS);
    assert_eq!(
        (connections(&facts), facts.outlier.is_some()),
        (Some(5), false)
    );
    assert_eq!(facts.panic_threshold_percent.value, None);
    files.version = 31;
    let facts = files.get(&sidecar("app"), TLS);
    assert_eq!(
        (connections(&facts), facts.outlier.is_some()),
        (Some(5), true)
    );
    assert_eq!(facts.panic_threshold_percent.value, Some(0));
}

#[test]
fn mutual_tls_is_on_offer_inside_the_mesh_only() {
    let inside = ENTRY.replace("  hosts:", "  location: MESH_INTERNAL\n  hosts:");
    let tls = files(&inside).get(&sidecar("app"), HTTP).tls.value;
    let Some(TlsFacts::Auto { sni, .. }) = tls else {
        panic!("{tls:?}")
    };
    assert_eq!(sni.as_deref(), Some("outbound_.80_._.api.example"));
    assert_eq!(files(ENTRY).get(&sidecar("app"), HTTP).tls.value, None);
}

#[test]
fn a_credential_reaches_gateways_and_selected_sidecars() {
    let spec =
        "  host: api.example\n  trafficPolicy: {tls: {mode: MUTUAL, credentialName: partner}}";
    let selector = "\n  workloadSelector: {matchLabels: {app: web}}";
    let plain = files(&(ENTRY.to_owned() + &rule("a", "app", spec)));
    let withheld = plain.get(&sidecar("app"), HTTP).tls;
    assert_eq!(
        (withheld.value.clone(), plain.at(withheld.spans()[0])),
        (None, "partner")
    );
    let of_gateway = plain.get(&gateway("app"), HTTP).tls.value;
    let selective = files(&(ENTRY.to_owned() + &rule("a", "app", &format!("{spec}{selector}"))));
    let of_selected = selective
        .get(&labelled("app", "app", "web"), HTTP)
        .tls
        .value;
    for tls in [of_gateway, of_selected] {
        let Some(TlsFacts::Explicit(tls)) = tls else {
            panic!("{tls:?}")
        };
        assert_eq!(tls.ca.expect("a CA").value, "kubernetes://partner-cacert");
        assert_eq!(
            tls.client_certificate.expect("a certificate").value,
            "kubernetes://partner"
        );
    }
}

#[test]
fn an_unknown_namespace_may_be_any_and_a_known_one_is_preferred() {
    let entry = ENTRY.replace(", namespace: app", "");
    let host = "  host: api.example\n";
    let unknown =
        |count| rule("u", "X", &format!("{host}{}", limit(count))).replace(", namespace: X", "");
    let of = |text: String, client: &Client| connections(&files(&text).get(client, TLS));
    let nowhere = Client::sidecar(None);
    // All of one unknown namespace.
    assert_eq!(of(entry.clone() + &unknown(1), &nowhere), Some(1));
    // A rule of a known namespace may stand beside the entry, or the client.
    let known = rule("k", "team", &format!("{host}{}", limit(2)));
    assert_eq!(of(entry.clone() + &known, &nowhere), Some(2));
    assert_eq!(of(entry.clone() + &known, &sidecar("other")), Some(2));
    assert_eq!(of(entry.clone() + &unknown(1) + &known, &nowhere), Some(1));
    // A rule of an unknown namespace may stand beside a known entry; one that surely does wins.
    assert_eq!(of(ENTRY.to_owned() + &unknown(1), &sidecar("app")), Some(1));
    let beside = rule("k", "app", &format!("{host}{}", limit(3)));
    assert_eq!(
        of(ENTRY.to_owned() + &unknown(1) + &beside, &sidecar("app")),
        Some(3)
    );
}

#[test]
fn a_private_entry_of_an_unknown_namespace_may_be_the_clients() {
    let entry = ENTRY
        .replace(", namespace: app", "")
        .replace("  hosts:", "  exportTo: [.]\n  hosts:");
    assert!(files(&entry).ask(&sidecar("any"), TLS).is_some());
    let entry = ENTRY.replace("  hosts:", "  exportTo: [.]\n  hosts:");
    assert!(files(&entry).ask(&sidecar("other"), TLS).is_none());
    assert!(files(&entry).ask(&Client::sidecar(None), TLS).is_some());
}
