//! A block of a subset that replaces more than it means to.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::{Items, Rare};
use crate::istio::traffic::{
    ClientTls, ClientTlsMode, ConnectionPool, LoadBalancer, OutlierDetection, TrafficPolicy,
};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "subset-drops-policy",
        summary: "a block of a subset replaces that of the host as a whole: settings that only the host has do not reach the subset",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/subset-drops-policy.md"),
    },
    build: super::plain::<SubsetDropsPolicy>,
};

#[derive(Debug, Default)]
pub(super) struct SubsetDropsPolicy;

impl Check for SubsetDropsPolicy {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let (Some(host), Some(top)) = (&rule.host, &rule.traffic_policy) else {
                continue;
            };
            let subsets = rule.subsets.items().iter();
            let mut policies = subsets
                .filter_map(|it| Some((it.name.as_ref()?, it.traffic_policy.as_ref()?)))
                .peekable();
            if policies.peek().is_none() {
                continue;
            }
            let Some(external) = cx.external_under(&host.value, resource.namespace()) else {
                continue;
            };
            for (name, policy) in policies {
                for lost in lost(&top.value, &policy.value) {
                    let message = format!(
                        "subset `{}` of `{}` loses {}: its `{}` replaces that of the host as a whole",
                        name.value,
                        external.host,
                        lost.fields.join(", "),
                        lost.block
                    );
                    out.add(Basis::Proven, lost.place, message, |finding| {
                        finding
                            .because(lost.of_host, "not merged with this")
                            .because(external.line, "the external host")
                            .help("repeat in the subset what is to hold there, too")
                    });
                }
            }
        }
    }
}

/// What one block of a subset takes from it.
struct Lost {
    block: &'static str,
    place: Span,
    of_host: Span,
    /// For messages.
    fields: Vec<String>,
}

/// More fields than that are not told.
const FIELDS: usize = 3;

impl Lost {
    fn new<B>(
        block: &'static str,
        of_host: &Rare<B>,
        of_subset: &Rare<B>,
        fields: fn(&B) -> Vec<(&'static str, bool)>,
    ) -> Option<Self> {
        let (of_host, of_subset) = (of_host.as_ref()?, of_subset.as_ref()?);
        let theirs = fields(&of_host.value).into_iter();
        let both = theirs.zip(fields(&of_subset.value));
        let lost = both.filter(|((_, theirs), (_, ours))| *theirs && !ours);
        let mut names: Vec<String> = lost.map(|((name, _), _)| format!("`{name}`")).collect();
        if names.len() > FIELDS {
            names.truncate(FIELDS);
            names.push("…".to_owned());
        }
        (!names.is_empty()).then_some(Self {
            block,
            place: of_subset.key,
            of_host: of_host.key,
            fields: names,
        })
    }
}

fn lost(top: &TrafficPolicy, subset: &TrafficPolicy) -> impl Iterator<Item = Lost> {
    let pool = Lost::new(
        "connectionPool",
        &top.connection_pool,
        &subset.connection_pool,
        of_pool,
    );
    let outlier = Lost::new(
        "outlierDetection",
        &top.outlier_detection,
        &subset.outlier_detection,
        of_outlier,
    );
    let tls = Lost::new("tls", &top.tls, &subset.tls, of_tls);
    let balancer = Lost::new(
        "loadBalancer",
        &top.load_balancer,
        &subset.load_balancer,
        of_balancer,
    );
    [pool, outlier, tls, balancer].into_iter().flatten()
}

/// The two durations of `tcp` are left out: for TCP and TLS ports the host's hold all the same.
fn of_pool(pool: &ConnectionPool) -> Vec<(&'static str, bool)> {
    let tcp = pool.tcp.as_ref().map(|it| &it.value);
    let http = pool.http.as_ref().map(|it| &it.value);
    vec![
        (
            "maxConnections",
            tcp.is_some_and(|it| it.max_connections.is_some()),
        ),
        (
            "connectTimeout",
            tcp.is_some_and(|it| it.connect_timeout.is_some()),
        ),
        (
            "tcpKeepalive",
            tcp.is_some_and(|it| it.tcp_keepalive.is_some()),
        ),
        (
            "http1MaxPendingRequests",
            http.is_some_and(|it| it.http1_max_pending_requests.is_some()),
        ),
        (
            "http2MaxRequests",
            http.is_some_and(|it| it.http2_max_requests.is_some()),
        ),
        (
            "maxRequestsPerConnection",
            http.is_some_and(|it| it.max_requests_per_connection.is_some()),
        ),
        (
            "maxRetries",
            http.is_some_and(|it| it.max_retries.is_some()),
        ),
        (
            "http.idleTimeout",
            http.is_some_and(|it| it.idle_timeout.is_some()),
        ),
        (
            "h2UpgradePolicy",
            http.is_some_and(|it| it.h2_upgrade_policy.is_some()),
        ),
        (
            "useClientProtocol",
            http.is_some_and(|it| it.use_client_protocol.is_some()),
        ),
    ]
}

/// What becomes of the ejection percentage, `ejection-budget-zero` tells where it hurts.
fn of_outlier(outlier: &OutlierDetection) -> Vec<(&'static str, bool)> {
    vec![
        (
            "consecutive5xxErrors",
            outlier.consecutive_5xx_errors.is_some(),
        ),
        (
            "consecutiveGatewayErrors",
            outlier.consecutive_gateway_errors.is_some(),
        ),
        (
            "splitExternalLocalOriginErrors",
            outlier.split_external_local_origin_errors.is_some(),
        ),
        (
            "consecutiveLocalOriginFailures",
            outlier.consecutive_local_origin_failures.is_some(),
        ),
        ("interval", outlier.interval.is_some()),
        ("baseEjectionTime", outlier.base_ejection_time.is_some()),
        ("minHealthPercent", outlier.min_health_percent.is_some()),
    ]
}

/// A subset that switches TLS off, or shows Istio's certificate, needs none of it.
fn of_tls(tls: &ClientTls) -> Vec<(&'static str, bool)> {
    let mode = tls.mode.as_ref().map(|it| it.value).unwrap_or_default();
    let is_own = matches!(mode, ClientTlsMode::Disable | ClientTlsMode::IstioMutual);
    vec![
        ("sni", is_own || tls.sni.is_some()),
        ("subjectAltNames", is_own || tls.subject_alt_names.is_some()),
        (
            "caCertificates",
            is_own || tls.ca_certificates.is_some() || tls.credential_name.is_some(),
        ),
    ]
}

fn of_balancer(balancer: &LoadBalancer) -> Vec<(&'static str, bool)> {
    vec![("localityLbSetting", balancer.locality_lb_setting.is_some())]
}
