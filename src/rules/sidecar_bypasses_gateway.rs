//! A Sidecar that leaves out the way through the egress gateway.

use foldhash::HashMap;

use super::matches::{self, Section};
use super::traffic::{Reached, Traffic};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::Handler;
use crate::egress::host::service_of;
use crate::egress::sidecar::EgressListener;
use crate::egress::virtual_service::{Binding, VirtualService as Routes};
use crate::istio::decode::Items;
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

/// So many VirtualServices of one host, rules of one, and matches of a rule are looked at.
const LOOKED_AT: usize = 64;

/// A VirtualService for more hosts than this is left alone.
const HOSTS: usize = 1000;

impl Check for SidecarBypassesGateway {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        let mut leads: HashMap<Span, Option<Lead>> = HashMap::default();
        let mut imports: HashMap<Span, Vec<EgressListener<'_>>> = HashMap::default();
        for reached in traffic.reached() {
            let client = reached.hop.client();
            let (Some(own), false) = (client.namespace(), client.is_gateway()) else {
                continue;
            };
            let host = &reached.path.host;
            let mut routes = cx.routes_for(host).take(LOOKED_AT);
            let lead = routes.find(|routes| {
                let lead = leads.entry(routes.resource.span);
                let lead = lead.or_insert_with(|| Lead::of(routes));
                lead.as_ref().is_some_and(|it| it.takes(&reached))
                    && cx
                        .model
                        .virtual_services
                        .exposure(routes, Some(own))
                        .is_some()
            });
            let Some((routes, namespace)) = lead.and_then(|it| Some((it, it.namespace()?))) else {
                continue;
            };
            let Some((resource, sidecar)) = cx.model.sidecars.of(client) else {
                continue;
            };
            let egress = sidecar.egress.items().iter();
            let place = egress.filter_map(|it| it.value.hosts.as_ref()).next();
            let Some(place) = place.map(|it| it.key) else {
                continue;
            };
            let listeners = imports.entry(resource.span);
            let listeners = listeners
                .or_insert_with(|| EgressListener::all(Some(sidecar), Some(own), cx.version));
            let imported = |it: &EgressListener<'_>| {
                let hosts = routes.hosts.iter().take(HOSTS).map(|(host, _)| &**host);
                it.imports_virtual_service(Some(namespace), hosts)
            };
            let left_out = routes.hosts.len() <= HOSTS && !listeners.iter().any(imported);
            if !left_out || !out.is_first_for(place, routes.resource.span) {
                continue;
            }
            let message = format!(
                "this Sidecar leaves out the VirtualService `{namespace}/{}`, which leads `{host}` through the egress \
                 gateway: clients here go past it",
                routes.resource.name()
            );
            let line = routes.host_line(host).unwrap_or(routes.resource.kind);
            let together = cx.world.is_one_folder(resource.span.file, line.file);
            out.add(Basis::together(together), place, message, |finding| {
                finding
                    .because(line, "it is for this host")
                    .because(reached.host_line(), "the external host")
                    .help(format!("add `{namespace}/{host}` to `hosts`"))
            });
        }
    }
}

/// The ports that a VirtualService leads to another Service, if it has rules for gateways, too; by section.
struct Lead {
    http: Vec<Rule>,
    bytes: Vec<Rule>,
}

/// The ports that a rule is for; 0 stands for all.
type Rule = Vec<i64>;

impl Lead {
    fn of(routes: &Routes<'_>) -> Option<Self> {
        let bindings = &routes.bindings;
        if !bindings.contains(&Binding::Mesh) || bindings.len() < 2 {
            return None;
        }
        let destinations = routes.destinations();
        if !destinations
            .iter()
            .any(|(host, _)| service_of(host).is_some())
        {
            return None;
        }
        let bytes = [matches::tls(routes.spec), matches::tcp(routes.spec)];
        Some(Self {
            http: rules(matches::http(routes.spec)),
            bytes: bytes.into_iter().flat_map(rules).collect(),
        })
    }

    fn takes(&self, reached: &Reached<'_>) -> bool {
        let rules = match reached.hop.result.handler {
            Some(Handler::Http) => &self.http,
            _ => &self.bytes,
        };
        let port = i64::from(reached.path.port);
        let mut ports = rules.iter().flatten();
        ports.any(|it| *it == 0 || *it == port)
    }
}

fn rules(section: Option<Section<'_>>) -> Vec<Rule> {
    let rules = section.into_iter().flat_map(|it| it.rules).take(LOOKED_AT);
    let ports = rules.map(|rule| match rule.matches.as_slice() {
        [] => vec![0],
        matches => {
            let ports = matches.iter().take(LOOKED_AT);
            ports
                .map(|it| it.port.as_ref().map_or(0, |it| it.value))
                .collect()
        }
    });
    ports.collect()
}
