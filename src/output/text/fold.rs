//! The same fault many times: a few are drawn, the others are counted.

use std::collections::{BTreeMap, BTreeSet};

use super::theme::{Paint, Painter};
use crate::diag::{Diagnostic, Severity};
use crate::output::number;
use crate::source::FileId;

/// So many findings of one rule and level are all drawn.
const MOST: usize = 20;

/// So many are drawn where there are more.
const DRAWN: usize = 3;

/// The findings of one rule and level that are not drawn.
#[derive(Default)]
pub(super) struct Fold {
    count: usize,
    files: BTreeSet<FileId>,
}

/// By level, so that many pieces of advice do not hide the warnings of their rule, and by whether they are silenced.
pub(super) type Folds = BTreeMap<(&'static str, Severity, bool), Fold>;

/// Takes out of `findings` what is not to be drawn.
pub(super) fn fold(findings: &mut Vec<&Diagnostic>) -> Folds {
    let kind = |finding: &Diagnostic| {
        let silenced = finding.extras().suppressed.is_some();
        (finding.rule, finding.severity, silenced)
    };
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for finding in findings.iter() {
        *counts.entry(kind(finding)).or_default() += 1;
    }
    counts.retain(|_, count| *count > MOST);
    let mut drawn: BTreeMap<_, usize> = BTreeMap::new();
    let mut folds = Folds::new();
    findings.retain(|finding| {
        let kind = kind(finding);
        if !counts.contains_key(&kind) {
            return true;
        }
        let drawn = drawn.entry(kind).or_default();
        if *drawn < DRAWN {
            *drawn += 1;
            return true;
        }
        let fold = folds.entry(kind).or_default();
        fold.count += 1;
        fold.files.insert(finding.span.file);
        false
    });
    folds
}

/// One line for each fold, then an empty one.
pub(super) fn draw(folds: &Folds, painter: &Painter) -> String {
    let mut out = String::new();
    for (&(rule, severity, silenced), fold) in folds {
        let tag = format!("{}[{rule}]", severity.name());
        painter.paint(&mut out, Paint::Level(severity), &tag);
        let files = number(fold.files.len(), "file", "files");
        let silenced = if silenced { " silenced" } else { "" };
        let count = fold.count;
        out.push_str(&format!(
            ": {count} more{silenced} in {files} (`--verbose` shows them)\n"
        ));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}
