//! `consecutiveErrors` of outlier detection, which Istio no longer reads.

use std::collections::BTreeMap;

use super::context::policies;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::istio::decode::Items;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "consecutive-errors-ignored",
        summary: "`outlierDetection.consecutiveErrors` is not read: Envoy's default of 5 applies",
        severity: Severity::Warning,
        fixable: Fixable::Always,
        since: "0.1.0",
        page: include_str!("../../rules/consecutive-errors-ignored.md"),
    },
    build: super::plain::<ConsecutiveErrorsIgnored>,
};

#[derive(Debug, Default)]
pub(super) struct ConsecutiveErrorsIgnored;

impl Check for ConsecutiveErrorsIgnored {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (_, rule) in cx.destination_rules() {
            // By what is written and what counts instead: one word for all blocks of a rule that are alike.
            let mut alike: BTreeMap<_, Vec<Span>> = BTreeMap::new();
            for policy in policies(rule) {
                let ports = policy.port_level_settings.items().iter();
                let of_ports = ports.filter_map(|port| port.outlier_detection.as_ref());
                for block in policy.outlier_detection.iter().chain(of_ports) {
                    let errors = block.consecutive_errors.as_ref();
                    let Some(errors) = errors.filter(|it| it.value != 0) else {
                        continue;
                    };
                    let other = block.consecutive_5xx_errors.as_ref();
                    let key = (errors.value, other.map(|it| it.value));
                    alike.entry(key).or_default().push(errors.key);
                }
            }
            for ((value, other), places) in alike {
                report(cx, value, other, &places, out);
            }
        }
    }
}

/// How many answers with a 5xx code Envoy waits for by itself.
const DEFAULT: i64 = 5;

/// So many blocks of a rule are labelled.
const BLOCKS: usize = 16;

/// `other` is `consecutive5xxErrors` beside it.
fn report(cx: &Context<'_>, value: i64, other: Option<i64>, places: &[Span], out: &mut Findings) {
    let Some((first, rest)) = places.split_first() else {
        return;
    };
    let (instead, help) = match other {
        Some(other) => (
            format!("what counts is `consecutive5xxErrors: {other}`"),
            "remove it".to_owned(),
        ),
        None => (
            match value {
                DEFAULT => "Envoy's default happens to be the same, for answers with a 5xx code",
                _ => "5 answers with a 5xx code in a row eject a host, Envoy's default",
            }
            .to_owned(),
            format!("write `consecutive5xxErrors: {value}`"),
        ),
    };
    let message = format!("`consecutiveErrors: {value}` is not read: {instead}");
    out.add(Basis::Proven, *first, message, |finding| {
        let rest = rest.iter().take(BLOCKS);
        let finding = rest.fold(finding, |finding, place| {
            finding.because(*place, "nor is this one")
        });
        finding.help(help).fix(fix(cx, other.is_some(), places))
    });
}

fn fix(cx: &Context<'_>, is_beside: bool, places: &[Span]) -> Option<Fix> {
    let name = "consecutive5xxErrors";
    let edit = |place: &Span| match is_beside {
        true => cx.texts.edit(*place, |it| it.remove()),
        false => cx.texts.edit(*place, |it| it.rename(name)),
    };
    let edits: Option<Vec<_>> = places.iter().map(edit).collect();
    let (safety, message) = match is_beside {
        true => (Safety::Safe, "remove it".to_owned()),
        // The old field counted gateway errors, too; which of the two is meant only its author knows.
        false => (Safety::Unsafe, format!("call it `{name}`")),
    };
    Some(Fix {
        safety,
        message,
        edits: edits?,
    })
}
