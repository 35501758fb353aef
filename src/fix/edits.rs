//! One round: the edits of a report that do not get in each other's way.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Diagnostic, Edit, Fix, Safety};
use crate::source::{FileId, Sources};

/// New texts, and how many fixes made them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Edited {
    pub texts: BTreeMap<FileId, String>,
    pub fixes: usize,
}

/// Applies the fixes of `findings` that are at most as unsafe as `safety`, in their order. A fix is applied as a whole or not
/// at all; one that touches what another has taken has to wait for the next round. Files in `closed` stay as they are.
pub fn apply<'r>(
    findings: impl IntoIterator<Item = &'r Diagnostic>,
    sources: &Sources,
    safety: Safety,
    closed: &BTreeSet<FileId>,
) -> Edited {
    let mut taken: BTreeMap<FileId, Taken> = BTreeMap::new();
    let mut fixes = 0;
    for finding in findings {
        let Some(fix) = finding
            .extras()
            .fix
            .as_ref()
            .filter(|_| finding.extras().suppressed.is_none())
        else {
            continue;
        };
        if fix.safety == Safety::Unsafe && safety == Safety::Safe {
            continue;
        }
        if fix
            .edits
            .iter()
            .any(|edit| closed.contains(&edit.span.file))
        {
            continue;
        }
        if take(fix, sources, &mut taken) {
            fixes += 1;
        }
    }
    let texts = taken.into_iter().filter_map(|(file, taken)| {
        let old = &sources.get(file).text;
        let new = splice(old, &taken);
        (new != *old).then_some((file, new))
    });
    Edited {
        texts: texts.collect(),
        fixes,
    }
}

/// The edits of one file by (start, end).
type Taken<'r> = BTreeMap<(u32, u32), &'r str>;

/// Takes all edits of the fix, or none.
fn take<'r>(fix: &'r Fix, sources: &Sources, taken: &mut BTreeMap<FileId, Taken<'r>>) -> bool {
    let fits = |edit: &Edit| {
        let text = &sources.get(edit.span.file).text;
        text.get(edit.span.start as usize..edit.span.end as usize)
            .is_some()
            && taken
                .get(&edit.span.file)
                .is_none_or(|taken| is_free(edit, taken))
    };
    let own = fix.edits.iter().enumerate();
    let alone = own.clone().all(|(index, edit)| {
        fix.edits
            .iter()
            .skip(index + 1)
            .all(|other| !meet(edit, other))
    });
    if fix.edits.is_empty() || !alone || !fix.edits.iter().all(fits) {
        return false;
    }
    for edit in &fix.edits {
        let file = taken.entry(edit.span.file).or_default();
        file.insert((edit.span.start, edit.span.end), &edit.text);
    }
    true
}

/// Whether nobody else has taken these bytes; the very same edit may be wanted twice.
fn is_free(edit: &Edit, taken: &Taken<'_>) -> bool {
    let (start, end) = (edit.span.start, edit.span.end);
    if let Some(text) = taken.get(&(start, end)) {
        return *text == edit.text;
    }
    // Those taken do not meet each other, so only the neighbours matter.
    let before = taken.range(..(start, end)).next_back();
    let after = taken.range((start, end)..).next();
    before
        .into_iter()
        .chain(after)
        .all(|(&(a, b), _)| !ranges_meet((start, end), (a, b)))
}

fn meet(a: &Edit, b: &Edit) -> bool {
    a.span.file == b.span.file
        && ranges_meet((a.span.start, a.span.end), (b.span.start, b.span.end))
}

/// Whether two ranges share a byte or begin at the same one: then the order of the texts would not be settled.
fn ranges_meet(a: (u32, u32), b: (u32, u32)) -> bool {
    a.0 == b.0 || (a.0 < b.1 && b.0 < a.1)
}

/// The text with its edits. New lines end as the lines of the text do.
fn splice(old: &str, edits: &Taken<'_>) -> String {
    let windows = old
        .split_once('\n')
        .is_some_and(|(first, _)| first.ends_with('\r'));
    let mut new = String::with_capacity(old.len() + 64);
    let mut at = 0;
    for (&(start, end), text) in edits {
        new.push_str(old.get(at..start as usize).unwrap_or(""));
        if windows {
            new.push_str(&text.replace("\r\n", "\n").replace('\n', "\r\n"));
        } else {
            new.push_str(text);
        }
        at = end as usize;
    }
    new.push_str(old.get(at..).unwrap_or(""));
    new
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::diag::Severity;
    use crate::source::{SourceFile, Span};

    fn finding(safety: Safety, edits: &[(u32, u32, &str)]) -> Diagnostic {
        let span = |start, end| Span::new(FileId(0), start, end);
        let edits = edits.iter().map(|&(start, end, text)| Edit {
            span: span(start, end),
            text: text.into(),
        });
        Diagnostic::new("r", Severity::Warning, span(0, 0), "m").fix(Fix {
            safety,
            message: "f".into(),
            edits: edits.collect(),
        })
    }

    fn run(text: &str, findings: &[Diagnostic], safety: Safety) -> (String, usize) {
        let mut sources = Sources::new();
        let file = sources.add(SourceFile::new("a.yaml", text));
        let edited = apply(findings, &sources, safety, &BTreeSet::new());
        (
            edited
                .texts
                .get(&file)
                .cloned()
                .unwrap_or_else(|| text.to_owned()),
            edited.fixes,
        )
    }

    #[test]
    fn fixes_that_meet_wait_for_the_next_round() {
        let safe = |edits: &[(u32, u32, &str)]| finding(Safety::Safe, edits);
        let both = [
            safe(&[(0, 3, "A")]),
            safe(&[(2, 4, "B")]),
            safe(&[(4, 4, "C"), (1, 2, "D")]),
            safe(&[(5, 6, "E")]),
        ];
        assert_eq!(run("abcdef", &both, Safety::Safe), ("AdeE".into(), 2));
        let same = [safe(&[(0, 1, "A")]), safe(&[(0, 1, "A")])];
        assert_eq!(run("abc", &same, Safety::Safe), ("Abc".into(), 2));
        let insert = [
            safe(&[(1, 1, "X")]),
            safe(&[(1, 1, "Y")]),
            safe(&[(1, 2, "Z")]),
            safe(&[(0, 1, "W")]),
        ];
        assert_eq!(run("abc", &insert, Safety::Safe), ("WXbc".into(), 2));
        let itself = [safe(&[(0, 2, "A"), (1, 3, "B")])];
        assert_eq!(run("abc", &itself, Safety::Safe), ("abc".into(), 0));
    }

    #[test]
    fn unsafe_and_silenced_fixes_are_left_out() {
        let mut silenced = finding(Safety::Safe, &[(0, 1, "A")]);
        silenced.extras_mut().suppressed = Some(crate::diag::Suppressed {
            by: crate::diag::Silencer::Comment,
            reason: None,
        });
        let findings = [finding(Safety::Unsafe, &[(1, 2, "B")]), silenced];
        assert_eq!(run("abc", &findings, Safety::Safe), ("abc".into(), 0));
        assert_eq!(run("abc", &findings, Safety::Unsafe), ("aBc".into(), 1));
    }

    #[test]
    fn new_lines_end_like_the_old_ones_and_bytes_outside_stay() {
        let findings = [finding(Safety::Safe, &[(3, 3, "b: 2\n")])];
        assert_eq!(run("a:\r\nc: \u{fffd}\r\n", &findings, Safety::Safe).1, 1);
        let findings = [finding(Safety::Safe, &[(4, 4, "b: 2\n")])];
        assert_eq!(
            run("a:\r\nc\r\n", &findings, Safety::Safe).0,
            "a:\r\nb: 2\r\nc\r\n"
        );
        // Not on the border of a character: nothing happens.
        let findings = [finding(Safety::Safe, &[(1, 2, "x")])];
        assert_eq!(run("한", &findings, Safety::Safe), ("한".into(), 0));
    }

    proptest! {
        /// Whatever is asked for: each fix that is counted is in the text, and all other bytes are where they were.
        #[test]
        fn only_the_taken_ranges_change(wishes in prop::collection::vec((0u32..40, 0u32..6, "[A-Z]{0,3}"), 0..12)) {
            let text: String = ('a'..='z').chain('a'..='n').collect();
            let findings: Vec<_> = wishes
                .iter()
                .map(|(start, len, new)| finding(Safety::Safe, &[(*start, (start + len).min(40), new)]))
                .collect();
            let (new, fixes) = run(&text, &findings, Safety::Safe);
            prop_assert!(wishes.is_empty() || fixes > 0);
            let mut taken: Vec<(u32, u32, &str)> = Vec::new();
            for (start, len, new) in &wishes {
                let wish = (*start, (start + len).min(40), new.as_str());
                let meets = |other: &(u32, u32, &str)| ranges_meet((wish.0, wish.1), (other.0, other.1));
                if !taken.iter().any(meets) {
                    taken.push(wish);
                }
            }
            taken.sort_unstable();
            let mut expected = String::new();
            let mut at = 0;
            for (start, end, new) in taken {
                expected.push_str(&text[at..start as usize]);
                expected.push_str(new);
                at = end as usize;
            }
            expected.push_str(&text[at..]);
            prop_assert_eq!(new, expected);
        }
    }
}
