//! Two DestinationRules of which one loses.

use std::borrow::Cow;

use foldhash::HashMap;

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::to_fqdn;
use crate::istio::decode::Items;
use crate::istio::resource::Resource;
use crate::istio::traffic::DestinationRule;
use crate::source::{Sources, Span};

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

/// A namespace, a host, and the labels of the clients. Rules for other clients are other rules.
type Audience<'c> = (
    Option<&'c str>,
    Cow<'c, str>,
    Option<Vec<(&'c str, &'c str)>>,
);

impl Check for DestinationRuleDuplicate {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let mut first: HashMap<Audience<'_>, (&Resource, &DestinationRule)> = HashMap::default();
        for (resource, rule) in cx.destination_rules() {
            let Some(host) = &rule.host else { continue };
            let key = (
                resource.namespace(),
                to_fqdn(&host.value, resource.namespace()),
                selected(rule),
            );
            let Some((other, earlier)) = first.get(&key) else {
                first.insert(key, (resource, rule));
                continue;
            };
            // The same object again, from a copy of the file, is another matter.
            if other.name() == resource.name() {
                continue;
            }
            // With labels `exportTo` does not count: such a rule stays in its namespace.
            if rule.workload_selector.is_none() && exports(earlier) != exports(rule) {
                // What is for different audiences is another matter, too.
                if is_for_all(cx, earlier) && is_for_all(cx, rule) {
                    report_unmerged(cx, (other, earlier), (resource, rule), out);
                }
                continue;
            }
            let Some(Loss { what, lost, kept }) = loss(cx.sources, earlier, rule) else {
                continue;
            };
            let message = format!(
                "of two {what} for `{}` only the older counts, and the other is lost: this one or that of the rule `{}`",
                host.value,
                other.name(),
            );
            let basis = basis(cx, resource, (kept, lost));
            out.add(basis, lost, message, |finding| {
                finding
                    .because(kept, "this one is used, if it is the older")
                    .help("make one rule of the two")
            });
        }
    }
}

/// What it rests on that two rules are in one namespace, as far as `one` says it.
fn basis(cx: &Context<'_>, one: &Resource, (a, b): (Span, Span)) -> Basis {
    match one.namespace().is_some() || cx.world.belong_together(a.file, b.file) {
        true => Basis::together(cx.world.is_one_folder(a.file, b.file)),
        false => Basis::assuming("both are applied to one namespace"),
    }
}

/// Two rules for the same clients that spell `exportTo` differently are not merged, and the later one is used.
fn report_unmerged(
    cx: &Context<'_>,
    (earlier, lost): (&Resource, &DestinationRule),
    (later, kept): (&Resource, &DestinationRule),
    out: &mut Findings,
) {
    let policy = lost.traffic_policy.as_ref().map(|it| it.key);
    let subsets = lost.subsets.as_ref().map(|it| it.key);
    let (Some(place), Some(host)) = (policy.or(subsets), &kept.host) else {
        return;
    };
    let basis = basis(cx, later, (earlier.span, later.span));
    let message = format!(
        "this is not used: `{}` is for the same host and clients, but is not merged, as only one of the two has `exportTo`",
        later.name()
    );
    out.add(basis, place, message, |finding| {
        let exported = [lost, kept]
            .into_iter()
            .find_map(|it| it.export_to.as_ref());
        exported
            .into_iter()
            .fold(finding, |finding, it| {
                finding.because(
                    it.key,
                    "the same as no `exportTo`, but compared by its spelling",
                )
            })
            .because(host.span, "this one is used, if it is the newer")
            .help("make one rule of the two, or give both the same `exportTo`")
    });
}

/// Whether a rule is exported to every namespace.
fn is_for_all(cx: &Context<'_>, rule: &DestinationRule) -> bool {
    match exports(rule).as_slice() {
        [] => !cx.model.mesh.rules_are_private(),
        ["*"] => true,
        _ => false,
    }
}

/// The labels of the clients that a rule is for; `None` where it is for all.
fn selected(rule: &DestinationRule) -> Option<Vec<(&str, &str)>> {
    let selector = rule.workload_selector.as_ref()?;
    let labels = selector.match_labels.iter().flat_map(|it| it.value.iter());
    let mut labels: Vec<_> = labels
        .map(|(key, value)| (key.value.as_str(), value.value.as_str()))
        .collect();
    labels.sort_unstable();
    Some(labels)
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
struct Loss {
    /// In the plural.
    what: String,
    lost: Span,
    kept: Span,
}

/// `None` where both say the same, so that nothing is lost.
fn loss(sources: &Sources, earlier: &DestinationRule, later: &DestinationRule) -> Option<Loss> {
    if let (Some(kept), Some(lost)) = (&earlier.traffic_policy, &later.traffic_policy) {
        return (!say_the_same(sources, kept.span, lost.span)).then(|| Loss {
            what: "policies".to_owned(),
            lost: lost.key,
            kept: kept.key,
        });
    }
    later.subsets.items().iter().find_map(|subset| {
        let name = subset.value.name.as_ref()?;
        let kept = earlier.subsets.items().iter().find(|it| {
            let other = it.value.name.as_ref();
            other.is_some_and(|other| other.value == name.value)
        })?;
        if say_the_same(sources, kept.span, subset.span) {
            return None;
        }
        Some(Loss {
            what: format!("subsets `{}`", name.value),
            lost: name.span,
            kept: kept.value.name.as_ref()?.span,
        })
    })
}

/// Whether two blocks differ in blanks alone.
fn say_the_same(sources: &Sources, one: Span, other: Span) -> bool {
    let words = |span| sources.text(span).split_ascii_whitespace();
    words(one).eq(words(other))
}
