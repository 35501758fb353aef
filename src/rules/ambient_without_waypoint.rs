//! A policy for HTTP where only ztunnel is.

use foldhash::HashMap;

use super::context::Defined;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::istio::route::VirtualService;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "ambient-without-waypoint",
        summary: "rules and routes of an ambient namespace have no effect on a host without a waypoint",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/ambient-without-waypoint.md"),
    },
    build: super::plain::<AmbientWithoutWaypoint>,
};

#[derive(Debug, Default)]
pub(super) struct AmbientWithoutWaypoint;

impl Check for AmbientWithoutWaypoint {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let ambient = Ambient::of(cx);
        for (resource, rule) in cx.destination_rules() {
            let subsets = rule.subsets.items().iter();
            let mut of_subsets = subsets.filter_map(|it| it.traffic_policy.as_deref());
            let policy = rule.traffic_policy.as_ref().or_else(|| of_subsets.next());
            if let (Some(host), Some(policy)) = (&rule.host, policy)
                && let Some(found) = ambient.without_waypoint(cx, resource, &host.value)
            {
                report(policy.key, "this policy has", "rules", found, out);
            }
        }
        for (resource, service) in cx.virtual_services() {
            let http = service.http.as_ref().map(|section| section.key);
            let tls = service.tls.as_ref().map(|section| section.key);
            let tcp = service.tcp.as_ref().map(|section| section.key);
            let section = http.or(tls).or(tcp);
            let Some(key) = section.filter(|_| is_for_mesh(service)) else {
                continue;
            };
            let hosts = service.hosts.items().iter();
            let mut found =
                hosts.filter_map(|host| ambient.without_waypoint(cx, resource, &host.value));
            if let Some(found) = found.next() {
                report(key, "these routes have", "routes", found, out);
            }
        }
    }
}

/// The ambient namespaces, with the line that makes them so.
pub(super) struct Ambient<'a>(HashMap<&'a str, (&'a Resource, Span)>);

impl<'a> Ambient<'a> {
    pub(super) fn of(cx: &Context<'a>) -> Self {
        let namespaces = cx
            .world
            .resources
            .iter()
            .filter(|it| matches!(it.spec, Spec::Namespace));
        let ambient = namespaces.filter_map(|it| {
            let mode = it.meta.labels.get("istio.io/dataplane-mode")?;
            (mode.value == "ambient").then_some((it.name(), (*it, mode.span)))
        });
        Self(ambient.collect())
    }

    /// The line that makes a namespace ambient.
    pub(super) fn label(&self, namespace: Option<&str>) -> Option<Span> {
        self.0.get(namespace?).map(|(_, label)| *label)
    }

    /// The external host of the same ambient namespace that is meant, where only ztunnel is on the way to it; and the
    /// line that makes the namespace ambient.
    fn without_waypoint<'c>(
        &self,
        cx: &'c Context<'_>,
        resource: &Resource,
        host: &str,
    ) -> Option<(Span, Defined<'c>)> {
        let &(namespace, label) = self.0.get(resource.namespace()?)?;
        let external = cx.external_under(host, resource.namespace())?;
        let own = external.definition.resource;
        let bound = uses_waypoint(own) || uses_waypoint(namespace);
        (!bound && own.namespace() == resource.namespace()).then_some((label, external))
    }
}

fn report(
    place: Span,
    this_has: &str,
    what: &str,
    (label, external): (Span, Defined<'_>),
    out: &mut Findings,
) {
    let message = format!(
        "{this_has} no effect: `{}` uses no waypoint, and ztunnel moves bytes without looking at {what}",
        external.host
    );
    out.add(Basis::Proven, place, message, |finding| {
        finding
            .because(label, "the namespace is ambient")
            .because(external.line, "the external host")
            .help("bind the ServiceEntry to a waypoint with the label `istio.io/use-waypoint`")
    });
}

/// Whether workloads are to use it, not only gateways.
fn is_for_mesh(service: &VirtualService) -> bool {
    let gateways = service.gateways.items();
    gateways.is_empty() || gateways.iter().any(|it| it.value == "mesh")
}

fn uses_waypoint(resource: &Resource) -> bool {
    let label = resource.meta.labels.get("istio.io/use-waypoint");
    label.is_some_and(|it| !it.value.is_empty() && it.value != "none")
}
