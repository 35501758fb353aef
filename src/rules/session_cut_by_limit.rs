//! A limit that ends connections on which something is under way.

use super::traffic::Traffic;
use super::written;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::Handler;
use crate::egress::forecast::span_of_time;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "session-cut-by-limit",
        summary: "`maxConnectionDuration` cuts connections on a TCP or TLS port while they are in use",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/session-cut-by-limit.md"),
    },
    build: super::plain::<SessionCutByLimit>,
};

#[derive(Debug, Default)]
pub(super) struct SessionCutByLimit;

impl Check for SessionCutByLimit {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        // Each hop cuts, the way to an egress gateway as well as the way out.
        let reached = traffic.reached();
        let hops = reached.flat_map(|it| it.path.hops.iter().map(move |hop| (it, hop)));
        for (reached, hop) in hops {
            if hop.result.handler != Some(Handler::Tcp) {
                continue;
            }
            let tcp = hop.result.tcp.as_ref();
            let Some(longest) = tcp.and_then(|tcp| tcp.max_connection_duration_ms.as_ref()) else {
                continue;
            };
            let Some(&place) = longest.spans().first() else {
                continue;
            };
            let Some(session) = reached.facts(cx).session_ms else {
                continue;
            };
            if session.value <= longest.value || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "`maxConnectionDuration: {}` cuts sessions of `{}`, which last up to {}",
                written::time(cx, longest),
                reached.destination(),
                span_of_time(session.value)
            );
            out.add(Basis::Proven, place, message, |finding| {
                let line = session.span();
                line.into_iter()
                    .fold(finding, |finding, line| {
                        finding.because(line, "the longest session")
                    })
                    .because(reached.port_line(), "its bytes are passed on: no end of a request is seen")
                    .because(reached.host_line(), "the external host")
                    .help("set it above the longest session, or have clients close their connections themselves")
            });
        }
    }
}
