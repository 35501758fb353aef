//! Where a rule puts what it found, and the one place that decides how loud it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Diagnostic, RuleInfo, Severity};
use crate::source::Span;

/// What a finding rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// On what the files and the configuration say: the finding has the rule's level.
    Proven,
    /// Also on this, which they do not say; it completes "this assumes that …". The finding is advice.
    Assuming(String),
}

impl Basis {
    pub fn assuming(fact: impl Into<String>) -> Self {
        Self::Assuming(fact.into())
    }

    /// For what two files make together.
    pub fn together(surely: bool) -> Self {
        match surely {
            true => Self::Proven,
            false => Self::assuming("both are applied to one cluster"),
        }
    }
}

/// The findings of one rule in one world.
#[derive(Debug)]
pub struct Findings {
    rule: RuleInfo,
    level: Severity,
    list: Vec<Diagnostic>,
    /// What the rule has looked at; see [`Findings::is_first`].
    places: BTreeSet<(Span, Option<Span>)>,
    /// The worst that was said for a place; `None` where nothing may be said. See [`Findings::add_worst`].
    worst: BTreeMap<Span, (Rank, Option<Diagnostic>)>,
}

/// How bad it is; the lower, the worse.
pub type Rank = (u8, u32);

impl Findings {
    /// `level` is what proven findings get: the rule's own, or the one of the configuration.
    pub fn new(rule: RuleInfo, level: Severity) -> Self {
        Self {
            rule,
            level,
            list: Vec::new(),
            places: BTreeSet::new(),
            worst: BTreeMap::new(),
        }
    }

    /// Whether the rule comes to this place for the first time: many clients and hosts lead to one line, about which one word is
    /// enough.
    pub fn is_first(&mut self, place: Span) -> bool {
        self.places.insert((place, None))
    }

    /// The same for a place that has a word for each of others.
    pub fn is_first_for(&mut self, place: Span, other: Span) -> bool {
        self.places.insert((place, Some(other)))
    }

    /// Adds a finding: `message` says *what*; the lines that make it so and the help are added to what comes back.
    pub fn add(
        &mut self,
        basis: Basis,
        span: Span,
        message: impl Into<String>,
        with: impl FnOnce(Diagnostic) -> Diagnostic,
    ) {
        let finding = self.made(basis, span, message, with);
        self.list.push(finding);
    }

    /// Whether something so bad is worth saying for the place: nothing as bad has been said yet.
    pub fn is_worst(&self, place: Span, rank: Rank) -> bool {
        let said = self.worst.get(&place);
        said.is_none_or(|(worst, finding)| finding.is_some() && rank < *worst)
    }

    /// Adds a finding of which there is one for the place: the worst, of equals the first.
    pub fn add_worst(
        &mut self,
        (place, rank): (Span, Rank),
        basis: Basis,
        span: Span,
        message: impl Into<String>,
        with: impl FnOnce(Diagnostic) -> Diagnostic,
    ) {
        if self.is_worst(place, rank) {
            let finding = self.made(basis, span, message, with);
            self.worst.insert(place, (rank, Some(finding)));
        }
    }

    /// Takes back what was said for the place, and lets nothing more be said.
    pub fn rule_out(&mut self, place: Span) {
        self.worst.insert(place, (Rank::default(), None));
    }

    fn made(
        &self,
        basis: Basis,
        span: Span,
        message: impl Into<String>,
        with: impl FnOnce(Diagnostic) -> Diagnostic,
    ) -> Diagnostic {
        let finding = with(Diagnostic::new(self.rule.name, self.level, span, message));
        match basis {
            Basis::Proven => finding,
            Basis::Assuming(fact) => finding.assuming(&fact),
        }
    }

    /// What was found. Of several findings at one place with one message the loudest is kept.
    pub fn into_list(mut self) -> Vec<Diagnostic> {
        let worst = std::mem::take(&mut self.worst).into_values();
        self.list.extend(worst.filter_map(|(_, finding)| finding));
        self.list.sort_by(|a, b| {
            (a.span, &a.message, b.severity).cmp(&(b.span, &b.message, a.severity))
        });
        self.list
            .dedup_by(|later, first| later.span == first.span && later.message == first.message);
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Fixable;
    use crate::source::FileId;

    const RULE: RuleInfo = RuleInfo {
        name: "some-rule",
        summary: "",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: "",
    };

    #[test]
    fn a_place_is_first_once() {
        let mut findings = Findings::new(RULE, Severity::Error);
        let span = |start| Span::new(FileId(0), start, start + 1);
        let first: Vec<bool> = [1, 2, 1].map(|it| findings.is_first(span(it))).into();
        assert_eq!(first, [true, true, false]);
    }

    #[test]
    fn of_a_place_the_worst_is_kept_unless_it_is_ruled_out() {
        let mut findings = Findings::new(RULE, Severity::Error);
        let span = |start| Span::new(FileId(0), start, start + 1);
        for (place, rank) in [(1, 2), (1, 1), (1, 1), (1, 3), (2, 1), (3, 1)] {
            let (place, message) = (span(place), format!("rank {rank}"));
            findings.add_worst((place, (0, rank)), Basis::Proven, place, message, |f| f);
        }
        findings.rule_out(span(2));
        assert!(!findings.is_worst(span(2), (0, 0)));
        assert!(!findings.is_worst(span(1), (0, 1)));
        assert!(findings.is_worst(span(1), (0, 0)));
        let said: Vec<_> = findings
            .into_list()
            .into_iter()
            .map(|f| (f.span.start, f.message.to_string()))
            .collect();
        assert_eq!(said, [(1, "rank 1".to_owned()), (3, "rank 1".to_owned())]);
    }

    #[test]
    fn only_proven_findings_get_the_level() {
        let span = |start| Span::new(FileId(0), start, start + 1);
        let mut findings = Findings::new(RULE, Severity::Error);
        findings.add(Basis::Proven, span(2), "proven", |f| f.help("do it"));
        findings.add(Basis::assuming("it rains"), span(1), "assumed", |f| {
            f.help("take an umbrella")
        });
        findings.add(Basis::assuming("it snows"), span(2), "proven", |f| f);
        let said: Vec<_> = findings
            .into_list()
            .into_iter()
            .map(|f| {
                (
                    f.severity,
                    f.message.to_string(),
                    f.help.clone().unwrap_or_default(),
                )
            })
            .collect();
        assert_eq!(
            said,
            [
                (
                    Severity::Advice,
                    "assumed".to_owned(),
                    "take an umbrella; this assumes that it rains".into()
                ),
                (Severity::Error, "proven".to_owned(), "do it".into()),
            ]
        );
    }
}
