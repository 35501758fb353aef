//! `consecutiveErrors` of outlier detection, which Istio no longer reads.

use super::context::policies;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::istio::decode::Items;
use crate::istio::traffic::OutlierDetection;
use crate::source::Spanned;

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
            for policy in policies(rule) {
                let ports = policy.port_level_settings.items().iter();
                let of_ports = ports.filter_map(|port| port.outlier_detection.as_ref());
                for block in policy.outlier_detection.iter().chain(of_ports) {
                    judge(cx, block, out);
                }
            }
        }
    }
}

/// How many answers with a 5xx code Envoy waits for by itself.
const DEFAULT: i64 = 5;

fn judge(cx: &Context<'_>, block: &Spanned<Box<OutlierDetection>>, out: &mut Findings) {
    let Some(errors) = block.consecutive_errors.as_ref().filter(|it| it.value != 0) else {
        return;
    };
    let value = errors.value;
    let instead_of = block.consecutive_5xx_errors.as_ref();
    // Then nothing happens but what was asked for.
    let basis = match instead_of.map_or(DEFAULT, |it| it.value) == value {
        true => Basis::assuming("somebody may change the number and wait for an effect"),
        false => Basis::Proven,
    };
    let (instead, help) = match instead_of {
        Some(other) => (
            format!("what counts is `consecutive5xxErrors: {}`", other.value),
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
    out.add(basis, errors.key, message, |finding| {
        finding.help(help).fix(match instead_of {
            Some(_) => {
                let edit = cx.texts.edit(errors.key, |it| it.remove());
                edit.map(|edit| Fix::new(Safety::Safe, "remove it", edit))
            }
            // The old field counted gateway errors, too; which of the two is meant only its author knows.
            None => {
                let name = "consecutive5xxErrors";
                let edit = cx.texts.edit(errors.key, |it| it.rename(name));
                edit.map(|edit| Fix::new(Safety::Unsafe, format!("call it `{name}`"), edit))
            }
        })
    });
}
