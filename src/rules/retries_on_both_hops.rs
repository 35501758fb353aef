//! Retries at the sidecar and again at the egress gateway.

use foldhash::HashMap;

use super::ways::HttpWay;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::RetryPolicy;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "retries-on-both-hops",
        summary: "retries on two hops multiply: one request becomes many tries",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/retries-on-both-hops.md"),
    },
    build: super::plain::<RetriesOnBothHops>,
};

#[derive(Debug, Default)]
pub(super) struct RetriesOnBothHops;

impl Check for RetriesOnBothHops {
    fn check_ways(&self, _: &Context<'_>, ways: &[HttpWay<'_>], out: &mut Findings) {
        // Of each host the way that leads to a gateway first, and what it retries.
        let mut to_gateways: HashMap<&str, (&HttpWay<'_>, &RetryPolicy)> = HashMap::default();
        for way in ways.iter().filter(|way| !way.reaches) {
            if let (Some(policy), Some(_)) = (&way.retry.value, way.rule) {
                to_gateways
                    .entry(way.service.name())
                    .or_insert((way, policy));
            }
        }
        for way in ways.iter().filter(|way| way.reaches && way.at_gateway) {
            let (Some(last), Some(rule)) = (&way.retry.value, way.rule) else {
                continue;
            };
            let Some((before, first)) = to_gateways.get(way.service.name()) else {
                continue;
            };
            let written = last.attempts.spans().first();
            let place = written.copied().unwrap_or(rule);
            if !out.is_first(place) {
                continue;
            }
            let tries = |policy: &RetryPolicy| u64::from(policy.attempts.value) + 1;
            let message = format!(
                "the gateway retries again what the sidecar retries: one request to `{}` can become {} x {} = {} tries",
                way.destination(),
                tries(first),
                tries(last),
                tries(first).saturating_mul(tries(last)),
            );
            let basis = Basis::assuming("so many tries are not wanted");
            out.add(basis, place, message, |mut finding| {
                if written.is_none() {
                    finding = finding.absent("retries");
                }
                let sidecars = first.attempts.spans().first().copied().or(before.rule);
                sidecars
                    .into_iter()
                    .fold(finding, |finding, line| finding.because(line, "the sidecar's retries"))
                    .because(way.service.host.line, "the external host")
                    .help(
                        "set `retries: {attempts: 0}` on the rule for sidecars: the gateway reaches the address, so its \
                         retries can choose another one",
                    )
            });
        }
    }
}
