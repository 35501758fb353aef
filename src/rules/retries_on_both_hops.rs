//! Retries at the sidecar and again at the egress gateway.

use foldhash::HashMap;

use super::ways::HttpWay;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::{GRPC_CONDITIONS, RetryPolicy};
use crate::egress::forecast::RESCUES_CONNECT_FAILURE;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "retries-on-both-hops",
        summary: "the sidecar retries what the egress gateway has retried: one request becomes many tries",
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
        // Of each host the first way to a gateway whose answers are tried again, and what it retries.
        let mut to_gateways: HashMap<&str, (&HttpWay<'_>, &RetryPolicy)> = HashMap::default();
        for way in ways.iter().filter(|way| !way.reaches) {
            if let (Some(policy), Some(_)) = (&way.retry.value, way.rule)
                && retries_answers(policy, way.is_grpc())
            {
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
            if !multiply(first, last, before.is_grpc()) {
                continue;
            }
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
                let list = first.retry_on.spans().first();
                let sidecars = list.or(first.attempts.spans().first()).copied();
                sidecars
                    .or(before.rule)
                    .into_iter()
                    .fold(finding, |finding, line| {
                        finding.because(line, "the sidecar retries what the gateway answers")
                    })
                    .because(way.service.host.line, "the external host")
                    .help(
                        "set `retryOn: connect-failure,refused-stream` on the rule for sidecars: they then retry a gateway \
                         that they do not reach, and the gateway, which can choose another address, retries the host",
                    )
            });
        }
    }
}

/// What a proxy answers whose tries to connect have run out: 503, or to gRPC the status `UNAVAILABLE` (measured E23).
const CONNECTS_FAILED: (u32, &str) = (503, "unavailable");

/// The statuses of HTTP that a condition without numbers may mean; of 5xx one stands for those that mean no gateway.
const STATUSES: [u32; 5] = [409, 500, 502, 503, 504];

/// Of a list of codes so many are looked at: there are no more statuses.
const CODES: usize = 500;

fn retries_answers(policy: &RetryPolicy, grpc: bool) -> bool {
    !policy.retriable_status_codes.is_empty()
        || STATUSES.iter().any(|&it| policy.retries_status(it))
        || grpc && policy.retries_any_of(&GRPC_CONDITIONS)
}

/// Whether there is an answer that the first proxy tries again after the second has done so in vain.
fn multiply(first: &RetryPolicy, last: &RetryPolicy, grpc: bool) -> bool {
    let (status, condition) = CONNECTS_FAILED;
    let connects = last.retries_any_of(&RESCUES_CONNECT_FAILURE)
        && (first.retries_status(status) || grpc && first.retries_any_of(&[condition]));
    let codes = first.retriable_status_codes.iter().take(CODES);
    let mut statuses = STATUSES.iter().chain(codes);
    let by_both = |on: &&str| first.retries_any_of(&[on]) && last.retries_any_of(&[on]);
    connects
        || statuses.any(|&it| first.retries_status(it) && last.retries_status(it))
        || grpc && GRPC_CONDITIONS.iter().any(by_both)
}
