//! Two limits for retries, of which one counts.

use super::context::policies;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "max-retries-overridden",
        summary: "`maxRetries` has no effect beside `retryBudget`",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/max-retries-overridden.md"),
    },
    build: super::plain::<MaxRetriesOverridden>,
};

#[derive(Debug, Default)]
pub(super) struct MaxRetriesOverridden;

impl Check for MaxRetriesOverridden {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let both = policies(rule).filter_map(|policy| {
                let http = policy.connection_pool.as_ref()?.value.http.as_ref()?;
                Some((
                    http.value.max_retries.as_ref()?,
                    policy.retry_budget.as_ref()?,
                ))
            });
            // 0 is no limit, which is said elsewhere.
            let mut both = both.filter(|(most, _)| most.value > 0).peekable();
            let (Some(host), Some(_)) = (&rule.host, both.peek()) else {
                continue;
            };
            let Some(external) = cx.external_under(&host.value, resource.namespace()) else {
                continue;
            };
            for (most, budget) in both {
                let message = format!(
                    "`maxRetries: {}` has no effect: with `retryBudget` that alone limits the retries to `{}`",
                    most.value, external.host
                );
                out.add(Basis::Proven, most.key, message, |finding| {
                    finding
                        .because(budget.key, "what counts")
                        .because(external.line, "the external host")
                        .help("remove one of the two")
                });
            }
        }
    }
}
