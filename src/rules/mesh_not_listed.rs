//! Rules for sidecars in a VirtualService that is not for sidecars.

use smol_str::SmolStr;

use super::matches::{self, Holds};
use super::targets::targets;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::gateway::selector;
use crate::egress::service::Origin;
use crate::egress::virtual_service::{Binding, VirtualService as Routes};
use crate::istio::decode::Items;
use crate::istio::proxy::Gateway;
use crate::istio::route::VirtualService;
use crate::source::{Span, Spanned};
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "mesh-not-listed",
        summary: "`mesh` is not among the `gateways`: sidecars do not get the VirtualService and go past the egress gateway",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/mesh-not-listed.md"),
    },
    build: super::plain::<MeshNotListed>,
};

#[derive(Debug, Default)]
pub(super) struct MeshNotListed;

/// So many gateways of a VirtualService are looked at.
const GATEWAYS: usize = 16;

impl Check for MeshNotListed {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for routes in cx.model.virtual_services.iter() {
            let (resource, service) = (routes.resource, routes.spec);
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
                let message = "a rule here is for `mesh`, but `mesh` is not among the `gateways` of the \
                               VirtualService: sidecars never get the rule and go straight out";
                out.add(Basis::Proven, mesh.span, message, |finding| {
                    finding
                        .because(key, "the list without `mesh`")
                        .help("add `mesh` to `gateways`")
                        .fix(fix(cx, service, key))
                });
                continue;
            }
            // `hosts: ["*"]` of an ingress gateway covers external hosts and is not about them.
            let hosts = service.hosts.items().iter().filter(|it| it.value != "*");
            let external =
                hosts.flat_map(|host| cx.hosts_overlapping(&host.value, resource.namespace()));
            let external = external.into_iter().find(|it| {
                it.definition.origin == Origin::ServiceEntry
                    && it.definition.mesh_external
                    && leads_to(routes, it.host)
            });
            let Some(external) = external else { continue };
            let name = external.host.to_lowercase();
            if cx.model.virtual_services.covering(&name).next().is_some()
                || is_for_ingress(cx, service, resource.namespace())
            {
                continue;
            }
            let message = format!(
                "sidecars do not get this VirtualService: `mesh` is not among its `gateways`, so they send requests \
                 for `{}` straight out, past the gateway",
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
fn leads_to(routes: &Routes<'_>, host: &str) -> bool {
    let mut targets = targets(routes).into_iter();
    targets.any(|target| target.host().eq_ignore_ascii_case(host))
}

/// Whether all of its Gateways that are known stand where traffic comes in: by their labels, or because clients from
/// outside are shown a certificate there.
fn is_for_ingress(cx: &Context<'_>, service: &VirtualService, namespace: Option<&str>) -> bool {
    let names = service.gateways.items().iter().take(GATEWAYS);
    let mut gateways = names
        .flat_map(|it| match Binding::parse(&it.value, namespace) {
            Binding::Gateway { namespace, name } => cx.model.gateways.named(namespace, name),
            Binding::Mesh => Vec::new(),
        })
        .peekable();
    gateways.peek().is_some()
        && gateways.all(|(_, it)| {
            selector(it).any(|(_, value)| value.contains("ingress")) || shows_certificate(it)
        })
}

fn shows_certificate(gateway: &Gateway) -> bool {
    let servers = gateway.servers.items().iter();
    let mut blocks = servers.filter_map(|server| server.value.tls.as_ref());
    blocks.any(|tls| tls.value.credential_name.is_some())
}

fn rule_for_mesh(service: &VirtualService) -> Option<&Spanned<SmolStr>> {
    let gateways = matches::of_rules(service)
        .flatten()
        .flat_map(|it| it.gateways.items());
    gateways.into_iter().find(|it| it.value == "mesh")
}

/// If every other rule says which gateways it is for. Unsafe: it sends traffic another way.
fn fix(cx: &Context<'_>, service: &VirtualService, gateways: Span) -> Option<Fix> {
    let named = |matches: Vec<Holds<'_>>| {
        !matches.is_empty() && matches.iter().all(|it| !it.gateways.items().is_empty())
    };
    if !matches::of_rules(service).all(named) {
        return None;
    }
    let edit = cx
        .texts
        .edit(gateways, |it| it.append(&Value::from("mesh")))?;
    Some(Fix::new(
        Safety::Unsafe,
        "give the rules to sidecars, too",
        edit,
    ))
}
