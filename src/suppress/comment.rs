//! `# egress-lint: ignore[rule-a, rule-b] reason` and `# egress-lint: ignore-file[rule] reason`.

use super::names::names;
use crate::diag::{Diagnostic, Severity, nearest};
use crate::source::{FileId, SourceFile, Span, Spanned};
use crate::yaml::Comment;

/// What a comment silences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reach {
    File,
    /// Findings that begin in this line, counted from 1.
    Line(u32),
}

/// A comment that silences rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentSilencer {
    pub(super) file: FileId,
    pub(super) reach: Reach,
    pub(super) rules: Vec<Spanned<String>>,
    pub(super) reason: Option<String>,
    /// All that can be said about its place is said, so that it can be judged.
    pub(super) sure: bool,
}

/// The silencers among the comments of a text, and what is wrong with those that were meant to be some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comments {
    pub(super) silencers: Vec<CommentSilencer>,
    pub(super) mistakes: Vec<Diagnostic>,
}

/// What all of them begin with, behind the `#`.
pub const MARK: &str = "egress-lint:";

/// Reads the comments of a file, or of some of its documents, in the order of the text. Those that are not `sure` stand where
/// findings may be missing, such as in templates and patches: that they silence nothing is then no fault.
pub fn read_comments(
    comments: &[Comment],
    source: &SourceFile,
    sure: impl Fn(Span) -> bool,
) -> Comments {
    let mut out = Comments::default();
    if !comments
        .iter()
        .any(|comment| source.slice(comment.span).contains(MARK))
    {
        return out;
    }
    for (comment, target) in comments.iter().zip(targets(comments, source)) {
        match directive(*comment, source) {
            None => {}
            Some(Ok(directive)) => {
                let reach = match directive.word {
                    "ignore-file" => Reach::File,
                    _ => Reach::Line(target),
                };
                out.silencers.push(CommentSilencer {
                    file: comment.span.file,
                    reach,
                    rules: directive.rules,
                    reason: directive.reason,
                    sure: sure(comment.span),
                });
            }
            Some(Err(mistake)) => out.mistakes.push(mistake),
        }
    }
    out
}

impl Comments {
    /// Both, in their order.
    #[must_use]
    pub fn and(mut self, mut later: Self) -> Self {
        self.silencers.append(&mut later.silencers);
        self.mistakes.append(&mut later.mistakes);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.silencers.is_empty() && self.mistakes.is_empty()
    }
}

/// The line that each comment is about: its own, or the one below the comments that it stands in.
fn targets(comments: &[Comment], source: &SourceFile) -> Vec<u32> {
    let mut targets = vec![0; comments.len()];
    // The comment below: its line, and the line that it is about if nothing but comments stand between.
    let mut below: Option<(u32, u32)> = None;
    for (target, comment) in targets.iter_mut().zip(comments).rev() {
        let line = source.position(comment.span.start).line;
        *target = match below {
            _ if !comment.own_line => line,
            Some((next, about)) if next == line + 1 => about,
            _ => line + 1,
        };
        below = comment.own_line.then_some((line, *target));
    }
    targets
}

struct Directive<'t> {
    word: &'t str,
    rules: Vec<Spanned<String>>,
    reason: Option<String>,
}

/// What the comment orders; `None` if it is not for us.
fn directive(comment: Comment, source: &SourceFile) -> Option<Result<Directive<'_>, Diagnostic>> {
    let text = source.slice(comment.span);
    let at = text.find(MARK)?;
    if !text.get(..at)?.trim_end().ends_with('#') {
        return None;
    }
    let start = at + MARK.len();
    let order = text.get(start..)?;
    let head = order.split('[').next().unwrap_or(order);
    let word = head.trim();
    let mistake = |message: String| {
        let first = head.split_whitespace().next().unwrap_or("");
        let from = start + head.find(first).unwrap_or(0);
        Some(Err(wrong(place(comment.span, from, first.len()), message)))
    };
    if !matches!(word, "ignore" | "ignore-file") {
        // Prose that happens to begin with our name is nobody's mistake.
        let first = word.split_whitespace().next().unwrap_or("");
        let meant = nearest(first, ["ignore", "ignore-file"]).is_some();
        return match (meant, order.contains('[')) {
            (true, false) if matches!(first, "ignore" | "ignore-file") => {
                mistake(format!("`{first}` names no rules, so it silences nothing"))
            }
            (true, _) => mistake(format!("`{first}` silences nothing")),
            _ => None,
        };
    }
    let Some(open) = order.find('[') else {
        return mistake(format!("`{word}` names no rules, so it silences nothing"));
    };
    let list = order.get(open + 1..)?;
    let Some(close) = list.find(']') else {
        return mistake(format!(
            "the list of `{word}` has no end, so it silences nothing"
        ));
    };
    let list_text = list.get(..close)?;
    let list_place = place(comment.span, start + open + 1, close);
    let Some(rules) = names(list_text, list_text, list_place) else {
        return mistake(format!(
            "`{word}` has too long a list, so it silences nothing"
        ));
    };
    if rules.is_empty() {
        return mistake(format!("`{word}` names no rules, so it silences nothing"));
    }
    let reason = list.get(close + 1..)?.trim();
    Some(Ok(Directive {
        word: if word == "ignore-file" {
            "ignore-file"
        } else {
            "ignore"
        },
        rules,
        reason: (!reason.is_empty()).then(|| reason.to_owned()),
    }))
}

fn place(comment: Span, from: usize, len: usize) -> Span {
    let start = comment.start + u32::try_from(from).unwrap_or(0);
    let end = start + u32::try_from(len).unwrap_or(0);
    Span {
        start,
        end: end.min(comment.end),
        ..comment
    }
}

fn wrong(span: Span, message: String) -> Diagnostic {
    Diagnostic::new(super::RULE, Severity::Warning, span, message).help(
        "write `# egress-lint: ignore[rule-name] reason`, or `ignore-file` for the whole file",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::Tree;

    fn read(text: &str) -> (Comments, SourceFile) {
        let file = SourceFile::new("a.yaml", text);
        let tree = Tree::parse(FileId(0), text);
        (read_comments(tree.comments(), &file, |_| true), file)
    }

    #[test]
    fn reads_rules_reason_and_reach() {
        let text = "# egress-lint: ignore-file[x]\n\
                    a: 1 # egress-lint: ignore[rule-a, rule-b] known since May\n\
                    # egress-lint:ignore [rule-c]\n\
                    # why: see the runbook\n\
                    b: 2\n\
                    c: |\n  # egress-lint: ignore[text]\n\
                    d: 3 # two VIPs # egress-lint: ignore[e]\n";
        let (comments, file) = read(text);
        assert_eq!(comments.mistakes, []);
        let got: Vec<_> = comments
            .silencers
            .iter()
            .map(|silencer| {
                let rules: Vec<_> = silencer
                    .rules
                    .iter()
                    .map(|rule| file.slice(rule.span))
                    .collect();
                (silencer.reach, rules, silencer.reason.as_deref())
            })
            .collect();
        assert_eq!(
            got,
            [
                (Reach::File, vec!["x"], None),
                (
                    Reach::Line(2),
                    vec!["rule-a", "rule-b"],
                    Some("known since May")
                ),
                (Reach::Line(5), vec!["rule-c"], None),
                (Reach::Line(8), vec!["e"], None),
            ]
        );
    }

    #[test]
    fn says_what_was_meant_to_silence_and_does_not() {
        let text = "a: 1 # egress-lint: ignore\n\
                    b: 1 # egress-lint: ingore[x]\n\
                    c: 1 # egress-lint: ignore[x\n\
                    d: 1 # egress-lint: ignore[ , ]\n\
                    e: 1 # egress-lint: checks this file in CI\n\
                    f: 1 # see egress-lint: ignore[x]\n";
        let (comments, file) = read(text);
        assert_eq!(comments.silencers, []);
        let got: Vec<_> = comments
            .mistakes
            .iter()
            .map(|found| (file.slice(found.span), &*found.message))
            .collect();
        assert_eq!(
            got,
            [
                ("ignore", "`ignore` names no rules, so it silences nothing"),
                ("ingore", "`ingore` silences nothing"),
                (
                    "ignore",
                    "the list of `ignore` has no end, so it silences nothing"
                ),
                ("ignore", "`ignore` names no rules, so it silences nothing"),
            ]
        );
    }
}
