//! Outlier detection of an egress gateway that counts the failures of hosts behind it.

use super::{Basis, Check, Context, Findings, Meta, RuleDef, Traffic};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::{Handler, OutlierFacts};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "outlier-on-egress-gateway",
        summary: "outlier detection of the egress gateway counts the 5xx answers of the hosts behind it, and ejects the gateway",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/outlier-on-egress-gateway.md"),
    },
    build: super::plain::<OutlierOnEgressGateway>,
};

#[derive(Debug, Default)]
pub(super) struct OutlierOnEgressGateway;

impl Check for OutlierOnEgressGateway {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic, out: &mut Findings) {
        for reached in traffic.reached() {
            let [.., sender, gateway] = reached.path.hops.as_slice() else {
                continue;
            };
            let cluster = sender.cluster.as_ref().filter(|_| {
                gateway.client().is_gateway() && sender.result.handler == Some(Handler::Http)
            });
            let Some((cluster, outlier)) =
                cluster.and_then(|it| Some((it, it.outlier.value.as_ref()?)))
            else {
                continue;
            };
            let Some(&place) = cluster.outlier.spans().first().filter(|_| counts(outlier)) else {
                continue;
            };
            // A rule for the whole mesh does not mean the gateway.
            let rule = cluster.destination_rule.as_ref();
            let host = rule.and_then(|rule| rule.spans().first());
            if host.is_none_or(|host| cx.sources.text(*host).contains('*'))
                || reached.cluster.outlier.value.is_some()
                || !out.is_first(place)
            {
                continue;
            }
            let message = format!(
                "5xx answers of `{}` eject the gateway, for every host behind it: the sidecar counts what the gateway passes on",
                reached.destination()
            );
            let basis = Basis::assuming("the external host is what is to be ejected");
            out.add(basis, place, message, |finding| {
                let lines: Option<&Span> = sender.result.clusters.get(sender.chosen).and_then(|it| it.name.spans().first());
                lines
                    .into_iter()
                    .fold(finding, |finding, line| finding.because(*line, "requests are sent to the gateway here"))
                    .because(reached.host_line(), "the external host, which has no outlier detection")
                    .help("set `outlierDetection` in a DestinationRule for the external host, where the gateway sees it")
            });
        }
    }
}

/// Whether answers with a 5xx code count; 0 switches a detector off.
fn counts(outlier: &OutlierFacts) -> bool {
    let is_on = |enforced: Option<u32>| enforced.is_none_or(|percent| percent > 0);
    is_on(outlier.enforcing_consecutive_5xx)
        || outlier.consecutive_gateway_failure.is_some()
            && is_on(outlier.enforcing_consecutive_gateway_failure)
}
