//! Which rules run, and how loud each is: the configuration and the command line, joined to the rules that exist.

use std::collections::BTreeMap;

use foldhash::HashMap;

use super::built_in::FIXED;
use crate::config::{self, Config, Level};
use crate::diag::{Diagnostic, RuleInfo, Severity, meant};
use crate::istio::IstioVersion;

/// The level of each rule of a run.
#[derive(Debug, Default)]
pub struct Levels {
    set: BTreeMap<String, Level>,
    only: Vec<String>,
}

/// A rule name on the command line that no rule has.
#[derive(Debug, thiserror::Error)]
#[error("there is no rule `{name}`{}", .meant.as_ref().map_or(String::new(), |meant| format!("; {meant}")))]
pub struct UnknownRule {
    name: String,
    meant: Option<String>,
}

impl Levels {
    /// The command line's `rules` win over the configuration's; of several for one rule the last counts.
    ///
    /// # Errors
    /// A name on the command line that is none of `known`, or one whose level is fixed.
    pub fn new(
        config: &Config,
        rules: &[(String, Level)],
        only: &[String],
        known: &[RuleInfo],
    ) -> Result<Self, UnknownRule> {
        let named = rules.iter().map(|(name, _)| name).chain(only);
        for name in named {
            if !known.iter().any(|rule| rule.name == name) {
                return Err(UnknownRule {
                    name: name.clone(),
                    meant: meant(name, known.iter().map(|rule| rule.name)),
                });
            }
        }
        let configured = config
            .rules
            .iter()
            .filter_map(|rule| Some((rule.name.value.clone(), rule.level.as_ref()?.value)));
        Ok(Self {
            set: configured.chain(rules.iter().cloned()).collect(),
            only: only.to_vec(),
        })
    }

    /// What findings of the rule get that the files prove; `None`: the rule is off or not selected.
    pub fn level(&self, rule: &RuleInfo) -> Option<Severity> {
        if FIXED.contains(&rule.name) {
            return Some(rule.severity);
        }
        if !self.only.is_empty() && !self.only.iter().any(|name| name == rule.name) {
            return None;
        }
        match self.set.get(rule.name) {
            Some(level) => level.severity(),
            None => Some(rule.severity),
        }
    }

    /// Gives the findings that no rule file made their level, and drops those that are not to be told. Admission also speaks
    /// under the names of rules.
    pub(super) fn adjust(&self, known: &[RuleInfo], findings: &mut Vec<Diagnostic>) {
        let levels = known
            .iter()
            .map(|rule| (rule.name, (rule.severity, self.level(rule))));
        let levels: HashMap<&str, (Severity, Option<Severity>)> = levels.collect();
        findings.retain_mut(|finding| match levels.get(finding.rule) {
            None => true,
            Some((_, None)) => false,
            Some(&(own, Some(level))) => {
                // What rests on facts that nobody gave stays advice.
                if finding.severity == own {
                    finding.severity = level;
                }
                true
            }
        });
    }
}

/// Says which names under `rules:` in the configuration no rule has.
pub(super) fn unknown_rules(config: &Config, known: &[RuleInfo]) -> Vec<Diagnostic> {
    let error = |rule: &config::RuleSettings, message: String| {
        Diagnostic::new(config::RULE, Severity::Error, rule.name.span, message)
    };
    config
        .rules
        .iter()
        .filter_map(|rule| {
            let name = rule.name.value.as_str();
            if FIXED.contains(&name) {
                return Some(error(rule, format!("the level of `{name}` is fixed")));
            }
            if known.iter().any(|known| known.name == name) {
                return None;
            }
            let finding = error(rule, format!("there is no rule `{name}`"));
            Some(match meant(name, known.iter().map(|rule| rule.name)) {
                Some(meant) => finding.help(meant),
                None => finding.help("see `egress-lint rules` for those that exist"),
            })
        })
        .collect()
}

/// The version of Istio that the configuration names; one that is not known is a finding.
pub fn istio_version(config: &Config, findings: &mut Vec<Diagnostic>) -> IstioVersion {
    let Some(written) = &config.istio else {
        return IstioVersion::default();
    };
    IstioVersion::parse(&written.value).unwrap_or_else(|| {
        let (oldest, newest) = (IstioVersion::OLDEST, IstioVersion::NEWEST);
        let message = format!(
            "`{}` is no version of Istio that is known here",
            written.value
        );
        findings.push(
            Diagnostic::new(config::RULE, Severity::Error, written.span, message)
                .help(format!("name one from {oldest} to {newest}")),
        );
        IstioVersion::default()
    })
}
