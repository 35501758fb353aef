//! A time limit for each try that leaves no time for another.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef, written};
use crate::diag::{Fixable, Severity};
use crate::egress::forecast::span_of_time;
use crate::istio::value::Duration;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "per-try-timeout-not-below-timeout",
        summary: "`perTryTimeout` is not below the route's `timeout`: a try that times out is never retried",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/per-try-timeout-not-below-timeout.md"),
    },
    build: super::plain::<PerTryTimeoutNotBelowTimeout>,
};

#[derive(Debug, Default)]
pub(super) struct PerTryTimeoutNotBelowTimeout;

impl Check for PerTryTimeoutNotBelowTimeout {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let Some(route) = &reached.hop.result.route else {
                continue;
            };
            let each = route
                .retry
                .value
                .as_ref()
                .and_then(|it| it.per_try_timeout_ms.as_ref());
            let Some(each) = each else { continue };
            let (Some(&place), whole) = (each.spans().first(), route.timeout_ms.value) else {
                continue;
            };
            if whole <= 0 || each.value < whole || !out.is_first(place) {
                continue;
            }
            let attempts = route.retry.value.as_ref().map_or(0, |it| it.attempts.value);
            let room = whole / i64::from(attempts.saturating_add(1));
            let message = format!(
                "`perTryTimeout: {}` leaves no time for a retry on the way to `{}`: the whole request may take {}",
                written::time(cx, each),
                reached.destination(),
                span_of_time(whole),
            );
            out.add(Basis::Proven, place, message, |finding| {
                let lines = route.timeout_ms.spans().iter();
                lines
                    .fold(finding, |finding, line| finding.because(*line, "the limit for all tries together"))
                    .because(reached.host_line(), "the external host")
                    .help(format!(
                        "set `perTryTimeout: {}` or less for {attempts} retries, or raise `timeout`",
                        Duration::from_millis(room)
                    ))
            });
        }
    }
}
