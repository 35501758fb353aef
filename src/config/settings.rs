//! A configuration that has been read: each value with the line that set it.

use std::borrow::Cow;

use super::facts::HostFacts;
use super::globs::PathGlobs;
use super::hosts::Hosts;
use super::mesh::MeshSource;
use super::place::Place;
use super::value::Value;
use crate::diag::Severity;
use crate::source::{FileId, Spanned};

/// All settings of `egress-lint.yaml`. What it leaves out is `None` or empty.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file, unless there is none.
    pub file: Option<FileId>,
    /// Where its folder is, seen from the working directory.
    pub place: Place,
    /// `1.30`: well-formed, but whether the version is known is not decided here.
    pub istio: Option<Spanned<String>>,
    pub closed_world: Option<Spanned<bool>>,
    /// For manifests that name none.
    pub namespace: Option<Spanned<String>>,
    pub root_namespace: Option<Spanned<String>>,
    pub exclude: PathGlobs,
    /// What each cluster holds, in the order of the file.
    pub worlds: Vec<WorldGlobs>,
    pub mesh: Option<MeshSource>,
    pub hosts: Hosts,
    pub rules: Vec<RuleSettings>,
    /// The file with the accepted findings, relative to the folder of the configuration.
    pub baseline: Option<Spanned<String>>,
    pub fail_on: Option<Spanned<FailOn>>,
}

impl Config {
    /// The facts of a host: those of its ServiceEntry's annotations, else those of the first entry of `hosts:` that
    /// matches, else the built-in table's; else the same of the name that stands in for it in the DNS.
    pub fn facts(&self, host: &str, stand_in: Option<&str>, annotations: &HostFacts) -> HostFacts {
        let own = annotations.or(&self.hosts.facts(host));
        match stand_in {
            Some(name) => own.or(&self.hosts.facts(name)),
            None => own,
        }
    }

    /// A path as the globs of this configuration see it; `shown` is relative to the working directory.
    pub fn relative<'a>(&self, shown: &'a str) -> Cow<'a, str> {
        self.place.relative(shown)
    }

    pub fn is_excluded(&self, shown: &str) -> bool {
        !self.exclude.is_empty() && self.exclude.matches(&self.relative(shown))
    }

    pub fn rule(&self, name: &str) -> Option<&RuleSettings> {
        self.rules.iter().find(|rule| rule.name.value == name)
    }
}

/// The files of one world.
#[derive(Clone, Debug)]
pub struct WorldGlobs {
    pub name: Spanned<String>,
    pub files: PathGlobs,
}

/// What `rules.<name>` says. Whether such a rule exists is not decided here.
#[derive(Clone, Debug)]
pub struct RuleSettings {
    pub name: Spanned<String>,
    pub level: Option<Spanned<Level>>,
    /// Files in which the rule is silent.
    pub ignore: PathGlobs,
    /// The rule's own options: a map without `level` and `ignore`, or nothing.
    pub options: Option<Value>,
}

/// The level of a rule.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Off,
    Advice,
    Warning,
    Error,
}

impl Level {
    /// `None`: the rule is off.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Level::Off => None,
            Level::Advice => Some(Severity::Advice),
            Level::Warning => Some(Severity::Warning),
            Level::Error => Some(Severity::Error),
        }
    }
}

impl std::str::FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Level::Off),
            "advice" => Ok(Level::Advice),
            "warning" => Ok(Level::Warning),
            "error" => Ok(Level::Error),
            _ => Err(format!(
                "`{text}` is not `off`, `advice`, `warning` or `error`"
            )),
        }
    }
}

/// The level from which on findings make the run fail.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    Error,
    Warning,
    Advice,
    Never,
}

impl FailOn {
    pub fn fails(self, severity: Severity) -> bool {
        match self {
            FailOn::Error => severity >= Severity::Error,
            FailOn::Warning => severity >= Severity::Warning,
            FailOn::Advice => true,
            FailOn::Never => false,
        }
    }
}
