//! A limit for each try whose end is not retried.

use super::ways::HttpWay;
use super::written;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::forecast::RESCUES_TRY_TIMEOUT;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "per-try-timeout-not-retried",
        summary: "`perTryTimeout` ends a try, and `retryOn` does not retry what ends so",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/per-try-timeout-not-retried.md"),
    },
    build: super::plain::<PerTryTimeoutNotRetried>,
};

#[derive(Debug, Default)]
pub(super) struct PerTryTimeoutNotRetried;

impl Check for PerTryTimeoutNotRetried {
    fn check_ways(&self, cx: &Context<'_>, ways: &[HttpWay<'_>], out: &mut Findings) {
        for way in ways.iter().filter(|way| way.reaches) {
            let Some(policy) = way.retry.as_ref() else {
                continue;
            };
            let Some(each) = &policy.per_try_timeout_ms else {
                continue;
            };
            let Some(&place) = each.spans().first() else {
                continue;
            };
            let wanted = policy.attempts.value > 0 && !cx.is_not_repeatable(&way.service);
            if !wanted || policy.retries_any_of(&RESCUES_TRY_TIMEOUT) || !out.is_first(place) {
                continue;
            }
            let list = policy.retry_on.spans().first();
            let message = format!(
                "a try to `{}` that takes longer than `perTryTimeout: {}` ends with 504: {} does not retry it",
                way.destination(),
                written::time(cx, each),
                match list {
                    Some(_) => "this `retryOn`",
                    None => "the default `retryOn`",
                }
            );
            let basis = Basis::assuming("what takes too long is to be tried again");
            out.add(basis, place, message, |finding| {
                list.iter()
                    .fold(finding, |finding, line| {
                        finding.because(**line, "what is retried")
                    })
                    .because(way.service.host.line, "the external host")
                    .help("add `reset` to `retryOn` if a request may be sent twice, beside what the list has now")
            });
        }
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["per-try-timeout-not-below-timeout"]
    }
}
