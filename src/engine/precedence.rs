//! Of two rules that find the same, the more specific one speaks.

use foldhash::{HashMap, HashSet};

use crate::diag::{Diagnostic, Severity};
use crate::source::FileId;

/// Which rules each rule yields to.
pub(super) type Yields = HashMap<&'static str, &'static [&'static str]>;

/// Drops each finding whose place one of a rule that it yields to also names, as its own or as a *because*, and that is
/// at least as loud: a guess silences no proof. All are findings in one world.
pub(super) fn settle(findings: &mut Vec<Diagnostic>, yields: &Yields) {
    let heard: HashSet<&str> = yields.values().copied().flatten().copied().collect();
    let mut loudest: HashMap<(&str, FileId, u32), Severity> = HashMap::default();
    for finding in findings.iter().filter(|it| heard.contains(it.rule)) {
        for span in finding.spans() {
            let known = loudest.entry((finding.rule, span.file, span.start));
            let known = known.or_insert(finding.severity);
            *known = finding.severity.max(*known);
        }
    }
    findings.retain(|finding| {
        let specific = yields.get(finding.rule).copied().unwrap_or_default();
        let (file, start) = (finding.span.file, finding.span.start);
        let said = specific
            .iter()
            .filter_map(|rule| loudest.get(&(*rule, file, start)));
        said.max().is_none_or(|level| *level < finding.severity)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    fn finding(rule: &'static str, severity: Severity, start: u32) -> Diagnostic {
        let span = Span::new(FileId(0), start, start + 1);
        Diagnostic::new(rule, severity, span, rule)
    }

    /// The rules that are left of a finding of `general` at 1 and the others.
    fn left(level: Severity, others: Vec<Diagnostic>) -> Vec<&'static str> {
        let mut findings = others;
        findings.push(finding("general", level, 1));
        settle(
            &mut findings,
            &Yields::from_iter([("general", &["special"][..])]),
        );
        findings.iter().map(|it| it.rule).collect()
    }

    #[test]
    fn the_general_rule_is_silent_where_the_special_one_speaks() {
        use Severity::Warning;
        let at = |start| finding("special", Warning, start);
        assert_eq!(left(Warning, vec![at(1)]), ["special"]);
        let because = at(7).because(Span::new(FileId(0), 1, 3), "for this reason");
        assert_eq!(left(Warning, vec![because]), ["special"]);
        assert_eq!(left(Warning, vec![at(7)]), ["special", "general"]);
        let other = finding("other", Warning, 1);
        assert_eq!(left(Warning, vec![other]), ["other", "general"]);
    }

    #[test]
    fn a_guess_silences_no_proof() {
        let guess = || vec![finding("special", Severity::Advice, 1)];
        assert_eq!(left(Severity::Warning, guess()), ["special", "general"]);
        assert_eq!(left(Severity::Advice, guess()), ["special"]);
    }
}
