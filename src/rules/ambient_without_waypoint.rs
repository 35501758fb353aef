//! A policy for HTTP where only ztunnel is.

use foldhash::HashMap;

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "ambient-without-waypoint",
        summary: "a DestinationRule in an ambient namespace has no effect on a host without a waypoint",
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
        let namespaces = cx
            .world
            .resources
            .iter()
            .filter(|it| matches!(it.spec, Spec::Namespace));
        let ambient: HashMap<&str, (&Resource, Span)> = namespaces
            .filter_map(|it| {
                let mode = it.meta.labels.get("istio.io/dataplane-mode")?;
                (mode.value == "ambient").then_some((it.name(), (*it, mode.span)))
            })
            .collect();
        for (resource, rule) in cx.destination_rules() {
            let namespace = resource.namespace().and_then(|it| ambient.get(it));
            let subsets = rule.subsets.items().iter();
            let mut of_subsets = subsets.filter_map(|it| it.traffic_policy.as_deref());
            let policy = rule.traffic_policy.as_ref().or_else(|| of_subsets.next());
            let (Some((namespace, label)), Some(host), Some(policy)) =
                (namespace, &rule.host, policy)
            else {
                continue;
            };
            let Some(external) = cx.external_under(&host.value, resource.namespace()) else {
                continue;
            };
            let own = external.definition.resource;
            let bound = uses_waypoint(own) || uses_waypoint(namespace);
            if bound || own.namespace() != resource.namespace() {
                continue;
            }
            let message = format!(
                "this policy has no effect: `{}` uses no waypoint, and ztunnel moves bytes without looking at rules",
                external.host
            );
            out.add(Basis::Proven, policy.key, message, |finding| {
                finding
                    .because(*label, "the namespace is ambient")
                    .because(external.line, "the external host")
                    .help("bind the ServiceEntry to a waypoint with the label `istio.io/use-waypoint`")
            });
        }
    }
}

fn uses_waypoint(resource: &Resource) -> bool {
    let label = resource.meta.labels.get("istio.io/use-waypoint");
    label.is_some_and(|it| !it.value.is_empty() && it.value != "none")
}
