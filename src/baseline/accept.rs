//! Which findings of a run were there before, and what has become of the others.

use std::collections::BTreeMap;

use super::{Baseline, Entry};
use crate::diag::{Baselined, Diagnostic, Report, Silencer, Suppressed};
use crate::engine::FIXED;
use crate::source::Sources;

/// What a run tells of an accepted finding that it did not find in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing: its file was not looked at, or its rule is off.
    Unknown,
    /// It is no more.
    Gone,
    /// Its file or its object is no more, or has become another: it may be found elsewhere.
    Moved,
}

impl Baseline {
    /// Silences the findings that it accepts and counts them. Of findings that it cannot tell apart the first are those it
    /// knows.
    pub fn apply(&self, report: &mut Report, sources: &Sources, fate: &dyn Fn(&Entry) -> Fate) {
        let mut left = self.entries.clone();
        let mut known = 0;
        let mut new = Vec::new();
        for finding in report.diagnostics.iter_mut().filter(|it| may_know(it)) {
            let entry = Entry::of(finding, sources, &self.place);
            if take(&mut left, &entry) {
                known += accept(finding);
            } else {
                if finding.extras().suppressed.is_some() {
                    finding.extras_mut().suppressed = None;
                }
                new.push((finding, entry));
            }
        }
        left.retain(|_, count| *count > 0);
        let mut moved: BTreeMap<Entry, usize> = BTreeMap::new();
        let mut stale = 0;
        for (entry, count) in left {
            match fate(&entry) {
                Fate::Unknown => {}
                Fate::Gone => stale += count,
                Fate::Moved => *moved.entry(without_path(entry)).or_default() += count,
            }
        }
        if !moved.is_empty() {
            for (finding, entry) in new {
                if take(&mut moved, &without_path(entry)) {
                    known += accept(finding);
                }
            }
        }
        stale += moved.values().sum::<usize>();
        report.recount();
        report.summary.baseline = Some(Baselined { known, stale });
    }

    /// The baseline that accepts what the run found, and what it could not judge.
    #[must_use]
    pub fn renewed(
        &self,
        report: &Report,
        sources: &Sources,
        fate: &dyn Fn(&Entry) -> Fate,
    ) -> Self {
        let mut entries: BTreeMap<Entry, usize> = BTreeMap::new();
        for finding in report.diagnostics.iter().filter(|it| may_know(it)) {
            let entry = Entry::of(finding, sources, &self.place);
            *entries.entry(entry).or_default() += 1;
        }
        for (entry, &count) in &self.entries {
            if fate(entry) == Fate::Unknown {
                let found = entries.entry(entry.clone()).or_default();
                *found = count.max(*found);
            }
        }
        Self {
            place: self.place.clone(),
            entries,
        }
    }
}

/// Whether a baseline has a say in it: what says that the run itself is not to be trusted is never accepted, and what
/// another silencer holds down needs no second one.
fn may_know(finding: &Diagnostic) -> bool {
    let free = finding
        .extras()
        .suppressed
        .as_ref()
        .is_none_or(|it| it.by == Silencer::Baseline);
    free && !FIXED.contains(&finding.rule)
}

/// Takes one of the entry, if there is one left.
fn take(left: &mut BTreeMap<Entry, usize>, entry: &Entry) -> bool {
    let Some(count) = left.get_mut(entry).filter(|count| **count > 0) else {
        return false;
    };
    *count -= 1;
    true
}

fn accept(finding: &mut Diagnostic) -> usize {
    finding.extras_mut().suppressed = Some(Suppressed {
        by: Silencer::Baseline,
        reason: None,
    });
    1
}

fn without_path(mut entry: Entry) -> Entry {
    entry.path.clear();
    entry
}
