//! Fixes, looks again, fixes again, until nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use super::edits::apply;
use crate::diag::{Report, Safety};
use crate::source::{FileId, Sources};

/// Fixes that undo each other must end some time.
pub const MOST_ROUNDS: usize = 10;

/// Texts that stand in place of those of the disk, by the path as it is shown.
pub type Texts = BTreeMap<String, String>;

/// What fixing has come to.
#[derive(Debug)]
pub struct Fixed<T> {
    /// What the last look saw: `texts` is in it.
    pub seen: T,
    /// The new text of each file that changed.
    pub texts: Texts,
    /// The text of each of these files as it was first read.
    pub originals: Texts,
    pub fixes: usize,
    pub rounds: usize,
    /// Files whose fixes are left out, because with them the text could no longer be read.
    pub spoilt: Vec<String>,
}

/// What a look at the files sees.
pub trait Seen {
    fn report(&self) -> &Report;
    fn sources(&self) -> &Sources;
}

/// Applies fixes until no more can be, at most [`MOST_ROUNDS`] times. `look` judges the files with the given texts in place of
/// those of the disk; the first look has none. Files that are `untouched`, such as standard input, are left as they are.
///
/// # Errors
/// Those of `look`.
pub fn converge<T: Seen, E>(
    safety: Safety,
    first: T,
    untouched: impl Fn(&str) -> bool,
    mut look: impl FnMut(&Texts) -> Result<T, E>,
) -> Result<Fixed<T>, E> {
    let mut out = Fixed {
        seen: first,
        texts: Texts::new(),
        originals: Texts::new(),
        fixes: 0,
        rounds: 0,
        spoilt: Vec::new(),
    };
    while out.rounds < MOST_ROUNDS {
        let sources = out.seen.sources();
        let path = |file: FileId| sources.get(file).path.clone();
        let closed = sources.iter().map(|(file, _)| file);
        let closed: BTreeSet<FileId> = closed
            .filter(|&file| untouched(&path(file)) || out.spoilt.contains(&path(file)))
            .collect();
        let edited = apply(&out.seen.report().diagnostics, sources, safety, &closed);
        if edited.texts.is_empty() {
            break;
        }
        let mut texts = out.texts.clone();
        let mut originals = out.originals.clone();
        let mut touched = BTreeSet::new();
        for (file, text) in edited.texts {
            let path = path(file);
            originals
                .entry(path.clone())
                .or_insert_with(|| sources.get(file).text.clone());
            texts.insert(path.clone(), text);
            touched.insert(path);
        }
        let next = look(&texts)?;
        let spoilt: Vec<String> = unreadable(&next)
            .difference(&unreadable(&out.seen))
            .cloned()
            .collect();
        let spoilt: Vec<String> = spoilt
            .into_iter()
            .filter(|path| touched.contains(path))
            .collect();
        if !spoilt.is_empty() {
            // Once more, without the files that came out wrong.
            out.spoilt.extend(spoilt);
            continue;
        }
        out.rounds += 1;
        out.fixes += edited.fixes;
        out.seen = next;
        out.texts = texts;
        out.originals = originals;
    }
    let same: Vec<String> = out
        .texts
        .iter()
        .filter(|(path, text)| out.originals.get(*path) == Some(text))
        .map(|(path, _)| path.clone())
        .collect();
    for path in same {
        out.texts.remove(&path);
        out.originals.remove(&path);
    }
    Ok(out)
}

/// The files with syntax errors.
fn unreadable(seen: &impl Seen) -> BTreeSet<String> {
    let findings = seen.report().diagnostics.iter();
    findings
        .filter(|finding| finding.rule == "yaml-syntax")
        .map(|finding| seen.sources().get(finding.span.file).path.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Diagnostic, Edit, Fix, Severity, Summary};
    use crate::source::{SourceFile, Span};

    struct Look {
        report: Report,
        sources: Sources,
    }

    impl Seen for Look {
        fn report(&self) -> &Report {
            &self.report
        }

        fn sources(&self) -> &Sources {
            &self.sources
        }
    }

    /// Finds each occurrence of `from` and wants `to` in its place; `{` without `}` is a syntax error.
    fn look(texts: &[(&str, &str)], over: &Texts, from: &str, to: &str) -> Look {
        let mut sources = Sources::new();
        let mut diagnostics = Vec::new();
        for (path, text) in texts {
            let text = over.get(*path).map_or(*text, String::as_str);
            let file = sources.add(SourceFile::new(*path, text));
            let at = |start: usize| {
                let start = u32::try_from(start).unwrap();
                Span::new(file, start, start + u32::try_from(from.len()).unwrap())
            };
            if text.contains('{') && !text.contains('}') {
                diagnostics.push(Diagnostic::new("yaml-syntax", Severity::Error, at(0), "m"));
            }
            for (start, _) in text.match_indices(from) {
                let edits = vec![Edit {
                    span: at(start),
                    text: to.into(),
                }];
                let fix = Fix {
                    safety: Safety::Safe,
                    message: "m".into(),
                    edits,
                };
                diagnostics.push(Diagnostic::new("r", Severity::Warning, at(start), "m").fix(fix));
            }
        }
        let report = Report {
            istio_version: "1.30".into(),
            diagnostics,
            summary: Summary::default(),
            rules: Vec::new(),
        };
        Look { report, sources }
    }

    fn run(texts: &[(&str, &str)], from: &str, to: &str) -> Fixed<Look> {
        let first = look(texts, &Texts::new(), from, to);
        let again = |over: &Texts| Ok::<_, ()>(look(texts, over, from, to));
        converge(Safety::Safe, first, |path| path == "-", again).unwrap()
    }

    #[test]
    fn goes_on_until_nothing_is_left() {
        let fixed = run(&[("a", "xxxx"), ("b", "yy"), ("-", "xx")], "xx", "x");
        assert_eq!(fixed.texts, Texts::from([("a".into(), "x".into())]));
        assert_eq!(fixed.originals, Texts::from([("a".into(), "xxxx".into())]));
        assert_eq!((fixed.rounds, fixed.fixes), (2, 3));
    }

    #[test]
    fn gives_up_after_ten_rounds() {
        assert_eq!(run(&[("a", "x")], "x", "xy").rounds, MOST_ROUNDS);
    }

    #[test]
    fn leaves_a_file_alone_that_would_be_spoilt() {
        let fixed = run(&[("a", "x"), ("b", "x }")], "x", "{");
        assert_eq!(fixed.texts, Texts::from([("b".into(), "{ }".into())]));
        assert_eq!(fixed.spoilt, ["a"]);
    }
}
