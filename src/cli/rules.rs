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

/// The page of one rule, or of all; or what an experiment showed.
pub(super) fn explain(arguments: &Explain, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut rules = known_rules();
    let named = arguments.rule.as_deref();
    if let Some(experiment) = named.and_then(experiment) {
        if arguments.format == TextOrJson::Json {
            bail!("experiments are told in Markdown: leave out `--format json`");
        }
        writeln!(out, "{}", experiment.trim_end())?;
        return Ok(Exit::Clean);
    }
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

/// What was measured, one section for each experiment.
const MEASUREMENTS: &str = include_str!("../../docs/measurements.md");

/// The section of an experiment: `E2`, or `E2B` that is told with it.
fn experiment(name: &str) -> Option<&'static str> {
    let number = name.strip_prefix(['E', 'e'])?;
    let number = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let start = MEASUREMENTS.find(&format!("\n## E{number}: "))? + 1;
    let section = MEASUREMENTS.get(start..)?;
    let end = section.find("\n## ").unwrap_or(section.len());
    section.get(..end)
}

#[cfg(test)]
mod tests {
    use super::experiment;

    #[test]
    fn an_experiment_is_found_by_its_number() {
        assert!(experiment("E1").is_some_and(|it| it.starts_with("## E1: ")));
        assert_eq!(experiment("E1N"), experiment("e1"));
        for none in ["E", "E0", "E99", "ejection-budget-zero", "E1: ", ""] {
            assert_eq!(experiment(none), None, "{none}");
        }
    }
}
