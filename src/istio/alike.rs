//! Several places of one fault in a resource are one finding.

use std::collections::HashMap;

use crate::diag::{Diagnostic, Label};

/// So many places are labelled.
const PLACES: usize = 16;

/// Joins findings that say the same of several items of a list: the first one names the others. What has a fix, or
/// another line that makes it so, is for its own place only; so is an unknown field, which each has a path to be found by.
pub(super) fn told_once(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut known: HashMap<(&'static str, String), usize> = HashMap::new();
    let mut out: Vec<Diagnostic> = Vec::with_capacity(findings.len());
    for finding in findings {
        let own = finding.extras().fix.is_some()
            || finding.extras().absent.is_some()
            || finding.extras().field.is_some()
            || !finding.related.is_empty();
        if own {
            out.push(finding);
            continue;
        }
        let key = (finding.rule, without_indices(&finding.message));
        let at = *known.entry(key).or_insert(out.len());
        match out.get_mut(at) {
            None => out.push(finding),
            Some(first) if first.related.len() < PLACES => first.related.push(Label {
                span: finding.span,
                message: "here, too".into(),
            }),
            Some(_) => {}
        }
    }
    out
}

/// `spec.http[].timeout` for `spec.http[3].timeout`.
fn without_indices(message: &str) -> String {
    let mut inside = false;
    let kept = message.chars().filter(|&character| {
        inside = match character {
            '[' => true,
            digit if inside && digit.is_ascii_digit() => true,
            _ => false,
        };
        !(inside && character.is_ascii_digit())
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Severity;
    use crate::source::{FileId, Span};

    fn finding(at: u32, message: &str) -> Diagnostic {
        let span = Span::new(FileId(0), at, at + 1);
        Diagnostic::new("refused", Severity::Error, span, message)
    }

    #[test]
    fn what_differs_in_the_index_alone_is_one() {
        let other = Span::new(FileId(0), 9, 10);
        let found = told_once(vec![
            finding(1, "`a[0].b[1]` is 5"),
            finding(2, "`a[10].b[2]` is 5"),
            finding(3, "`a[10].b[2]` is 6"),
            finding(4, "`a[11].b[2]` is 6").because(other, "for this reason"),
        ]);
        let messages: Vec<_> = found.iter().map(|it| &*it.message).collect();
        assert_eq!(
            messages,
            ["`a[0].b[1]` is 5", "`a[10].b[2]` is 6", "`a[11].b[2]` is 6"]
        );
        let labelled = found.first().map(|it| it.related.len());
        assert_eq!(labelled, Some(1));
    }
}
