//! All silencers of a run: which findings they silence, and which of them silence nothing.

use std::collections::{HashMap, HashSet};

use smol_str::SmolStr;

use super::RULE;
use super::comment::{CommentSilencer, Comments, Reach};
use super::names::names;
use crate::config::Config;
use crate::diag::{Diagnostic, Severity, Silencer, Suppressed, meant};
use crate::source::{FileId, Sources, Span, Spanned};

/// What is to be known of the rules: this module knows none.
pub struct Rules<'a> {
    /// All names.
    pub known: &'a [&'static str],
    /// Those whose findings cannot be silenced.
    pub fixed: &'a [&'static str],
    /// Whether the rule has been asked in this run: it is neither off nor left out.
    pub asked: &'a dyn Fn(&str) -> bool,
    /// Whether findings in the file may be missing because something in it is unknown: then nothing is idle for certain.
    pub unsure: &'a dyn Fn(FileId) -> bool,
}

/// Where a silencer acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    File(FileId),
    Line(FileId, u32),
    /// By its number among those with an annotation.
    Resource(usize),
}

/// One rule at one place.
struct Entry {
    name: String,
    span: Span,
    place: Place,
    by: Silencer,
    /// Index into `reasons`.
    reason: Option<u32>,
    /// The name is one of a list; its number there.
    number: u32,
    /// It can be judged.
    sure: bool,
    used: bool,
}

/// Finds the entry of a rule at a place; rules by their number among those known.
type Index = HashMap<(Place, usize), usize>;

/// Where a finding is told that names the line of an entry only as a further place.
type Elsewhere = HashMap<usize, Span>;

/// The silencers of comments and annotations.
#[derive(Default)]
pub struct Silencers {
    entries: Vec<Entry>,
    reasons: Vec<String>,
    /// Resources with an annotation, by their start.
    resources: Vec<(Span, usize)>,
    files: HashSet<FileId>,
    mistakes: Vec<Diagnostic>,
}

/// More unknown names than these are not told for one list.
const MOST_UNKNOWN: usize = 10;

impl Silencers {
    /// Adds those of comments.
    pub fn comments(&mut self, comments: Comments) {
        self.mistakes.extend(comments.mistakes);
        for silencer in comments.silencers {
            let file = silencer.file;
            let place = match silencer.reach {
                Reach::File => Place::File(file),
                Reach::Line(line) => Place::Line(file, line),
            };
            let CommentSilencer {
                rules,
                reason,
                sure,
                ..
            } = silencer;
            self.add(place, Silencer::Comment, rules, reason, sure);
            self.files.insert(file);
        }
    }

    /// Adds that of an annotation `egress-lint/ignore` of the resource at `resource`.
    pub fn annotation(&mut self, resource: Span, value: &Spanned<SmolStr>, sources: &Sources) {
        let Some(rules) = names(&value.value, sources.text(value.span), value.span) else {
            let message = "the list is too long, so it silences nothing";
            return self.mistakes.push(idle(value.span, message.to_owned()));
        };
        let number = self.resources.len();
        self.add(
            Place::Resource(number),
            Silencer::Annotation,
            rules,
            None,
            true,
        );
        self.resources.push((resource, number));
        self.files.insert(resource.file);
    }

    fn add(
        &mut self,
        place: Place,
        by: Silencer,
        rules: Vec<Spanned<String>>,
        reason: Option<String>,
        sure: bool,
    ) {
        let reason = reason.and_then(|reason| {
            self.reasons.push(reason);
            u32::try_from(self.reasons.len() - 1).ok()
        });
        let entries = rules.into_iter().zip(0..).map(|(rule, number)| Entry {
            name: rule.value,
            span: rule.span,
            place,
            by,
            reason,
            number,
            sure,
            used: false,
        });
        self.entries.extend(entries);
    }

    /// Marks what is silenced, by what stands nearest. The answer has a finding for each silencer that silences nothing.
    pub fn apply(
        mut self,
        findings: &mut [Diagnostic],
        config: &Config,
        rules: &Rules<'_>,
        sources: &Sources,
    ) -> Vec<Diagnostic> {
        self.resources
            .sort_by_key(|(span, _)| (span.file, span.start));
        let mut ignored = Ignored::new(config, sources);
        let numbers: HashMap<&str, usize> = rules.known.iter().copied().zip(0..).collect();
        let mut index = Index::new();
        for (at, entry) in self.entries.iter().enumerate() {
            if let Some(&rule) = numbers.get(entry.name.as_str()) {
                index.entry((entry.place, rule)).or_insert(at);
            }
        }
        let mut silence = |all: &mut Self, finding: &mut Diagnostic| {
            let Some(&rule) = numbers.get(finding.rule) else {
                return;
            };
            if !rules.fixed.contains(&finding.rule) && finding.extras().suppressed.is_none() {
                let entry = all.find(rule, finding.span, &index, sources);
                let by = all.take(entry).or_else(|| ignored.take(finding));
                if by.is_some() {
                    finding.extras_mut().suppressed = by;
                }
            }
        };
        let mut elsewhere = Elsewhere::new();
        let nothing = self.entries.is_empty() && config.rules.iter().all(|it| it.ignore.is_empty());
        for finding in findings.iter_mut().filter(|_| !nothing) {
            silence(&mut self, finding);
            if finding.extras().suppressed.is_none() {
                let rule = numbers.get(finding.rule).copied();
                for label in finding.related.iter() {
                    let entry =
                        rule.and_then(|rule| self.of_line(rule, label.span, &index, sources));
                    if let Some(entry) = entry {
                        elsewhere.entry(entry).or_insert(finding.span);
                    }
                }
            }
        }
        let mut more = std::mem::take(&mut self.mistakes);
        more.append(&mut self.idle(rules, &elsewhere));
        for finding in &mut more {
            silence(&mut self, finding);
        }
        more.append(&mut ignored.idle(rules));
        more
    }

    /// The entry that silences what is found at `span`: that of its line, else that of its resource, else that of its file.
    fn find(&self, rule: usize, span: Span, index: &Index, sources: &Sources) -> Option<usize> {
        if !self.files.contains(&span.file) {
            return None;
        }
        let line = Place::Line(span.file, sources.start(span).line);
        let resource = self.resource(span).map(Place::Resource);
        [Some(line), resource, Some(Place::File(span.file))]
            .into_iter()
            .flatten()
            .find_map(|place| index.get(&(place, rule)).copied())
    }

    /// The entry that silences what is found on the line of `span`.
    fn of_line(&self, rule: usize, span: Span, index: &Index, sources: &Sources) -> Option<usize> {
        if !self.files.contains(&span.file) {
            return None;
        }
        let line = Place::Line(span.file, sources.start(span).line);
        index.get(&(line, rule)).copied()
    }

    fn take(&mut self, entry: Option<usize>) -> Option<Suppressed> {
        let entry = self.entries.get_mut(entry?)?;
        entry.used = true;
        let reason = entry
            .reason
            .and_then(|reason| self.reasons.get(reason as usize));
        Some(Suppressed {
            by: entry.by,
            reason: reason.cloned(),
        })
    }

    fn resource(&self, span: Span) -> Option<usize> {
        let after = self
            .resources
            .partition_point(|(at, _)| (at.file, at.start) <= (span.file, span.start));
        let (resource, number) = self.resources.get(after.checked_sub(1)?)?;
        resource.contains(span).then_some(*number)
    }

    /// A finding for each name that no rule has or that silences nothing.
    fn idle(&self, rules: &Rules<'_>, elsewhere: &Elsewhere) -> Vec<Diagnostic> {
        let known: HashSet<&str> = rules.known.iter().copied().collect();
        let mut told = 0;
        let mut out = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            if entry.used {
                continue;
            }
            if entry.number == 0 {
                told = 0;
            }
            if !entry.sure || (rules.unsure)(entry.span.file) {
                continue;
            }
            let name = entry.name.as_str();
            if !known.contains(name) {
                told += 1;
                if told <= MOST_UNKNOWN {
                    let finding = idle(entry.span, format!("there is no rule `{name}`"));
                    out.push(match meant(name, rules.known.iter().copied()) {
                        Some(meant) => finding.help(meant),
                        None => finding.help("see `egress-lint rules` for those that exist"),
                    });
                }
            } else if rules.fixed.contains(&name) {
                out.push(
                    idle(entry.span, format!("`{name}` cannot be silenced"))
                        .help("remove it from the list"),
                );
            } else if (rules.asked)(name) && name != RULE {
                let what = match entry.by {
                    Silencer::Annotation => "this resource has no finding of",
                    _ => "there is no finding of",
                };
                let finding = idle(entry.span, format!("{what} `{name}` to silence"));
                out.push(match elsewhere.get(&at) {
                    Some(place) => finding
                        .because(*place, "this finding names the line, and is silenced here")
                        .help("move the comment there"),
                    None => finding.help("remove it"),
                });
            }
        }
        out
    }
}

fn idle(span: Span, message: String) -> Diagnostic {
    Diagnostic::new(RULE, Severity::Warning, span, message)
}

/// `rules.<name>.ignore` of the configuration.
struct Ignored<'c> {
    config: &'c Config,
    sources: &'c Sources,
    used: HashSet<&'c str>,
}

impl<'c> Ignored<'c> {
    fn new(config: &'c Config, sources: &'c Sources) -> Self {
        Self {
            config,
            sources,
            used: HashSet::new(),
        }
    }

    fn take(&mut self, finding: &Diagnostic) -> Option<Suppressed> {
        let rule = self.config.rule(finding.rule)?;
        if rule.ignore.is_empty() {
            return None;
        }
        let path = self
            .config
            .relative(&self.sources.get(finding.span.file).path);
        rule.ignore.matches(&path).then(|| {
            self.used.insert(&rule.name.value);
            Suppressed {
                by: Silencer::Config,
                reason: None,
            }
        })
    }

    /// A finding for each list that matches files of this run and silences nothing in them.
    fn idle(&self, rules: &Rules<'_>) -> Vec<Diagnostic> {
        let lists = self.config.rules.iter().filter(|rule| {
            let name = rule.name.value.as_str();
            !rule.ignore.is_empty()
                && !self.used.contains(name)
                && rules.known.contains(&name)
                && (rules.asked)(name)
        });
        lists
            .filter(|rule| {
                self.sources
                    .iter()
                    .any(|(_, file)| rule.ignore.matches(&self.config.relative(&file.path)))
            })
            .filter_map(|rule| {
                let place = rule.ignore.iter().next()?.span;
                let message = format!(
                    "`{}` has no finding to silence in these files",
                    rule.name.value
                );
                Some(idle(place, message).help("remove the globs from `ignore`"))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceFile;
    use crate::suppress::read_comments;
    use crate::yaml::Tree;

    const TEXT: &str = "# egress-lint: ignore-file[whole]
kind: A # egress-lint: ignore[rule-a, rule-b, ruel-c, syntax] known
# egress-lint: ignore[rule-a]
spec: 1
end: 2
";

    /// What is said about findings of the named rules, each at the beginning of a line.
    fn run(
        found: &[(&'static str, u32)],
        ignore: &str,
        annotation: Option<&str>,
    ) -> (Vec<String>, Vec<String>) {
        let mut sources = Sources::new();
        let file = sources.add(SourceFile::new("legacy/a.yaml", TEXT));
        let source = sources.get(file);
        let tree = Tree::parse(file, TEXT);
        let mut silencers = Silencers::default();
        silencers.comments(read_comments(tree.comments(), source, |_| true));
        if let Some(value) = annotation {
            let all = Span::new(file, 0, u32::try_from(TEXT.len()).unwrap());
            silencers.annotation(all, &Spanned::new(value.into(), all, all), &sources);
        }
        let at = |line: u32| {
            let start = source.line_starts()[line as usize - 1];
            Span::new(file, start, start + 4)
        };
        let mut findings: Vec<Diagnostic> = found
            .iter()
            .map(|&(rule, line)| Diagnostic::new(rule, Severity::Warning, at(line), "m"))
            .collect();
        let config = crate::config::parse(FileId(9), ignore);
        let unsure = found.iter().any(|(rule, _)| *rule == "syntax-error");
        let rules = Rules {
            known: &[
                "rule-a", "rule-b", "rule-c", "rule-off", "syntax", "whole", RULE,
            ],
            fixed: &["syntax"],
            asked: &|name| name != "rule-off",
            unsure: &|_| unsure,
        };
        let mut more = silencers.apply(&mut findings, &config.config, &rules, &sources);
        findings.append(&mut more);
        let silenced = findings.iter().filter_map(|finding| {
            let by = finding.extras().suppressed.as_ref()?;
            Some(format!(
                "{} {:?} {}",
                finding.rule,
                by.by,
                by.reason.as_deref().unwrap_or("-")
            ))
        });
        let said = findings
            .iter()
            .filter(|finding| finding.rule == RULE && finding.extras().suppressed.is_none());
        let place = |span: Span| {
            if span.file == file {
                sources.text(span)
            } else {
                "config"
            }
        };
        let said = said.map(|finding| format!("{}: {}", place(finding.span), finding.message));
        (silenced.collect(), said.collect())
    }

    #[test]
    fn a_comment_at_a_further_place_of_a_finding_is_told_where_to_go() {
        let mut sources = Sources::new();
        let text = "a: 1\nb: 1 # egress-lint: ignore[rule-a]\nc: 1 # egress-lint: ignore[rule-a]\n";
        let file = sources.add(SourceFile::new("a.yaml", text));
        let tree = Tree::parse(file, text);
        let mut silencers = Silencers::default();
        silencers.comments(read_comments(tree.comments(), sources.get(file), |_| true));
        let line = |number: usize| {
            let start = sources.get(file).line_starts()[number - 1];
            Span::new(file, start, start + 1)
        };
        let finding = Diagnostic::new("rule-a", Severity::Warning, line(1), "m");
        let mut findings = [finding.because(line(2), "here, too")];
        let config = crate::config::parse(FileId(9), "");
        let rules = Rules {
            known: &["rule-a", RULE],
            fixed: &[],
            asked: &|_| true,
            unsure: &|_| false,
        };
        let said = silencers.apply(&mut findings, &config.config, &rules, &sources);
        assert!(findings[0].extras().suppressed.is_none());
        let helps: Vec<_> = said.iter().map(|it| it.help.as_deref()).collect();
        assert_eq!(helps, [Some("move the comment there"), Some("remove it")]);
        let there: Vec<_> = said.iter().map(|it| it.related.first()).collect();
        assert_eq!(there[0].map(|label| label.span), Some(line(1)));
        assert_eq!(there[1], None);
    }

    #[test]
    fn silences_by_line_resource_file_and_path() {
        let (silenced, said) = run(
            &[
                ("rule-a", 2),
                ("rule-a", 4),
                ("whole", 5),
                ("rule-b", 5),
                ("rule-c", 5),
            ],
            "",
            None,
        );
        assert_eq!(
            silenced,
            [
                "rule-a Comment known",
                "rule-a Comment -",
                "whole Comment -"
            ]
        );
        assert_eq!(
            said,
            [
                "rule-b: there is no finding of `rule-b` to silence",
                "ruel-c: there is no rule `ruel-c`",
                "syntax: `syntax` cannot be silenced",
            ]
        );
        let (silenced, _) = run(&[("rule-b", 5), ("syntax", 5)], "", Some("rule-b, syntax"));
        assert_eq!(silenced, ["rule-b Annotation -"]);
        let (silenced, _) = run(
            &[("rule-c", 5)],
            "rules: {rule-c: {ignore: [legacy]}}",
            None,
        );
        assert_eq!(silenced, ["rule-c Config -"]);
    }

    #[test]
    fn judges_only_what_was_asked_and_seen() {
        let (_, said) = run(
            &[],
            "rules: {rule-off: {ignore: [legacy]}, rule-c: {ignore: [other]}}",
            Some("rule-off"),
        );
        assert!(
            !said
                .iter()
                .any(|said| said.contains("rule-off") || said.contains("config")),
            "{said:?}"
        );
        let (_, said) = run(&[], "rules: {rule-c: {ignore: [legacy]}}", None);
        assert!(
            said.contains(&"config: `rule-c` has no finding to silence in these files".to_owned()),
            "{said:?}"
        );
        let (_, said) = run(&[("syntax-error", 5)], "", None);
        assert_eq!(said, [""; 0]);
    }
}
