//! `egress-lint rules` and `egress-lint explain`: what rules there are, and their pages.

use std::io::Write;

use anyhow::bail;

use super::arguments::{Explain, TextOrJson};
use super::exit::Exit;
use crate::diag::{Fixable, RuleInfo, meant};
use crate::engine::known_rules;
use crate::output::write_rules;

/// One line for each rule: name, level, fix, summary.
pub(super) fn list(format: TextOrJson, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let rules = known_rules();
    if format == TextOrJson::Json {
        write_rules(&rules, false, out)?;
        return Ok(Exit::Clean);
    }
    let width = |of: fn(&RuleInfo) -> &str| rules.iter().map(of).map(str::len).max().unwrap_or(0);
    let names = width(|rule| rule.name);
    let levels = width(|rule| rule.severity.name());
    let fixes = width(|rule| fix(rule.fixable));
    for rule in &rules {
        let (name, level, fix) = (rule.name, rule.severity.name(), fix(rule.fixable));
        writeln!(
            out,
            "{name:names$}  {level:levels$}  {fix:fixes$}  {}",
            rule.summary
        )?;
    }
    Ok(Exit::Clean)
}

fn fix(fixable: Fixable) -> &'static str {
    match fixable {
        Fixable::Always => "fix",
        Fixable::Sometimes => "some",
        Fixable::Never => "-",
    }
}

/// The page of one rule, or of all.
pub(super) fn explain(arguments: &Explain, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut rules = known_rules();
    if let Some(name) = &arguments.rule {
        match rules.iter().find(|rule| rule.name == name) {
            Some(&rule) => rules = vec![rule],
            None => match meant(name, rules.iter().map(|rule| rule.name)) {
                Some(meant) => bail!("there is no rule `{name}`; {meant}"),
                None => bail!("there is no rule `{name}`; see `egress-lint rules`"),
            },
        }
    }
    if arguments.format == TextOrJson::Json {
        write_rules(&rules, true, out)?;
        return Ok(Exit::Clean);
    }
    for (index, rule) in rules.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", rule.page.trim_end())?;
    }
    Ok(Exit::Clean)
}
