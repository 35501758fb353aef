//! Two entries of `portLevelSettings` for one port.

use std::collections::HashMap;

use super::context::policies;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "port-level-duplicate",
        summary: "of two `portLevelSettings` entries for one port the second is never used",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/port-level-duplicate.md"),
    },
    build: super::plain::<PortLevelDuplicate>,
};

#[derive(Debug, Default)]
pub(super) struct PortLevelDuplicate;

impl Check for PortLevelDuplicate {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (_, rule) in cx.destination_rules() {
            for policy in policies(rule) {
                let mut first: HashMap<i64, Span> = HashMap::new();
                for entry in policy.port_level_settings.items() {
                    let selector = entry.port.as_ref();
                    let Some(number) = selector.and_then(|port| port.number.as_ref()) else {
                        continue;
                    };
                    let Some(&used) = first.get(&number.value) else {
                        first.insert(number.value, number.span);
                        continue;
                    };
                    let message = format!(
                        "this `portLevelSettings` entry is never used: an earlier one is for port {} too",
                        number.value
                    );
                    out.add(Basis::Proven, number.span, message, |finding| {
                        finding
                            .because(used, "the first entry for the port is used")
                            .help("move what it sets into the first entry; entries are not merged")
                    });
                }
            }
        }
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["port-level-unknown-port"]
    }
}
