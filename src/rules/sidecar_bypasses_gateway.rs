//! A Sidecar that leaves out the way through the egress gateway.

use std::cell::{LazyCell, OnceCell};

use foldhash::{HashMap, HashSet};

use super::ambient::Ambient;
use super::context::existing;
use super::{Basis, Check, Context, Findings, Meta, RuleDef, Traffic};
use crate::diag::{Fixable, Severity};
use crate::egress::client::Client;
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{CallResult, WeightedCluster};
use crate::egress::host::service_of;
use crate::egress::path::{Asked, Question};
use crate::egress::proxy::Proxy;
use crate::egress::scope::Scope;
use crate::egress::sidecar::EgressListener;
use crate::egress::virtual_service::{Binding, VirtualService as Routes};
use crate::istio::decode::Items;
use crate::istio::proxy::Sidecar;
use crate::istio::resource::{Resource, Spec};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "sidecar-bypasses-gateway",
        summary: "a Sidecar leaves out the VirtualService that leads a host through the egress gateway: clients go past it",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/sidecar-bypasses-gateway.md"),
    },
    build: super::plain::<SidecarBypassesGateway>,
};

#[derive(Debug, Default)]
pub(super) struct SidecarBypassesGateway;

/// So many VirtualServices of one host, and routes of one call, are looked at.
const LOOKED_AT: usize = 64;

/// So many imports by namespaces that say nothing else of a host are asked about.
const ASKED: usize = 32;

impl Check for SidecarBypassesGateway {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let paths = LazyCell::new(|| Asked::new(cx.model));
        let sidecars = existing(cx.world).filter_map(WholeNamespace::of);
        for (client, host) in sidecars.flat_map(|it| it.past_gateways(cx)).take(ASKED) {
            let question = Question {
                client: Some(client),
                host: Some(host.to_owned()),
                ..Question::default()
            };
            self.check_traffic(cx, &Traffic::new(paths.declared(&question)), out);
        }
    }

    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        let ambient = OnceCell::new();
        let mut clients: HashMap<&Client, Option<Imports<'_>>> = HashMap::default();
        for reached in traffic.reached() {
            let client = reached.hop.client();
            let host = &reached.path.host;
            let all = &cx.model.virtual_services;
            if client.is_gateway() || all.routing_gateways_to(host).is_empty() {
                continue;
            }
            let imports = clients.entry(client);
            let Some(imports) = imports.or_insert_with(|| Imports::of(cx, client)) else {
                continue;
            };
            let of_host: Vec<&Routes<'_>> = cx.routes_for(host).take(LOOKED_AT).collect();
            // What it does import for the host is meant to hold.
            let is_routed = of_host.iter().any(|it| decides(it, &reached.hop.result));
            let left_out = of_host.into_iter().filter(|it| imports.leaves_out(cx, it));
            let left_out: Vec<_> = left_out.collect();
            if is_routed || left_out.is_empty() {
                continue;
            }
            let results = imports.without.every_route(&reached.hop.call, LOOKED_AT);
            let mut left_out = left_out.into_iter();
            let Some(routes) = left_out.find(|it| leads_elsewhere(it, &results)) else {
                continue;
            };
            let (place, own) = (imports.place, imports.own);
            let Some(namespace) = routes.namespace() else {
                continue;
            };
            let ambient = ambient.get_or_init(|| Ambient::of(cx));
            if ambient.get(Some(own)).is_some() || !out.is_first_for(place, routes.resource.span) {
                continue;
            }
            let message = format!(
                "this Sidecar leaves out the VirtualService `{namespace}/{}`, which leads `{host}` through the egress \
                 gateway: clients here go past it",
                routes.resource.name()
            );
            let line = routes.host_line(host).unwrap_or(routes.resource.kind);
            let together = cx.world.is_one_folder(place.file, line.file);
            out.add(Basis::together(together), place, message, |finding| {
                finding
                    .because(line, "it is for this host")
                    .because(reached.host_line(), "the external host")
                    .help(format!("add `{namespace}/{host}` to `hosts`"))
            });
        }
    }
}

/// The Sidecar of the pods of a namespace.
#[derive(Clone, Copy)]
struct WholeNamespace<'c> {
    own: &'c str,
    sidecar: &'c Sidecar,
}

impl<'c> WholeNamespace<'c> {
    fn of(resource: &'c Resource) -> Option<Self> {
        match &resource.spec {
            Spec::Sidecar(sidecar) if sidecar.workload_selector.is_none() => Some(Self {
                own: resource.namespace()?,
                sidecar,
            }),
            _ => None,
        }
    }

    /// Namespace and host of each entry.
    fn entries(self) -> impl Iterator<Item = (&'c str, &'c str)> {
        let listeners = self.sidecar.egress.items().iter();
        let entries = listeners.flat_map(|it| it.value.hosts.items());
        entries.filter_map(|entry| entry.value.split_once('/'))
    }

    /// The hosts that it imports by name, where rules for them that lead through a gateway elsewhere are not imported: the
    /// namespace is a client also where it has no rule for them.
    fn past_gateways(self, cx: &'c Context<'_>) -> Vec<(Client, &'c str)> {
        let all = &cx.model.virtual_services;
        let hosts = self.entries().map(|(_, host)| host);
        let mut hosts = hosts
            .filter(|host| !all.routing_gateways_to(host).is_empty())
            .peekable();
        if hosts.peek().is_none() {
            return Vec::new();
        }
        let imported: HashSet<(&str, &str)> = self.entries().collect();
        let imports = |routes: &Routes<'_>, host: &str| {
            let froms = [Some("*"), routes.namespace()];
            let mut froms = froms.into_iter().flatten();
            froms.any(|from| [host, "*"].iter().any(|it| imported.contains(&(from, *it))))
        };
        let leads_here = |routes: &Routes<'_>| {
            let destinations = routes.destinations();
            let mut services = destinations.iter().filter_map(|(host, _)| service_of(host));
            services.any(|(_, namespace)| namespace == self.own)
        };
        let is_elsewhere = |host: &str| {
            let leading = all.routing_gateways_to(host).iter().take(LOOKED_AT);
            let mut leading = leading.filter_map(|&at| all.get(at));
            leading.any(|it| !imports(it, host) && !leads_here(it))
        };
        let hosts = hosts.filter(|host| is_elsewhere(host));
        hosts
            .map(|host| (Client::sidecar(Some(self.own)), host))
            .collect()
    }
}

/// What the Sidecar of a client imports.
struct Imports<'c> {
    own: &'c str,
    scope: Scope<'c>,
    /// The first `hosts` of the Sidecar.
    place: Span,
    /// The proxy as it would be without the Sidecar.
    without: Proxy<'c>,
    /// What it leaves out, by VirtualService.
    known: HashMap<Span, bool>,
}

impl<'c> Imports<'c> {
    fn of(cx: &'c Context<'_>, client: &'c Client) -> Option<Self> {
        let own = client.namespace()?;
        let (resource, sidecar) = cx.model.sidecars.of(client)?;
        // One of an unknown namespace need not be that of the client.
        resource.namespace()?;
        let egress = sidecar.egress.items().iter();
        let place = egress.filter_map(|it| it.value.hosts.as_ref()).next()?.key;
        Some(Self {
            own,
            scope: cx.model.scope(client),
            place,
            without: Proxy::without_sidecar(cx.model, client),
            known: HashMap::default(),
        })
    }

    /// Whether a VirtualService that also says what a gateway does is exported to the client, and not imported.
    fn leaves_out(&mut self, cx: &Context<'_>, routes: &Routes<'_>) -> bool {
        if let Some(known) = self.known.get(&routes.resource.span) {
            return *known;
        }
        let found = self.finds_out(cx, routes);
        self.known.insert(routes.resource.span, found);
        found
    }

    fn finds_out(&self, cx: &Context<'_>, routes: &Routes<'_>) -> bool {
        let (bindings, own) = (&routes.bindings, Some(self.own));
        let imported = |it: &EgressListener<'_>| {
            let hosts = routes.hosts.iter().map(|(host, _)| &**host);
            it.imports_virtual_service(routes.namespace(), hosts)
        };
        bindings.contains(&Binding::Mesh)
            && bindings.len() > 1
            && cx.model.virtual_services.exposure(routes, own).is_some()
            && !self.scope.listeners.iter().any(imported)
            && self.is_meant_by(routes)
    }

    /// What asks for sources is for these, also where Istio does not look at the condition.
    fn is_meant_by(&self, routes: &Routes<'_>) -> bool {
        let sources = routes.sources();
        let own = |it: &Client| it.namespace() == Some(self.own);
        sources.is_empty() || sources.iter().any(own)
    }
}

/// Whether a rule of the VirtualService decided over a call.
fn decides(routes: &Routes<'_>, result: &CallResult) -> bool {
    let mut lines = result.outcome.spans().iter();
    lines.any(|line| routes.resource.span.contains(*line))
}

/// Whether rules of the VirtualService lead all that can become of a call to a Service first.
fn leads_elsewhere(routes: &Routes<'_>, results: &[CallResult]) -> bool {
    let to_service = |it: &WeightedCluster| {
        let name = ClusterName::parse(&it.name.value);
        name.is_some_and(|it| service_of(it.host).is_some())
    };
    let leads = |it: &CallResult| {
        decides(routes, it) && !it.clusters.is_empty() && it.clusters.iter().all(to_service)
    };
    !results.is_empty() && results.iter().all(leads)
}
