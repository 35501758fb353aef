//! TLS around a connection that the application has already encrypted.

use super::traffic::{Reached, Traffic};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{Endpoint, Handler, Speaks, TlsFacts};
use crate::egress::service::Port;

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
            let basis = match cx.world.knows_all("VirtualService") || !may_be_led_here(cx, &reached)
            {
                true => Basis::Proven,
                false => Basis::assuming(
                    "no VirtualService elsewhere leads the requests of the HTTP port here",
                ),
            };
            out.add(basis, place, message, |finding| {
                finding
                    .because(
                        reached.port_line(),
                        "the application speaks TLS on this port",
                    )
                    .because(reached.host_line(), "the external host")
                    .help(match http_ports(cx, name).next().is_some() {
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

/// The ports of the host on which TLS could be meant to be originated.
fn http_ports<'c>(
    cx: &'c Context<'_>,
    name: Option<ClusterName<'c>>,
) -> impl Iterator<Item = &'c Port<'c>> {
    let services = name
        .into_iter()
        .flat_map(|it| cx.model.registry.of_host(it.host));
    let ports = services.flat_map(|service| &service.definition.ports);
    ports.filter(|port| port.protocol.is_http_or_sniffed())
}

/// Whether the host has an HTTP port whose requests do not get TLS to the same servers by themselves: these may be led to
/// this port for it.
fn may_be_led_here(cx: &Context<'_>, reached: &Reached<'_>) -> bool {
    let Some(name) = reached.hop.cluster_name().and_then(ClusterName::parse) else {
        return false;
    };
    let port_of = |it: &Endpoint| it.port.value;
    let gets_there = |port: &Port<'_>| {
        let number = port.number;
        let name = ClusterName {
            port: number,
            ..name
        };
        let cluster = cx.model.cluster(reached.hop.client(), &name.to_string());
        cluster.is_some_and(|it| {
            let mut own = it.endpoints.iter().map(port_of);
            let mut here = reached.cluster.endpoints.iter().map(port_of);
            it.tls.is_some() && own.any(|port| here.any(|other| port == other))
        })
    };
    let mut ports = http_ports(cx, Some(name)).take(PORTS);
    ports.any(|port| !gets_there(port))
}

/// So many ports of a host are looked at.
const PORTS: usize = 8;
