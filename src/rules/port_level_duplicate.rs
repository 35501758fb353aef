//! Two entries of `portLevelSettings` for one port.

use foldhash::HashMap;

use super::context::policies;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::istio::decode::Items;
use crate::istio::traffic::PortTrafficPolicy;
use crate::source::{Span, Spanned};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "port-level-duplicate",
        summary: "of two `portLevelSettings` entries for one port the second is never used",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
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
                let mut first: HashMap<i64, &Spanned<PortTrafficPolicy>> = HashMap::default();
                for entry in policy.port_level_settings.items() {
                    let selector = entry.port.as_ref();
                    let Some(number) = selector.and_then(|port| port.number.as_ref()) else {
                        continue;
                    };
                    let Some(&used) = first.get(&number.value) else {
                        first.insert(number.value, entry);
                        continue;
                    };
                    let message = format!(
                        "this `portLevelSettings` entry is never used: an earlier one is for port {} too",
                        number.value
                    );
                    let fix = fix(cx, used.key, entry.key);
                    let help = match fix {
                        Some(_) => "remove it: it says the same",
                        None => "move what it sets into the first entry; entries are not merged",
                    };
                    out.add(Basis::Proven, number.span, message, |finding| {
                        finding
                            .because(used.key, "the first entry for the port is used")
                            .help(help)
                            .fix(fix)
                    });
                }
            }
        }
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["port-level-unknown-port"]
    }
}

/// A copy of the entry that is used can go; what says something else may be what was meant.
fn fix(cx: &Context<'_>, used: Span, unused: Span) -> Option<Fix> {
    let value = |entry| cx.texts.value(entry);
    if value(used)? != value(unused)? {
        return None;
    }
    let edit = cx.texts.edit(unused, |it| it.remove())?;
    Some(Fix::new(
        Safety::Safe,
        "remove the second of two equal entries",
        edit,
    ))
}
