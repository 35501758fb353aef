//! A time of TCP keepalive that is cut to nothing.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "keepalive-below-second",
        summary: "a time of `tcpKeepalive` below a second is cut to 0: no keepalive, or no connection before Istio 1.29",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/keepalive-below-second.md"),
    },
    build: super::plain::<KeepaliveBelowSecond>,
};

#[derive(Debug, Default)]
pub(super) struct KeepaliveBelowSecond;

impl Check for KeepaliveBelowSecond {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let Some(keepalive) = &reached.cluster.tcp_keepalive else {
                continue;
            };
            let times = [
                ("time", &keepalive.time_s),
                ("interval", &keepalive.interval_s),
            ];
            for (name, time) in times {
                let cut = time.as_ref().filter(|it| it.value == 0);
                let Some(&place) = cut.and_then(|it| it.spans().first()) else {
                    continue;
                };
                if !out.is_first(place) {
                    continue;
                }
                let consequence = match cx.version.connects_without_keepalive_time() {
                    true => "which switches keepalive off for connections",
                    false => "with which Envoy makes no connection",
                };
                let message = format!(
                    "`tcpKeepalive.{name}: {}` is cut to 0 s, {consequence} to `{}`",
                    cx.sources.text(place).trim_matches(['"', '\'']),
                    reached.destination()
                );
                out.add(Basis::Proven, place, message, |finding| {
                    finding
                        .because(reached.host_line(), "the external host")
                        .help(
                            "write whole seconds, at least `1s`: Istio hands over nothing smaller",
                        )
                });
            }
        }
    }
}
