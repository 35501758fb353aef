//! A limit of 0, which is no limit.

use super::context::policies;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::istio::traffic::ConnectionPool;
use crate::source::Spanned;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "zero-limit-means-none",
        summary: "a limit of 0 in `connectionPool` means that there is no limit",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/zero-limit-means-none.md"),
    },
    build: super::plain::<ZeroLimitMeansNone>,
};

#[derive(Debug, Default)]
pub(super) struct ZeroLimitMeansNone;

impl Check for ZeroLimitMeansNone {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let Some(host) = &rule.host else { continue };
            let Some(external) = cx.external_under(&host.value, resource.namespace()) else {
                continue;
            };
            for policy in policies(rule) {
                let ports = policy.port_level_settings.items().iter();
                let of_ports = ports.filter_map(|port| port.connection_pool.as_ref());
                let pools = policy.connection_pool.iter().chain(of_ports);
                for (name, limit) in pools.flat_map(|pool| limits(&pool.value)) {
                    let message = format!(
                        "`{name}: 0` is no limit: Istio reads 0 as unset and leaves Envoy the largest value, 4294967295"
                    );
                    out.add(Basis::Proven, limit.span, message, |finding| {
                        finding
                            .because(external.line, "the external host")
                            .help(format!(
                                "set `{name}: 1` for the smallest limit there is, or remove it"
                            ))
                    });
                }
            }
        }
    }
}

/// The limits that are 0 and whose 0 somebody could take for "nothing at all".
fn limits(pool: &ConnectionPool) -> Vec<(&'static str, &Spanned<i64>)> {
    let tcp = pool.tcp.as_ref().map(|it| &it.value);
    let http = pool.http.as_ref().map(|it| &it.value);
    let all = [
        (
            "maxConnections",
            tcp.and_then(|it| it.max_connections.as_deref()),
        ),
        (
            "http1MaxPendingRequests",
            http.and_then(|it| it.http1_max_pending_requests.as_deref()),
        ),
        (
            "http2MaxRequests",
            http.and_then(|it| it.http2_max_requests.as_deref()),
        ),
        ("maxRetries", http.and_then(|it| it.max_retries.as_deref())),
    ];
    let set = all.into_iter().filter_map(|(name, it)| Some((name, it?)));
    set.filter(|(_, it)| it.value == 0).collect()
}
