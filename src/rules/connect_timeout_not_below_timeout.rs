//! A connect that may take all the time of its request.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::traffic::{Reached, Traffic};
use super::{Basis, Check, Context, Findings, Meta, RuleDef, written};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::ClusterType;
use crate::egress::forecast::{RESCUES_CONNECT_FAILURE, span_of_time};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "connect-timeout-not-below-timeout",
        summary: "`connectTimeout` is not below the route's `timeout`: a silent address uses up the whole time, and no retry follows",
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
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let Some(route) = &reached.hop.result.route else {
                continue;
            };
            let connect = &reached.cluster.connect_timeout_ms;
            let (Some(&place), whole) = (connect.spans().first(), route.timeout_ms.value) else {
                continue;
            };
            // That of the mesh is for no host in particular.
            let of_mesh = cx.model.mesh.config.connect_timeout.as_ref();
            if of_mesh.is_some_and(|it| it.span == place) {
                continue;
            }
            let retry = route
                .retry
                .value
                .as_ref()
                .filter(|it| it.attempts.value > 0);
            let rescues = retry.is_some_and(|it| it.retries_any_of(&RESCUES_CONNECT_FAILURE));
            // It ends the connect before, or is itself what leaves no time, which is said there.
            let has_limit_for_each = retry.is_some_and(|it| it.per_try_timeout_ms.is_some());
            if whole <= 0 || connect.value < whole || !rescues || has_limit_for_each {
                continue;
            }
            let Some(basis) = others_to_try(cx, &reached) else {
                continue;
            };
            if !out.is_first(place) {
                continue;
            }
            let message = format!(
                "`connectTimeout: {}` leaves no time for a retry where an address of `{}` is silent: a request of this \
                 route may take {}",
                written::time(cx, connect),
                reached.destination(),
                span_of_time(whole)
            );
            out.add(basis, place, message, |finding| {
                let lines = route.timeout_ms.spans().iter();
                lines
                    .fold(finding, |finding, line| finding.because(*line, "the limit for all tries together"))
                    .because(reached.host_line(), "the external host")
                    .help("set `connectTimeout` to a second or two, so that a retry can reach another address in time")
            });
        }
    }
}

/// What tells that a retry would reach another address; `None` where it would not, or Envoy itself goes on to the next one.
fn others_to_try(cx: &Context<'_>, reached: &Reached<'_>) -> Option<Basis> {
    let by_name = match reached.cluster.cluster_type.value {
        ClusterType::StrictDns => true,
        ClusterType::Eds | ClusterType::Static => false,
        // Of the addresses of a name Envoy tries the next after 300 ms (measured, E7), or it goes where the client chose.
        ClusterType::LogicalDns | ClusterType::OriginalDst | ClusterType::DynamicForwardProxy => {
            return None;
        }
    };
    let endpoints = reached.cluster.endpoints.iter();
    let addresses: BTreeSet<&str> = endpoints.map(|it| it.address.value.as_str()).collect();
    if addresses.len() > 1 {
        return Some(Basis::Proven);
    }
    let is_ip = addresses.iter().any(|it| it.parse::<IpAddr>().is_ok());
    if !by_name || is_ip {
        return None;
    }
    match reached.facts(cx).addresses.map(|it| it.value) {
        Some(count) => (count > 1).then_some(Basis::Proven),
        None => Some(Basis::assuming("its name has several addresses")),
    }
}
