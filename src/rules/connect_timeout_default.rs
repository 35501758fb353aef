//! Outlier detection that first waits ten seconds.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::Because;
use crate::egress::forecast::span_of_time;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "connect-timeout-default",
        summary: "outlier detection without `connectTimeout`: each try to a dead address hangs 10 s before anything reacts",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/connect-timeout-default.md"),
    },
    build: super::plain::<ConnectTimeoutDefault>,
};

#[derive(Debug, Default)]
pub(super) struct ConnectTimeoutDefault;

impl Check for ConnectTimeoutDefault {
    fn check_traffic(&self, _: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let facts = reached.cluster;
            let outlier = &facts.outlier;
            let (Some(_), Some(&place)) = (&outlier.value, outlier.spans().first()) else {
                continue;
            };
            let connect = &facts.connect_timeout_ms;
            let by_default = matches!(connect.because, Because::Default(_));
            if !by_default || !out.is_first(place) {
                continue;
            }
            let route = reached.hop.result.route.as_deref();
            let retry = route.and_then(|it| it.retry.value.as_ref());
            let tries = i64::from(retry.map_or(0, |it| it.attempts.value)) + 1;
            let whole = connect.value.saturating_mul(tries);
            let each = retry.and_then(|it| it.per_try_timeout_ms.as_ref());
            let limits = [
                route.map_or(0, |it| it.timeout_ms.value),
                each.map_or(0, |it| it.value.saturating_mul(tries)),
            ];
            let limit = limits.into_iter().filter(|limit| *limit > 0).min();
            let (destination, time) = (reached.destination(), span_of_time(connect.value));
            let message = match limit.filter(|limit| *limit < whole) {
                Some(limit) => format!(
                    "no `connectTimeout`: a silent address of `{destination}` counts as failed only after {time}, and holds \
                     a request for up to {}",
                    span_of_time(limit),
                ),
                None => format!(
                    "no `connectTimeout`: each try to a silent address of `{destination}` hangs {time} before it counts, a \
                     request up to {} ({tries} {})",
                    span_of_time(whole),
                    if tries == 1 { "try" } else { "tries" },
                ),
            };
            let basis = Basis::assuming("a dead address is to be left within a second or two");
            out.add(basis, place, message, |finding| {
                finding
                    .because(reached.host_line(), "the external host")
                    .help("set `connectionPool.tcp.connectTimeout: 1s` beside it")
            });
        }
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["outlier-on-logical-dns", "outlier-on-none"]
    }
}
