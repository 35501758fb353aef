//! A connect timeout below a round trip.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef, written};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::ClusterType;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "connect-timeout-too-small",
        summary: "`connectTimeout` is shorter than a round trip to an external host",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/connect-timeout-too-small.md"),
    },
    build: super::plain::<ConnectTimeoutTooSmall>,
};

#[derive(Debug, Default)]
pub(super) struct ConnectTimeoutTooSmall;

/// No address outside of the data centre answers a TCP handshake reliably within this, in milliseconds.
const ROUND_TRIP_MS: i64 = 20;

/// How long Envoy waits before it tries the next address of a LOGICAL_DNS answer, in milliseconds (measured, E5).
const NEXT_ADDRESS_MS: i64 = 300;

impl Check for ConnectTimeoutTooSmall {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let connect = &reached.cluster.connect_timeout_ms;
            let Some(&place) = connect.spans().first() else {
                continue;
            };
            // Nothing takes that, neither in a rule nor in the mesh configuration, and it is said there.
            if connect.value < 1 {
                continue;
            }
            let logical = reached.cluster.cluster_type.value == ClusterType::LogicalDns;
            let addresses = reached
                .facts(cx)
                .addresses
                .filter(|it| logical && it.value > 1);
            let (value, written) = (connect.value, written::time(cx, connect));
            let (message, help) = if value < ROUND_TRIP_MS {
                (
                    format!(
                        "`connectTimeout: {written}` is shorter than a round trip to `{}`: connections fail before they stand",
                        reached.destination()
                    ),
                    "set `connectTimeout: 1s` or more",
                )
            } else if value <= NEXT_ADDRESS_MS && addresses.is_some() {
                (
                    format!(
                        "`connectTimeout: {written}` ends before the next address of `{}` is tried: Envoy waits \
                         {NEXT_ADDRESS_MS} ms for each silent one",
                        reached.destination()
                    ),
                    "set `connectTimeout: 1s` or more, so that a dead first address is passed over",
                )
            } else {
                continue;
            };
            if !out.is_first(place) {
                continue;
            }
            out.add(Basis::Proven, place, message, |finding| {
                let lines = addresses.and_then(|it| it.span());
                lines
                    .into_iter()
                    .fold(finding, |finding, line| {
                        finding.because(line, "its answers hold several addresses")
                    })
                    .because(reached.host_line(), "the external host")
                    .help(help)
            });
        }
    }
}
