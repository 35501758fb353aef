//! A first try that may use up the whole time of a route before it has a connection.

use std::net::IpAddr;

use super::{Basis, Check, Context, Findings, Meta, RuleDef, Traffic};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::{ClusterFacts, ClusterType};
use crate::egress::forecast::{RESCUES_CONNECT_FAILURE, span_of_time};
use crate::istio::value::Duration;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "connect-timeout-not-below-timeout",
        summary: "`connectTimeout` is not below the `timeout` of the route: no retry follows a try to a silent address",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/connect-timeout-not-below-timeout.md"),
    },
    build: super::plain::<ConnectTimeoutNotBelowTimeout>,
};

#[derive(Debug, Default)]
pub(super) struct ConnectTimeoutNotBelowTimeout;

impl Check for ConnectTimeoutNotBelowTimeout {
    fn check_traffic(&self, _: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let (Some(route), cluster) = (&reached.hop.result.route, reached.cluster) else {
                continue;
            };
            let (whole, connect) = (&route.timeout_ms, &cluster.connect_timeout_ms);
            let Some(policy) = route.retry.value.as_ref() else {
                continue;
            };
            let rescues = policy.attempts.value > 0
                && policy.per_try_timeout_ms.is_none()
                && policy.retries_any_of(&RESCUES_CONNECT_FAILURE);
            let too_late = whole.value > 0 && connect.value >= whole.value;
            if !rescues || !too_late || !may_go_elsewhere(cluster) {
                continue;
            }
            let own = connect.spans().first();
            // Nearly everybody leaves connections and retries to their defaults, and asks for nothing. With outlier
            // detection the default is what `connect-timeout-default` tells.
            let asked = policy.attempts.spans().first().and(whole.spans().first());
            let asked = asked.filter(|_| cluster.outlier.is_none());
            let Some(&place) = own.or(asked) else {
                continue;
            };
            if !out.is_first(place) {
                continue;
            }
            let message = format!(
                "no retry follows a try to a silent address of `{}`: it hangs {}{}, and the whole request may take {}",
                reached.destination(),
                span_of_time(connect.value),
                if own.is_some() { "" } else { " by default" },
                span_of_time(whole.value),
            );
            let fitting = whole.value / i64::from(policy.attempts.value.saturating_add(1));
            let basis = Basis::assuming("another address of the host would answer");
            out.add(basis, place, message, |finding| {
                let lines = whole.spans().iter().filter(|line| **line != place);
                lines
                    .fold(finding, |finding, line| {
                        finding.because(*line, "the limit for all tries together")
                    })
                    .because(reached.host_line(), "the external host")
                    .help(format!(
                        "set `connectionPool.tcp.connectTimeout: {}` or less for {} retries",
                        Duration::from_millis(fitting),
                        policy.attempts.value,
                    ))
            });
        }
    }
}

/// Whether a retry may come to another address. With logical DNS that is tried within one connect.
fn may_go_elsewhere(cluster: &ClusterFacts) -> bool {
    let resolved = cluster.cluster_type.value;
    let listed = matches!(
        resolved,
        ClusterType::StrictDns | ClusterType::Eds | ClusterType::Static
    );
    let is_one = match &cluster.endpoints[..] {
        [one] => one.address.parse::<IpAddr>().is_ok(),
        _ => false,
    };
    listed && !is_one
}
