//! A threshold for gateway errors that the one for all 5xx reaches first.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "gateway-errors-shadowed",
        summary: "`consecutiveGatewayErrors` not below the threshold for all 5xx is never the one that decides",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/gateway-errors-shadowed.md"),
    },
    build: super::plain::<GatewayErrorsShadowed>,
};

#[derive(Debug, Default)]
pub(super) struct GatewayErrorsShadowed;

/// Envoy's threshold for 5xx answers in a row where nothing sets one.
const DEFAULT_5XX: u32 = 5;

impl Check for GatewayErrorsShadowed {
    fn check_traffic(&self, _: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for cluster in traffic.clusters() {
            let Some(outlier) = &cluster.facts.outlier.value else {
                continue;
            };
            let Some(gateway) = &outlier.consecutive_gateway_failure else {
                continue;
            };
            let all = outlier.consecutive_5xx.as_ref();
            let first = all.map_or(DEFAULT_5XX, |all| all.value);
            let Some(&place) = gateway.spans().first() else {
                continue;
            };
            let off = outlier.enforcing_consecutive_5xx == Some(0);
            if off || gateway.value < first || !out.is_first(place) {
                continue;
            }
            let which = match all {
                None => format!("the default of {first} for all 5xx"),
                Some(_) => format!("`consecutive5xxErrors: {first}`"),
            };
            // Where both stand there, or are the same, nothing shows that more was wanted than there is.
            let (basis, what) = match (all, gateway.value == first) {
                (_, true) => (
                    Basis::assuming("gateway errors were meant to eject earlier"),
                    format!(
                        "changes nothing: 502, 503 and 504 count as 5xx too, and {which} ejects as well"
                    ),
                ),
                (None, false) => (Basis::Proven, never_reached(&which)),
                (Some(_), false) => (
                    Basis::assuming("both were meant to act"),
                    never_reached(&which),
                ),
            };
            let message = format!("`consecutiveGatewayErrors: {}` {what}", gateway.value);
            out.add(basis, place, message, |finding| {
                let lines = all.into_iter().flat_map(|all| all.spans()).copied();
                lines
                    .fold(finding, |finding, line| {
                        finding.because(line, "this threshold is reached no later")
                    })
                    .because(cluster.service.host.line, "the host that it is for")
                    .help(format!(
                        "add `consecutive5xxErrors: 0` to let only gateway errors count, or set a value below {first}"
                    ))
            });
        }
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["outlier-http-codes-on-tls"]
    }
}

fn never_reached(which: &str) -> String {
    format!("is never reached: 502, 503 and 504 count as 5xx too, and {which} ejects before")
}
