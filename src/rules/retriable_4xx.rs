//! `retriable-4xx`, which retries one code only.

use super::ways::HttpWay;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "retriable-4xx",
        summary: "`retriable-4xx` retries 409 only",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/retriable-4xx.md"),
    },
    build: super::plain::<Retriable4xx>,
};

#[derive(Debug, Default)]
pub(super) struct Retriable4xx;

impl Check for Retriable4xx {
    fn check_ways(&self, _: &Context<'_>, ways: &[HttpWay<'_>], out: &mut Findings) {
        for way in ways {
            let Some(policy) = &way.retry.value else {
                continue;
            };
            let Some(&place) = policy.retry_on.spans().first() else {
                continue;
            };
            let named = policy.retry_on.value.iter().any(|it| it == "retriable-4xx");
            if !named || !out.is_first(place) {
                continue;
            }
            let basis = Basis::assuming("other answers than 409 were meant, such as 429");
            let message = format!(
                "`retriable-4xx` retries answers with 409 only, on the way to `{}`",
                way.destination()
            );
            out.add(basis, place, message, |finding| {
                finding
                    .because(way.service.host.line, "the external host")
                    .help("name the codes that are meant, such as `429`")
            });
        }
    }
}
