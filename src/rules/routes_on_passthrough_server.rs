//! Rules for requests or bytes at a server that only passes TLS on.

use super::bound_servers::{Unused, unused};
use super::{Check, Context, Findings, Meta, RuleDef, matches};
use crate::diag::{Fixable, Severity};
use crate::egress::protocol::Protocol;
use crate::istio::proxy::{Server, ServerTlsMode};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "routes-on-passthrough-server",
        summary: "`http` or `tcp` rules for a Gateway server that passes TLS on are not used",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/routes-on-passthrough-server.md"),
    },
    build: super::plain::<RoutesOnPassthroughServer>,
};

#[derive(Debug, Default)]
pub(super) struct RoutesOnPassthroughServer;

impl Check for RoutesOnPassthroughServer {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, service) in cx.virtual_services() {
            let sections = [
                ("http", matches::http(service)),
                ("tcp", matches::tcp(service)),
            ];
            for (name, section) in sections {
                let unused = section
                    .iter()
                    .flat_map(|it| unused(cx, resource, service, it, passes_through));
                unused.for_each(|it| say(name, &it, out));
            }
        }
    }
}

fn say(section: &str, unused: &Unused<'_>, out: &mut Findings) {
    let server = unused.server;
    let message = format!(
        "these `{section}` rules are not used: the Gateway's server passes TLS on (`PASSTHROUGH`), for which only `tls` \
         rules count"
    );
    out.add(unused.basis.clone(), unused.place, message, |finding| {
        let port = server.value.port.as_ref();
        let number = port.and_then(|it| it.value.number.as_ref());
        let tls = server.value.tls.as_ref();
        let mode = tls.map(|it| (it.key, it.value.mode.as_ref()));
        let mode = mode.map_or(server.key, |(key, mode)| mode.map_or(key, |it| it.span));
        number
            .iter()
            .fold(finding, |finding, number| {
                finding.because(number.span, "the server that the rules are for")
            })
            .because(mode, "TLS is not ended here: nobody sees what is inside")
            .help("route by `sniHosts` under `tls`, or let the server end TLS (`ISTIO_MUTUAL`)")
    });
}

/// Without a mode, `tls` means `PASSTHROUGH`.
fn passes_through(server: &Server) -> bool {
    let protocol = server
        .port
        .as_ref()
        .and_then(|it| it.value.protocol.as_ref());
    let carries_tls = protocol.is_some_and(|it| Protocol::parse(&it.value).is_tls());
    let tls = server.tls.as_ref();
    let mode = tls.map(|it| {
        it.value
            .mode
            .as_ref()
            .map(|it| it.value)
            .unwrap_or_default()
    });
    carries_tls && mode == Some(ServerTlsMode::Passthrough)
}
