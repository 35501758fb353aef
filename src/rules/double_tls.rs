//! TLS around a connection that the application has already encrypted.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{Handler, Speaks, TlsFacts};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "double-tls",
        summary: "TLS is originated for a port on which the application already speaks TLS",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/double-tls.md"),
    },
    build: super::plain::<DoubleTls>,
};

#[derive(Debug, Default)]
pub(super) struct DoubleTls;

impl Check for DoubleTls {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let Some(TlsFacts::Explicit(tls)) = &reached.cluster.tls.value else {
                continue;
            };
            let hop = reached.hop;
            // `ISTIO_MUTUAL` goes around what is encrypted already wherever the mesh itself is the other side.
            let encrypts = matches!(tls.mode.value, "SIMPLE" | "MUTUAL");
            let passes = hop.result.handler == Some(Handler::Tcp) && hop.call.speaks == Speaks::Tls;
            let untouched = reached.path.hops.len() == 1;
            let name = hop.cluster_name().and_then(ClusterName::parse);
            let http = name.is_some_and(|it| cx.http_reaches(it.host, it.port));
            let Some(&place) = tls.mode.spans().first() else {
                continue;
            };
            if !encrypts
                || !passes
                || !untouched
                || http
                || !out.is_first_for(place, reached.port_line())
            {
                continue;
            }
            let message = format!(
                "`{}` encrypts again what the application has encrypted for `{}`: the other side finds TLS inside of TLS",
                tls.mode.value,
                reached.destination()
            );
            out.add(Basis::Proven, place, message, |finding| {
                finding
                    .because(
                        reached.port_line(),
                        "the application speaks TLS on this port",
                    )
                    .because(reached.host_line(), "the external host")
                    .help(match has_http_port(cx, name) {
                        true => "give the `tls` block to the HTTP port only, under `portLevelSettings`",
                        false => {
                            "remove the `tls` block; for requests without TLS declare an `HTTP` port with `targetPort` and give the \
                             block to that"
                        }
                    })
            });
        }
    }
}

/// Whether the host has a port on which TLS could be meant to be originated.
fn has_http_port(cx: &Context<'_>, name: Option<ClusterName<'_>>) -> bool {
    let services = name
        .into_iter()
        .flat_map(|it| cx.model.registry.of_host(it.host));
    let mut ports = services.flat_map(|service| &service.definition.ports);
    ports.any(|port| port.protocol.is_http_or_sniffed())
}
