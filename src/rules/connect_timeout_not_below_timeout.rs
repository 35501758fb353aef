//! A connect that may take all the time of its request.

use std::net::IpAddr;

use super::traffic::{Reached, Traffic};
use super::{Basis, Check, Context, Findings, Meta, RuleDef, written};
use crate::diag::{Fixable, Severity};
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
            // A limit for each try ends the connect before.
            let each = retry.and_then(|it| it.per_try_timeout_ms.as_ref());
            let ends_before = each.is_some_and(|it| it.value < connect.value);
            if whole <= 0
                || connect.value < whole
                || !rescues
                || ends_before
                || has_one_address(cx, &reached)
                || !out.is_first(place)
            {
                continue;
            }
            let message = format!(
                "`connectTimeout: {}` leaves no time for a retry where an address of `{}` is silent: the whole request may \
                 take {}",
                written::time(cx, connect),
                reached.destination(),
                span_of_time(whole)
            );
            out.add(Basis::Proven, place, message, |finding| {
                let lines = route.timeout_ms.spans().iter();
                lines
                    .fold(finding, |finding, line| finding.because(*line, "the limit for all tries together"))
                    .because(reached.host_line(), "the external host")
                    .help("set `connectTimeout` to a second or two, so that a retry can reach another address in time")
            });
        }
    }
}

/// Then a retry would reach the same one.
fn has_one_address(cx: &Context<'_>, reached: &Reached<'_>) -> bool {
    let mut endpoints = reached.cluster.endpoints.iter();
    let only = endpoints.next().filter(|_| endpoints.next().is_none());
    let is_ip = only.is_some_and(|it| it.address.parse::<IpAddr>().is_ok());
    let addresses = reached.facts(cx).addresses;
    is_ip || addresses.is_some_and(|it| it.value == 1)
}
