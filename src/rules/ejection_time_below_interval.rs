//! Ejections that last longer than they are set to.

use super::{Basis, Check, Context, Findings, Meta, RuleDef, Traffic};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::ClusterType;
use crate::egress::forecast::span_of_time;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "ejection-time-below-interval",
        summary: "`baseEjectionTime` is below `interval`: an ejection may last longer by a whole interval",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/ejection-time-below-interval.md"),
    },
    build: super::plain::<EjectionTimeBelowInterval>,
};

#[derive(Debug, Default)]
pub(super) struct EjectionTimeBelowInterval;

/// Envoy's, in milliseconds.
const INTERVAL: i64 = 10_000;
const BASE_EJECTION: i64 = 30_000;

impl Check for EjectionTimeBelowInterval {
    fn check_traffic(&self, _: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for cluster in traffic.clusters() {
            let ejects = matches!(
                cluster.facts.cluster_type.value,
                ClusterType::StrictDns | ClusterType::Eds | ClusterType::Static
            );
            let Some(outlier) = cluster.facts.outlier.value.as_ref().filter(|_| ejects) else {
                continue;
            };
            let (interval, base) = (&outlier.interval_ms, &outlier.base_ejection_ms);
            let whole = interval.as_ref().map_or(INTERVAL, |it| it.value);
            let time = base.as_ref().map_or(BASE_EJECTION, |it| it.value);
            let lines = [base, interval].map(|it| it.as_ref()?.spans().first().copied());
            let Some(place) = lines.into_iter().flatten().next() else {
                continue;
            };
            if time >= whole || outlier.detects_nothing() || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "a first ejection in {} lasts up to {}, not {}: Envoy looks every {} (`interval`) which are over",
                cluster.destination(),
                span_of_time(time.saturating_add(whole)),
                span_of_time(time),
                span_of_time(whole),
            );
            let basis = Basis::assuming("the shorter time is meant");
            out.add(basis, place, message, |finding| {
                let others = lines.into_iter().flatten().skip(1);
                others
                    .fold(finding, |finding, line| {
                        finding.because(line, "when Envoy looks which ejections are over")
                    })
                    .because(cluster.service.host.line, "the host that it is for")
                    .help("set `interval` to `baseEjectionTime` or less: it does not delay an ejection")
            });
        }
    }
}
