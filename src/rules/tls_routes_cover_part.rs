//! `tls` rules for some of the names of a wildcard host.

use smol_str::SmolStr;

use super::context::HOSTS;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::{is_wildcard, subset_of};
use crate::egress::service::{Origin, Service};
use crate::egress::virtual_service::{Binding, names_mesh};
use crate::istio::decode::Items;
use crate::istio::proxy::OutboundMode;
use crate::istio::route::TlsMatch;
use crate::source::Spanned;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "tls-routes-cover-part",
        summary: "`tls` rules name some of the names under a wildcard host: the others lose the host's own route",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/tls-routes-cover-part.md"),
    },
    build: super::plain::<TlsRoutesCoverPart>,
};

#[derive(Debug, Default)]
pub(super) struct TlsRoutesCoverPart;

/// So many rules of one host are looked at.
const MATCHES: usize = 4096;

impl Check for TlsRoutesCoverPart {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let services = cx.model.registry.services();
        let wildcards = services.filter(|it| {
            it.origin == Origin::ServiceEntry
                && is_wildcard(it.name())
                && it.ports.iter().any(|port| port.protocol.is_tls())
        });
        for service in wildcards {
            let routes = cx.routes_for(service.name()).take(HOSTS);
            let routes = routes.filter(|it| it.bindings.contains(&Binding::Mesh));
            let matches = routes.flat_map(|it| it.spec.tls.items());
            let matches = matches.flat_map(|it| it.value.matches.items());
            let matches: Vec<_> = matches
                .filter(|it| acts_on(it, &service))
                .take(MATCHES)
                .collect();
            let names = matches.iter().flat_map(|it| it.sni_hosts.items());
            let Some(first) = matches.first() else {
                continue;
            };
            // Rules for some clients or addresses leave the host as it is for the others.
            let is_for_some = |it: &&Spanned<TlsMatch>| {
                it.source_labels.is_some()
                    || it.source_namespace.is_some()
                    || it.destination_subnets.is_some()
            };
            let is_whole = |it: &Spanned<SmolStr>| subset_of(service.name(), &it.value);
            if names.clone().any(is_whole) || matches.iter().any(is_for_some) {
                continue;
            }
            let client = service.client();
            let is_closed =
                cx.model.scope(&client).outbound.mode.value == OutboundMode::RegistryOnly;
            let (basis, what) = match is_closed {
                true => (Basis::Proven, "connections to the others are closed"),
                false => (
                    Basis::assuming("the others need what is set for the host"),
                    "the others go past its policies",
                ),
            };
            let message = format!(
                "`tls` rules take the place of the route of `{}`, but only for {}: {what}",
                service.name(),
                listed(names)
            );
            out.add(basis, first.key, message, |finding| {
                finding
                    .because(service.host.line, "the host with the wildcard")
                    .help(format!(
                        "add a rule for `sniHosts: [\"{}\"]` that leads to the host itself",
                        service.name()
                    ))
            });
        }
    }
}

/// Whether it holds in sidecars on a TLS port of the service.
fn acts_on(it: &TlsMatch, service: &Service<'_>) -> bool {
    let port = it.port.as_ref().map_or(0, |port| port.value);
    let mut ports = service.ports.iter().filter(|port| port.protocol.is_tls());
    names_mesh(it.gateways.items()) && ports.any(|it| port == 0 || i64::from(it.number) == port)
}

/// The first names, for messages.
fn listed<'n>(names: impl Iterator<Item = &'n Spanned<SmolStr>>) -> String {
    let mut names: Vec<String> = names.map(|it| format!("`{}`", it.value)).take(4).collect();
    if names.len() > 3 {
        names.truncate(3);
        names.push("…".to_owned());
    }
    names.join(", ")
}
