//! A policy for HTTP where only ztunnel is.

use super::ambient::{Ambient, OtherEnvoys};
use super::context::Defined;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::istio::resource::Resource;
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
        if ambient.is_empty() {
            return;
        }
        let others = OtherEnvoys::new(cx, &ambient);
        let only_ztunnel =
            |resource: &Resource, host: &str| only_ztunnel(cx, &ambient, &others, resource, host);
        for (resource, rule) in cx.destination_rules() {
            let subsets = rule.subsets.items().iter();
            let mut of_subsets = subsets.filter_map(|it| it.traffic_policy.as_deref());
            let policy = rule.traffic_policy.as_ref().or_else(|| of_subsets.next());
            if let (Some(host), Some(policy)) = (&rule.host, policy)
                && let Some(found) = only_ztunnel(resource, &host.value)
            {
                report(policy.key, "this policy has", "rules", found, out);
            }
        }
        for (resource, service) in cx.virtual_services() {
            let http = service.http.as_ref().map(|section| section.key);
            let tls = service.tls.as_ref().map(|section| section.key);
            let tcp = service.tcp.as_ref().map(|section| section.key);
            let Some(key) = http.or(tls).or(tcp) else {
                continue;
            };
            let hosts = service.hosts.items().iter();
            let mut found = hosts.filter_map(|host| only_ztunnel(resource, &host.value));
            if let Some(found) = found.next() {
                report(key, "these routes have", "routes", found, out);
            }
        }
    }
}

/// A host to which only ztunnel is on the way.
struct OnlyZtunnel<'c> {
    basis: Basis,
    /// The line that makes the namespace ambient.
    label: Span,
    external: Defined<'c>,
}

/// The external host of the same ambient namespace that a rule is for, if nothing but ztunnel is on the way to it.
fn only_ztunnel<'c>(
    cx: &'c Context<'_>,
    ambient: &Ambient<'_>,
    others: &OtherEnvoys<'_>,
    resource: &Resource,
    host: &str,
) -> Option<OnlyZtunnel<'c>> {
    let own = resource.namespace()?;
    let (namespace, label) = ambient.get(Some(own))?;
    let external = cx.external_under(host, Some(own))?;
    let entry = external.definition.resource;
    let bound = uses_waypoint(entry) || uses_waypoint(namespace);
    if bound || entry.namespace() != Some(own) || others.may_use(cx, ambient, external.host, own) {
        return None;
    }
    Some(OnlyZtunnel {
        basis: ambient.basis_for_all(own),
        label,
        external,
    })
}

fn report(place: Span, this_has: &str, what: &str, found: OnlyZtunnel<'_>, out: &mut Findings) {
    let external = found.external;
    let message = format!(
        "{this_has} no effect: `{}` uses no waypoint, and ztunnel moves bytes without looking at {what}",
        external.host
    );
    out.add(found.basis, place, message, |finding| {
        finding
            .because(found.label, "the namespace is ambient")
            .because(external.line, "the external host")
            .help("bind the ServiceEntry to a waypoint (an Envoy proxy) with the label `istio.io/use-waypoint`")
    });
}

fn uses_waypoint(resource: &Resource) -> bool {
    let label = resource.meta.labels.get("istio.io/use-waypoint");
    label.is_some_and(|it| !it.value.is_empty() && it.value != "none")
}
