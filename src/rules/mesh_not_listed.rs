//! Rules for sidecars in a VirtualService that is not for sidecars.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::Origin;
use crate::istio::decode::Items;
use crate::istio::route::VirtualService;
use crate::source::Spanned;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "mesh-not-listed",
        summary: "`mesh` is not among the `gateways`: sidecars do not get the VirtualService and go past the egress gateway",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/mesh-not-listed.md"),
    },
    build: super::plain::<MeshNotListed>,
};

#[derive(Debug, Default)]
pub(super) struct MeshNotListed;

impl Check for MeshNotListed {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, service) in cx.virtual_services() {
            let gateways = service.gateways.items();
            let Some(key) = service
                .gateways
                .as_ref()
                .filter(|it| !it.value.is_empty())
                .map(|it| it.key)
            else {
                continue;
            };
            if gateways.iter().any(|it| it.value == "mesh") {
                continue;
            }
            if let Some(mesh) = rule_for_mesh(service) {
                let message = "a rule here is for `mesh`, but `mesh` is not among the `gateways` of the VirtualService: sidecars never get the rule and go straight out";
                out.add(Basis::Proven, mesh.span, message, |finding| {
                    finding
                        .because(key, "the list without `mesh`")
                        .help("add `mesh` to `gateways`")
                });
                continue;
            }
            let hosts = service.hosts.items().iter();
            let external =
                hosts.flat_map(|host| cx.hosts_overlapping(&host.value, resource.namespace()));
            // `hosts: ["*"]` of an ingress gateway covers external hosts and is not about them.
            let external = external.into_iter().find(|it| {
                it.definition.origin == Origin::ServiceEntry
                    && it.definition.mesh_external
                    && leads_to(service, it.host)
            });
            let Some(external) = external else { continue };
            let name = external.host.to_lowercase();
            if cx.model.virtual_services.covering(&name).next().is_some() {
                continue;
            }
            let message = format!(
                "sidecars do not get this VirtualService: `mesh` is not among its `gateways`, so they send requests for `{}` straight out, past the gateway",
                external.host
            );
            let basis = Basis::assuming("workloads with sidecars call the host by its own name");
            out.add(basis, key, message, |finding| {
                finding
                    .because(external.line, "the external host")
                    .help("add `mesh`, with a rule for it that leads to the egress gateway")
            });
        }
    }
}

/// Whether some route sends requests or connections to the host.
fn leads_to(service: &VirtualService, host: &str) -> bool {
    let http = service.http.items().iter();
    let http = http
        .flat_map(|it| it.value.route.items())
        .filter_map(|it| it.value.destination.as_ref());
    let tls = service.tls.items().iter();
    let tls = tls.flat_map(|it| it.value.route.items());
    let tcp = service.tcp.items().iter();
    let tcp = tcp.flat_map(|it| it.value.route.items());
    let bytes = tls
        .chain(tcp)
        .filter_map(|it| it.value.destination.as_ref());
    http.chain(bytes)
        .filter_map(|it| it.value.host.as_ref())
        .any(|it| it.value.eq_ignore_ascii_case(host))
}

fn rule_for_mesh(service: &VirtualService) -> Option<&Spanned<String>> {
    let http = service
        .http
        .items()
        .iter()
        .flat_map(|it| it.value.matches.items());
    let http = http.flat_map(|it| it.value.gateways.items());
    let tls = service
        .tls
        .items()
        .iter()
        .flat_map(|it| it.value.matches.items());
    let tls = tls.flat_map(|it| it.value.gateways.items());
    let tcp = service
        .tcp
        .items()
        .iter()
        .flat_map(|it| it.value.matches.items());
    let tcp = tcp.flat_map(|it| it.value.gateways.items());
    http.chain(tls).chain(tcp).find(|it| it.value == "mesh")
}
