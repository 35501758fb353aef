//! Failover between localities that no endpoint names.

use super::context::Defined;
use super::levels::levels;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::istio::service::WorkloadEntry;
use crate::istio::traffic::{DestinationRule, LocalityLbSetting};
use crate::source::{Span, Spanned};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "failover-endpoint-without-locality",
        summary: "failover goes by localities, but no endpoint of the host has a `locality`",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/failover-endpoint-without-locality.md"),
    },
    build: super::plain::<FailoverEndpointWithoutLocality>,
};

#[derive(Debug, Default)]
pub(super) struct FailoverEndpointWithoutLocality;

impl Check for FailoverEndpointWithoutLocality {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let Some(host) = &rule.host else { continue };
            let settings = levels(rule).filter_map(|level| level.load_balancer);
            let mut orders =
                settings.filter_map(|it| Order::of(it.value.locality_lb_setting.as_ref()?));
            let Some(order) = orders.next() else { continue };
            for defined in cx.hosts_under(&host.value, resource.namespace()) {
                let Spec::ServiceEntry(entry) = &defined.definition.resource.spec else {
                    continue;
                };
                if !is_all_there_is(cx, (resource, rule), &defined) {
                    continue;
                }
                let endpoints = entry.endpoints.items();
                let mut unknown = endpoints.iter().filter(|it| !order.knows(&it.value));
                let Some(first) = unknown.next().filter(|_| endpoints.len() > 1) else {
                    continue;
                };
                if !out.is_first(first.span) {
                    continue;
                }
                let (count, host) = (unknown.count() + 1, defined.host);
                let (basis, message) = match endpoints.len() {
                    all if all == count => (
                        Basis::Proven,
                        format!(
                            "none of the {all} endpoints of `{host}` has a `locality`: all have the same priority, and \
                             `{}` has nothing to choose between",
                            order.name,
                        ),
                    ),
                    all => (
                        Basis::assuming("it is not there for the case that nothing else is left"),
                        format!(
                            "a client that knows its region prefers others to the {count} of {all} endpoints of \
                             `{host}` without a `locality`",
                        ),
                    ),
                };
                out.add(basis, first.key, message, |finding| {
                    finding
                        .because(order.key, "the policy that orders endpoints")
                        .absent("locality")
                        .help("set `locality` on each endpoint, as the policy spells it")
                });
            }
        }
    }
}

/// Whether the endpoints of a host are surely those of one entry, and the rule the one that orders them.
fn is_all_there_is(
    cx: &Context<'_>,
    (resource, rule): (&Resource, &DestinationRule),
    defined: &Defined<'_>,
) -> bool {
    let definition = defined.definition;
    let (own, others) = (definition.namespace(), resource.namespace());
    let declared = &definition.export_to;
    let is_seen = own == others
        || match declared.is_empty() {
            true => cx.default_export_to().all(|it| it == "*"),
            false => declared.iter().any(|it| &**it == "*"),
        };
    let mut rules = cx.rules_for(defined.host);
    is_seen
        && definition.selector.is_none()
        && cx.model.registry.of_host(defined.host).count() == 1
        && rules.all(|(_, it)| std::ptr::eq(it, rule))
}

/// What a policy orders endpoints by.
struct Order<'r> {
    key: Span,
    name: &'static str,
    /// Those of `failoverPriority`.
    labels: Vec<&'r str>,
}

/// The labels that Istio makes of the locality of an endpoint.
const OF_LOCALITY: [&str; 3] = [
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.istio.io/subzone",
];

/// What Istio takes for the locality of an endpoint without one.
const OF_ENDPOINT: &str = "istio-locality";

impl<'r> Order<'r> {
    /// `None` where it goes by something else than localities.
    fn of(setting: &'r Spanned<LocalityLbSetting>) -> Option<Self> {
        let LocalityLbSetting {
            failover,
            failover_priority,
            enabled,
            ..
        } = &setting.value;
        let name = match (failover.items(), failover_priority.items()) {
            ([], []) => return None,
            ([], _) => "failoverPriority",
            _ => "failover",
        };
        let priority = failover_priority.items().iter();
        let labels: Vec<_> = priority
            .map(|it| it.value.split('=').next().unwrap_or_default())
            .collect();
        let is_on = enabled.as_ref().is_none_or(|on| on.value);
        let by_locality = labels.iter().all(|label| OF_LOCALITY.contains(label));
        let key = setting.key;
        (is_on && by_locality).then_some(Self { key, name, labels })
    }

    /// Whether it can tell this endpoint from others.
    fn knows(&self, endpoint: &WorkloadEntry) -> bool {
        let labels = endpoint.labels.as_ref();
        let has = |label: &&str| labels.is_some_and(|own| own.value.get(label).is_some());
        endpoint.locality.is_some() || has(&OF_ENDPOINT) || self.labels.iter().any(has)
    }
}
