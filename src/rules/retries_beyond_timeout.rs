//! Retries for which the time of the route is too short.

use super::traffic::Traffic;
use super::written;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::forecast::{RESCUES_TRY_TIMEOUT, span_of_time};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "retries-beyond-timeout",
        summary: "the `timeout` of a route ends before all retries could start",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/retries-beyond-timeout.md"),
    },
    build: super::plain::<RetriesBeyondTimeout>,
};

#[derive(Debug, Default)]
pub(super) struct RetriesBeyondTimeout;

impl Check for RetriesBeyondTimeout {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let Some(route) = &reached.hop.result.route else {
                continue;
            };
            let Some(policy) = &route.retry.value else {
                continue;
            };
            let Some(each) = &policy.per_try_timeout_ms else {
                continue;
            };
            let (Some(&place), whole) = (policy.attempts.spans().first(), route.timeout_ms.value)
            else {
                continue;
            };
            let attempts = i64::from(policy.attempts.value);
            // A try that takes all of the time is another fault.
            if each.value <= 0
                || each.value >= whole
                || !policy.retries_any_of(&RESCUES_TRY_TIMEOUT)
            {
                continue;
            }
            let fitting = (whole - 1) / each.value;
            if fitting >= attempts || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "only {fitting} of {attempts} retries to `{}` can start where each try takes `perTryTimeout: {}`: the \
                 whole request may take {}",
                reached.destination(),
                written::time(cx, each),
                span_of_time(whole)
            );
            let basis = Basis::assuming("tries use up their time");
            out.add(basis, place, message, |finding| {
                let lines = route.timeout_ms.spans().iter().copied();
                lines
                    .fold(finding, |finding, line| {
                        finding.because(line, "the limit for all tries together")
                    })
                    .because(reached.host_line(), "the external host")
                    .help(format!("set `attempts: {fitting}`, or raise `timeout`"))
            });
        }
    }
}
