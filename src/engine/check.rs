//! From what the files hold to the report.

use super::about;
use super::levels::unknown_rules;
use super::{BUILT_IN, Levels, Loaded, report};
use crate::config::Config;
use crate::diag::{Report, RuleInfo};
use crate::rules;
use crate::istio::IstioVersion;

/// What a check needs to know beside the files.
#[derive(Debug)]
pub struct Settings<'a> {
    pub config: &'a Config,
    pub levels: &'a Levels,
    pub istio_version: IstioVersion,
    /// Whether the report's format tells the paths of fields, which cost a second look at the documents with findings.
    pub fields: bool,
}

/// Every rule that exists, by name.
pub fn known_rules() -> Vec<RuleInfo> {
    let own = rules::all().iter().map(|rule| rule.meta);
    let mut all: Vec<RuleInfo> = own.chain(BUILT_IN.iter().copied()).collect();
    all.sort_by_key(|rule| rule.name);
    all
}

/// Judges what was loaded.
pub fn check(loaded: &Loaded, settings: &Settings<'_>) -> Report {
    let mut findings = loaded.diagnostics.clone();
    findings.extend(unknown_rules(settings.config, &known_rules()));
    findings.retain_mut(|finding| settings.levels.adjust(finding));
    about::resources(&mut findings, loaded.resources.iter());
    if settings.fields {
        about::fields(&mut findings, &loaded.sources, loaded.resources.iter());
    }
    report::report(loaded, findings, settings.istio_version)
}
