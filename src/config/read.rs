//! From the text of a configuration to its settings.

use std::collections::HashSet;

use super::RULE;
use super::deserialize::{self, ReadError};
use super::facts::{Fact, HostFacts, Origin};
use super::file::{Duration, File, Host, Rule};
use super::globs::PathGlobs;
use super::hosts::Hosts;
use super::mesh::MeshSource;
use super::schema;
use super::settings::{Config, RuleSettings, WorldGlobs};
use super::value::{Value, ValueKind};
use crate::diag::{Diagnostic, Severity};
use crate::source::{FileId, Span, Spanned};
use crate::yaml::{NoticeKind, Tree};

/// What a text says, as far as the text alone tells it.
pub struct Parsed {
    pub config: Config,
    pub diagnostics: Vec<Diagnostic>,
    /// The file that `mesh-config` names, which is yet to be read.
    pub mesh_path: Option<Spanned<String>>,
}

/// Reads the text. What is wrong in it sets nothing; the rest counts, so that one run tells all mistakes.
pub fn parse(file: FileId, text: &str) -> Parsed {
    let mut out = Parsed {
        config: Config {
            file: Some(file),
            ..Config::default()
        },
        diagnostics: Vec::new(),
        mesh_path: None,
    };
    match document(file, text, "a configuration") {
        Ok(Some(value)) => out.take(value),
        Ok(None) => {}
        Err(findings) => out.diagnostics = findings,
    }
    out
}

fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(RULE, Severity::Error, span, message)
}

/// The one document of the text; `None` if it is empty. `what` is what the text should be.
///
/// # Errors
/// What is wrong with it.
pub fn document(file: FileId, text: &str, what: &str) -> Result<Option<Value>, Vec<Diagnostic>> {
    let tree = Tree::parse(file, text);
    if !tree.errors().is_empty() {
        let findings = tree.errors().iter().map(|fault| {
            let mut finding = error(fault.span, fault.message.as_str());
            finding.help.clone_from(&fault.help);
            finding
        });
        return Err(findings.collect());
    }
    let twice = tree
        .notices()
        .iter()
        .filter(|notice| notice.kind == NoticeKind::DuplicateKey);
    let twice: Vec<Diagnostic> = twice
        .map(|notice| {
            let name = text
                .get(notice.span.start as usize..notice.span.end as usize)
                .unwrap_or("");
            let finding = error(notice.span, format!("the key `{name}` stands here twice"));
            notice.other.map_or(finding.clone(), |other| {
                finding.because(other, "here again")
            })
        })
        .collect();
    if !twice.is_empty() {
        return Err(twice);
    }
    let mut documents = tree.documents(text);
    let Some(first) = documents.next() else {
        return Ok(None);
    };
    if let Some(second) = documents.next() {
        let start = second.root.first_character();
        return Err(vec![error(
            start,
            format!("{what} is one document; this is a second one"),
        )]);
    }
    if first.root.is_null() {
        return Ok(None);
    }
    match Value::new(first.root) {
        Ok(value) => Ok(Some(value)),
        Err(much) => Err(vec![error(
            much.span,
            format!("this is too much for {what}: {}", much.reason),
        )]),
    }
}

/// What is wrong is left out so many times; if that leaves mistakes, nothing counts. What the schema finds is left out at
/// once, what it does not know is found one by one.
const ROUNDS: usize = 16;

impl Parsed {
    fn take(&mut self, value: Value) {
        let whole = value.span;
        let named = rule_names(&value);
        let mut wrong = schema::check(&value);
        self.diagnostics.clone_from(&wrong);
        let mut right = Some(value);
        for _ in 0..ROUNDS {
            let Some(value) = right.take() else { break };
            if wrong.is_empty() {
                match deserialize::read::<File>(&value) {
                    Ok(file) => {
                        self.settle(file, whole.file);
                        break;
                    }
                    Err(fault) => wrong.push(fault.diagnostic(whole)),
                }
                self.diagnostics.extend_from_slice(&wrong);
            }
            let places: HashSet<Span> = wrong.iter().map(|finding| finding.span).collect();
            right = value.without(&places);
            // What is missing now is missing because something wrong was left out: that is told already.
            wrong = right.as_ref().map_or(Vec::new(), schema::check);
        }
        self.name_rules(named);
    }

    /// Rules of which nothing could be read are named all the same.
    fn name_rules(&mut self, named: Vec<Spanned<String>>) {
        let rules = &mut self.config.rules;
        let read: HashSet<Span> = rules.iter().map(|rule| rule.name.span).collect();
        let others = named.into_iter().filter(|name| !read.contains(&name.span));
        rules.extend(others.map(|name| RuleSettings {
            name,
            level: None,
            ignore: PathGlobs::default(),
            options: None,
        }));
    }

    fn settle(&mut self, file: File, id: FileId) {
        if let Some(policies) = &file.policies {
            self.diagnostics.push(
                error(policies.key, "`policies` is not supported yet")
                    .help("remove it: the rest of the configuration works without"),
            );
        }
        let findings = &mut self.diagnostics;
        let config = &mut self.config;
        config.exclude = globs(file.exclude.unwrap_or_default(), findings);
        for (name, files) in file.worlds.map_or(Vec::new(), |worlds| worlds.0) {
            config.worlds.push(WorldGlobs {
                name,
                files: globs(files, findings),
            });
        }
        config.hosts = Hosts::new(
            file.hosts.unwrap_or_default().into_iter().map(host),
            |glob, reason| findings.push(bad_glob(glob, &reason)),
        );
        for (name, rule) in file.rules.map_or(Vec::new(), |rules| rules.0) {
            let Rule {
                level,
                ignore,
                options,
            } = rule;
            config.rules.push(RuleSettings {
                name,
                level,
                ignore: globs(ignore, findings),
                options,
            });
        }
        if let Some(mesh) = file.mesh_config {
            let span = mesh.0.span;
            match mesh.0.kind {
                ValueKind::Str(path) => self.mesh_path = Some(Spanned::new(path, span, span)),
                _ => config.mesh = Some(MeshSource::Inline { file: id, span }),
            }
        }
        config.istio = file.istio;
        config.closed_world = file.closed_world;
        config.namespace = file.namespace;
        config.root_namespace = file.root_namespace;
        config.baseline = file.baseline;
        config.fail_on = file.fail_on;
    }
}

fn rule_names(value: &Value) -> Vec<Spanned<String>> {
    match value.entry("rules").map(|(_, rules)| &rules.kind) {
        Some(ValueKind::Map(rules)) => rules.iter().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    }
}

fn globs(globs: Vec<Spanned<String>>, findings: &mut Vec<Diagnostic>) -> PathGlobs {
    PathGlobs::new(globs, |glob, reason| findings.push(bad_glob(glob, &reason)))
}

fn bad_glob(glob: &Spanned<String>, reason: &str) -> Diagnostic {
    error(
        glob.span,
        format!("`{}` is not a glob: {reason}", glob.value),
    )
}

fn host(host: Host) -> (Spanned<String>, HostFacts) {
    fn fact<T, U>(said: Option<Spanned<T>>, map: impl Fn(T) -> U) -> Option<Fact<U>> {
        said.map(|said| Fact {
            value: map(said.value),
            origin: Origin::Config(said.span),
        })
    }
    let milliseconds = |duration: Duration| duration.0;
    let facts = HostFacts {
        class: fact(host.class, |class| class),
        addresses: fact(host.addresses, |count| count),
        ttl_ms: fact(host.ttl, milliseconds),
        repeatable: fact(host.repeatable, |yes| yes),
        drain_ms: fact(host.drain, milliseconds),
        session_ms: fact(host.session, milliseconds),
    };
    (host.host, facts)
}

impl ReadError {
    /// As a `config` diagnostic; `whole` is where it points if it knows no better.
    pub fn diagnostic(self, whole: Span) -> Diagnostic {
        let mut finding = error(self.span.unwrap_or(whole), self.message);
        finding.help = self.help.map(Into::into);
        finding
    }
}
