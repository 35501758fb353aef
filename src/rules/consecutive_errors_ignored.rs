//! `consecutiveErrors` of outlier detection, which Istio no longer reads.

use super::context::policies;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Edit, Fix, Fixable, Safety, Severity};
use crate::istio::decode::Items;
use crate::istio::traffic::OutlierDetection;
use crate::source::Spanned;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "consecutive-errors-ignored",
        summary: "`outlierDetection.consecutiveErrors` is not read: Envoy's default of 5 applies",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
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
                    judge(block, out);
                }
            }
        }
    }
}

fn judge(block: &Spanned<Box<OutlierDetection>>, out: &mut Findings) {
    let Some(errors) = block.consecutive_errors.as_ref().filter(|it| it.value != 0) else {
        return;
    };
    let value = errors.value;
    let (instead, help) = match &block.consecutive_5xx_errors {
        Some(other) => (
            format!("what counts is `consecutive5xxErrors: {}`", other.value),
            "remove it".to_owned(),
        ),
        None => (
            "5 answers with a 5xx code in a row eject a host, Envoy's default".to_owned(),
            format!("write `consecutive5xxErrors: {value}`"),
        ),
    };
    let message = format!("`consecutiveErrors: {value}` is not read: {instead}");
    out.add(Basis::Proven, errors.key, message, |finding| {
        let finding = finding.help(help);
        if block.consecutive_5xx_errors.is_some() {
            return finding;
        }
        finding.fix(Fix {
            // The old field counted gateway errors, too; which of the two is meant only its author knows.
            safety: Safety::Unsafe,
            message: "call it `consecutive5xxErrors`".to_owned(),
            edits: vec![Edit {
                span: errors.key,
                text: "consecutive5xxErrors".to_owned(),
            }],
        })
    });
}
