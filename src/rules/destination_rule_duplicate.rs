//! Two DestinationRules of which one loses.

use foldhash::HashMap;

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::to_fqdn;
use crate::istio::decode::Items;
use crate::istio::resource::Resource;
use crate::istio::traffic::DestinationRule;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "destination-rule-duplicate",
        summary: "two DestinationRules for one host: of two policies or subsets of one name the second is not used",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/destination-rule-duplicate.md"),
    },
    build: super::plain::<DestinationRuleDuplicate>,
};

#[derive(Debug, Default)]
pub(super) struct DestinationRuleDuplicate;

impl Check for DestinationRuleDuplicate {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let mut first: HashMap<(Option<&str>, String), (&Resource, &DestinationRule)> =
            HashMap::default();
        for (resource, rule) in cx.destination_rules() {
            let Some(host) = rule
                .host
                .as_ref()
                .filter(|_| rule.workload_selector.is_none())
            else {
                continue;
            };
            let key = (
                resource.namespace(),
                to_fqdn(&host.value, resource.namespace()),
            );
            let Some((other, earlier)) = first.get(&key) else {
                first.insert(key, (resource, rule));
                continue;
            };
            // The same object again, from a copy of the file, is another matter; so are rules for different audiences.
            if other.name() == resource.name() || exports(earlier) != exports(rule) {
                continue;
            }
            let Some((what, lost, kept)) = loss(earlier, rule) else {
                continue;
            };
            let message = format!(
                "{what} is not used: `{}` is for `{}` in the same namespace, and of two the older one wins as a whole",
                other.name(),
                host.value
            );
            let basis = Basis::together(cx.world.is_one_folder(kept.file, lost.file));
            out.add(basis, lost, message, |finding| {
                finding
                    .because(kept, "this one is used, if it is the older")
                    .help("make one rule of the two")
            });
        }
    }
}

fn exports(rule: &DestinationRule) -> Vec<&str> {
    let mut all: Vec<_> = rule
        .export_to
        .items()
        .iter()
        .map(|it| it.value.as_str())
        .collect();
    all.sort_unstable();
    all
}

/// What the later of two rules loses, and the lines of it and of what is used instead.
fn loss(earlier: &DestinationRule, later: &DestinationRule) -> Option<(String, Span, Span)> {
    if let (Some(kept), Some(lost)) = (&earlier.traffic_policy, &later.traffic_policy) {
        return Some(("this `trafficPolicy`".to_owned(), lost.key, kept.key));
    }
    later.subsets.items().iter().find_map(|subset| {
        let name = subset.value.name.as_ref()?;
        let mut known = earlier
            .subsets
            .items()
            .iter()
            .filter_map(|it| it.value.name.as_ref());
        let kept = known.find(|it| it.value == name.value)?;
        Some((
            format!("the subset `{}` here", name.value),
            name.span,
            kept.span,
        ))
    })
}
