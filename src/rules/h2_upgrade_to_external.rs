//! HTTP/2 without asking whether the other side speaks it.

use super::traffic::{Reached, Traffic};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::{Handler, Speaks};
use crate::egress::protocol::Protocol;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "h2-upgrade-to-external",
        summary: "`h2UpgradePolicy: UPGRADE` sends HTTP/2 in plain text to an external host declared as HTTP/1.1",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/h2-upgrade-to-external.md"),
    },
    build: super::plain::<H2UpgradeToExternal>,
};

#[derive(Debug, Default)]
pub(super) struct H2UpgradeToExternal;

impl Check for H2UpgradeToExternal {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let http2 = &reached.cluster.http2;
            let upgraded = http2
                .spans()
                .iter()
                .find(|line| cx.sources.text(**line).contains("UPGRADE"));
            let (true, Some(&place)) = (http2.value, upgraded) else {
                continue;
            };
            let plain = reached.cluster.tls.value.is_none();
            let http1 = reached.path.speaks == Speaks::Http;
            let http = reached.hop.result.handler == Some(Handler::Http);
            let in_plain_text = plain && http1 && http;
            if !in_plain_text || is_named_http2(cx, &reached) || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "`UPGRADE` makes the proxy speak HTTP/2 to `{}` without asking: with a server that only knows \
                 HTTP/1.1, requests fail with 502",
                reached.destination()
            );
            out.add(Basis::Proven, place, message, |finding| {
                finding
                    .because(reached.port_line(), "declared as HTTP/1.1, in plain text")
                    .help("remove it, or declare the port `HTTP2` if the other side speaks HTTP/2 without TLS")
            });
        }
    }
}

/// Whether the name of the port says that the other side speaks HTTP/2: then the upgrade does what is meant.
fn is_named_http2(cx: &Context<'_>, reached: &Reached<'_>) -> bool {
    let ports = reached.definition(cx).map_or(&[][..], |it| &it.ports);
    let port = ports.iter().find(|it| it.number == reached.path.port);
    port.is_some_and(|it| Protocol::parse(it.name.split('-').next().unwrap_or("")).is_http2())
}
