//! A match for a gateway that does not get the VirtualService.

use foldhash::HashMap;

use super::{Basis, Check, Context, Findings, Meta, RuleDef, matches};
use crate::diag::{Fixable, Severity};
use crate::egress::virtual_service::Binding;
use crate::istio::decode::Items;
use crate::istio::proxy::Gateway;
use crate::istio::resource::Resource;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "match-gateway-not-listed",
        summary: "a match names a gateway that is not among the `gateways` of the VirtualService: it never holds there",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/match-gateway-not-listed.md"),
    },
    build: super::plain::<MatchGatewayNotListed>,
};

#[derive(Debug, Default)]
pub(super) struct MatchGatewayNotListed;

/// So many ports of the gateway are labelled.
const PORTS: usize = 3;

/// So many gateways of a VirtualService are looked at.
const GATEWAYS: usize = 64;

impl Check for MatchGatewayNotListed {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let mut by_name: HashMap<&str, Vec<(&Resource, &Gateway)>> = HashMap::default();
        for (resource, gateway) in cx.model.gateways.iter() {
            let of_name = by_name.entry(resource.name()).or_default();
            of_name.push((resource, gateway));
        }
        for routes in cx.model.virtual_services.iter() {
            let (namespace, service) = (routes.namespace(), routes.spec);
            // For `mesh` another rule speaks, which knows what sidecars do without it.
            let named = matches::of_rules(service)
                .flatten()
                .flat_map(|it| it.gateways.items())
                .filter(|it| it.value != "mesh");
            for name in named {
                let gateway = Binding::parse(&name.value, namespace);
                let listed = &routes.bindings;
                if listed.len() > GATEWAYS || listed.iter().any(|it| it.is(&gateway)) {
                    continue;
                }
                let (what, help) = match &service.gateways {
                    Some(list) if !list.value.is_empty() => (
                        "is not among the `gateways` of this VirtualService",
                        format!(
                            "add `{}` to `gateways`, or match a gateway that is listed",
                            name.value
                        ),
                    ),
                    _ => (
                        "does not get this VirtualService, which without `gateways` is for sidecars only",
                        format!(
                            "add `gateways: [{}]`, with `mesh` if sidecars need it, too",
                            name.value
                        ),
                    ),
                };
                let message = format!("`{}` {what}: this match never holds there", name.value);
                let ports = match gateway {
                    Binding::Gateway { name, .. } => by_name.get(name).map(Vec::as_slice),
                    Binding::Mesh => None,
                };
                let ports = ports.into_iter().flatten().take(GATEWAYS);
                let ports = ports.filter(|(it, _)| {
                    let (namespace, name) = (it.namespace(), it.name());
                    gateway.is(&Binding::Gateway { namespace, name })
                });
                let ports = ports.flat_map(|(_, it)| it.servers.items());
                let ports = ports.filter_map(|it| it.value.port.as_ref()?.value.number.as_ref());
                out.add(Basis::Proven, name.span, message, |finding| {
                    let list = service.gateways.iter().filter(|it| !it.value.is_empty());
                    let finding = list.fold(finding, |finding, list| {
                        finding.because(list.key, "the list")
                    });
                    let ports = ports.take(PORTS);
                    ports
                        .fold(finding, |finding, port| {
                            finding.because(port.span, "what arrives here gets no route of it")
                        })
                        .help(help)
                });
            }
        }
    }
}
