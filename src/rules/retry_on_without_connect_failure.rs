//! A list of retry conditions that lets failed connections through.

use std::collections::BTreeMap;

use super::ways::HttpWay;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::forecast::RESCUES_CONNECT_FAILURE;
use crate::source::Span;
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "retry-on-without-connect-failure",
        summary: "`retryOn` leaves out what rescues a request from a dead address",
        severity: Severity::Warning,
        fixable: Fixable::Always,
        since: "0.1.0",
        page: include_str!("../../rules/retry-on-without-connect-failure.md"),
    },
    build: super::plain::<RetryOnWithoutConnectFailure>,
};

#[derive(Debug, Default)]
pub(super) struct RetryOnWithoutConnectFailure;

impl Check for RetryOnWithoutConnectFailure {
    fn check_ways(&self, cx: &Context<'_>, ways: &[HttpWay<'_>], out: &mut Findings) {
        let mut lines: BTreeMap<Span, &HttpWay<'_>> = BTreeMap::new();
        for way in ways.iter().filter(|way| way.reaches) {
            let Some(policy) = way.retry.as_ref() else {
                continue;
            };
            let rescues = policy.retries_any_of(&RESCUES_CONNECT_FAILURE);
            if let (false, Some(&line)) = (rescues, policy.retry_on.spans().first())
                && !cx.is_not_repeatable(&way.service)
            {
                lines.entry(line).or_insert(way);
            }
        }
        for (line, way) in lines {
            let list = cx.sources.text(line).trim_matches(['"', '\'']);
            let never = if list == "retriable-status-codes" {
                " (and without a status code it retries nothing)"
            } else {
                ""
            };
            let message = format!(
                "`retryOn: {list}` replaces the default list and does not retry a failed connection to `{}`{never}",
                way.destination()
            );
            out.add(Basis::Proven, line, message, |mut finding| {
                finding = finding.because(way.service.host.line, "the external host");
                if let Some(rule) = way.rule {
                    finding = finding.because(rule, "the route that leads there");
                }
                let list = format!("connect-failure,{list}");
                let edit = cx.texts.edit(line, |it| it.set(&Value::Str(list)));
                finding
                    .help("add `connect-failure`: no status code stands for a connection that was not made")
                    .fix(edit.map(|edit| Fix::new(Safety::Safe, "retry failed connections too", edit)))
            });
        }
    }
}
