//! What holds of what was found in each world.

use std::collections::HashMap;

use super::split::Worlds;
use crate::diag::Diagnostic;
use crate::source::{FileId, Span};

/// A finding that several worlds may share.
type Key = (&'static str, Span, String);

impl Worlds<'_> {
    /// Joins the findings of all worlds, each with the number of its world in [`Worlds::list`].
    ///
    /// A finding holds when it holds in some world in which its files lie together; the same finding from several
    /// worlds is one. Absence must hold in every world of the file: `is_absence` tells which findings say that.
    /// Where a finding does not hold in every world of its file, [`Diagnostic::worlds`] says in which it does.
    pub fn gather(
        &self,
        found: impl IntoIterator<Item = (usize, Diagnostic)>,
        is_absence: impl Fn(&Diagnostic) -> bool,
    ) -> Vec<Diagnostic> {
        let mut known: HashMap<Key, usize> = HashMap::new();
        let mut out: Vec<(Diagnostic, Vec<usize>)> = Vec::new();
        for (world, finding) in found {
            if !self.holds_in(world, &finding) {
                continue;
            }
            let key = (finding.rule, finding.span, finding.message.clone());
            let at = *known.entry(key).or_insert_with(|| {
                out.push((finding.clone(), Vec::new()));
                out.len() - 1
            });
            let Some((first, worlds)) = out.get_mut(at) else {
                continue;
            };
            if finding.severity > first.severity {
                *first = finding;
            }
            worlds.push(world);
        }
        let mut counts: HashMap<FileId, usize> = HashMap::new();
        for world in &self.list {
            for &file in world.files() {
                *counts.entry(file).or_default() += 1;
            }
        }
        out.into_iter()
            .filter_map(|(mut finding, mut worlds)| {
                worlds.sort_unstable();
                worlds.dedup();
                // What is no manifest, such as the configuration, belongs to all worlds.
                let all = counts.get(&finding.span.file).copied();
                if worlds.len() < all.unwrap_or(self.list.len()) {
                    if is_absence(&finding) {
                        return None;
                    }
                    finding.worlds = Some(self.names(&worlds));
                }
                Some(finding)
            })
            .collect()
    }

    /// Whether what the finding rests on is decided in the world and can lie in one cluster.
    fn holds_in(&self, world: usize, finding: &Diagnostic) -> bool {
        let Some(world) = self.list.get(world) else {
            return false;
        };
        let mut files: Vec<FileId> = finding.spans().map(|span| span.file).collect();
        files.sort_unstable();
        files.dedup();
        let pairs = files
            .iter()
            .enumerate()
            .flat_map(|(at, &a)| files.iter().skip(at + 1).map(move |&b| (a, b)));
        finding.spans().all(|span| world.is_decided(span))
            && pairs.into_iter().all(|(a, b)| self.lie_together(a, b))
    }

    fn names(&self, worlds: &[usize]) -> Vec<String> {
        worlds
            .iter()
            .filter_map(|&world| self.list.get(world)?.name.as_deref())
            .map(str::to_owned)
            .collect()
    }
}
