//! What holds of what was found in each world.

use std::collections::hash_map::Entry;
use std::hash::BuildHasher;

use foldhash::HashMap;
use foldhash::fast::RandomState;
use rayon::prelude::*;
use smallvec::{SmallVec, smallvec};

use super::revision::Parted;
use super::worlds::Worlds;
use crate::diag::Diagnostic;
use crate::source::{FileId, Span};

/// What makes two findings of two worlds one.
fn key(finding: &Diagnostic) -> (&'static str, Span, &str) {
    (finding.rule, finding.span, &finding.message)
}

impl Worlds<'_> {
    /// Joins the findings of all worlds, some worlds at a time, each with the number of its world in [`Worlds::list`].
    ///
    /// A finding holds when it holds in some world in which its files lie together; the same finding from several
    /// worlds is one. Absence must hold in every world of the file: `is_absence` tells which findings say that.
    /// Where a finding does not hold in every world of its file, [`worlds`](crate::diag::Extras::worlds) says in which it does.
    pub fn gather(
        &self,
        found: impl IntoIterator<Item = Vec<(usize, Diagnostic)>>,
        is_absence: impl Fn(&Diagnostic) -> bool,
    ) -> Vec<Diagnostic> {
        // By the hash of the key: a copy of each would cost more than all else here.
        let hasher = RandomState::default();
        let mut known: HashMap<u64, usize> = HashMap::default();
        let mut out: Vec<(Diagnostic, SmallVec<[usize; 2]>)> = Vec::new();
        let holding = found.into_iter().flat_map(|found| {
            let holding = found.into_par_iter().filter_map(|(world, finding)| {
                let hash = hasher.hash_one(key(&finding));
                self.holds_in(world, &finding)
                    .then_some((hash, world, finding))
            });
            holding.collect::<Vec<_>>()
        });
        for (mut hash, world, finding) in holding {
            let known = loop {
                match known.entry(hash) {
                    Entry::Vacant(free) => {
                        free.insert(out.len());
                        break None;
                    }
                    Entry::Occupied(at) => match out.get_mut(*at.get()) {
                        Some(known) if key(&known.0) == key(&finding) => break Some(known),
                        _ => hash = hash.wrapping_add(1),
                    },
                }
            };
            let Some((first, worlds)) = known else {
                out.push((finding, smallvec![world]));
                continue;
            };
            if finding.severity > first.severity {
                *first = finding;
            }
            worlds.push(world);
        }
        let mut counts: HashMap<FileId, usize> = HashMap::default();
        for world in &self.list {
            for &file in world.files() {
                *counts.entry(file).or_default() += 1;
            }
        }
        let parted = Parted::new(&self.list);
        out.into_iter()
            .filter_map(|(mut finding, mut worlds)| {
                worlds.sort_unstable();
                worlds.dedup();
                // What is no manifest, such as the configuration, belongs to all worlds.
                let all = counts.get(&finding.span.file).copied();
                let all = all.unwrap_or(self.list.len());
                if worlds.len() < all.saturating_sub(parted.left_out(finding.span)) {
                    if is_absence(&finding) {
                        return None;
                    }
                    // What only some revisions lack, and no object of theirs shows, is for clients that nobody knows.
                    let sure = self.of_all_revisions(&worlds);
                    let for_all = || finding.spans().all(|span| parted.left_out(span) == 0);
                    if sure.len() < worlds.len() && for_all() {
                        if sure.is_empty() {
                            worlds.retain(|world| self.is_proven(*world));
                            if worlds.is_empty() {
                                return None;
                            }
                            finding = finding.assuming("pods of the revision use it");
                        } else {
                            worlds = sure;
                        }
                    }
                    finding.extras_mut().worlds = Some(self.names(&worlds));
                }
                Some(finding)
            })
            .collect()
    }

    /// Those of these worlds, in ascending order, that come with all revisions of their cluster.
    fn of_all_revisions(&self, worlds: &[usize]) -> SmallVec<[usize; 2]> {
        let world = |at: &usize| self.list.get(*at);
        let same =
            |a: &usize, b: &usize| world(a).map(|it| it.cluster) == world(b).map(|it| it.cluster);
        let clusters = worlds.chunk_by(same);
        let whole = clusters.filter(|of_one| {
            let first = of_one.first().and_then(world);
            first.is_some_and(|first| of_one.len() == first.revisions)
        });
        whole.flatten().copied().collect()
    }

    /// Whether what the finding rests on is decided in the world and can lie in one cluster.
    fn holds_in(&self, world: usize, finding: &Diagnostic) -> bool {
        let Some(world) = self.list.get(world) else {
            return false;
        };
        let mut files: SmallVec<[FileId; 8]> = finding.spans().map(|span| span.file).collect();
        files.sort_unstable();
        files.dedup();
        let pairs = files
            .iter()
            .enumerate()
            .flat_map(|(at, &a)| files.iter().skip(at + 1).map(move |&b| (a, b)));
        finding.spans().all(|span| world.is_decided(span))
            && pairs.into_iter().all(|(a, b)| self.lie_together(a, b))
    }

    fn is_proven(&self, world: usize) -> bool {
        self.list.get(world).is_some_and(|world| !world.is_assumed)
    }

    fn names(&self, worlds: &[usize]) -> Box<[String]> {
        worlds
            .iter()
            .filter_map(|&world| self.list.get(world)?.name.as_deref())
            .map(str::to_owned)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{File, Options, split};
    use super::*;
    use crate::diag::Severity;
    use crate::istio::{IstioVersion, read};
    use crate::manifest::{Kinds, Kustomizations};
    use crate::yaml::Tree;

    fn file(number: u32, place: &str, resources: &[(&str, &str)]) -> File {
        let id = FileId(number);
        let text: String = resources
            .iter()
            .map(|(kind, name)| {
                format!(
                    "apiVersion: networking.istio.io/v1\nkind: {kind}\nmetadata: {{name: {name}}}\n---\n"
                )
            })
            .collect();
        let tree = Tree::parse(id, &text);
        File {
            id,
            place: place.to_owned(),
            resources: tree
                .documents(&text)
                .flat_map(|document| read(document.root, IstioVersion::default()).resources)
                .collect(),
            meshes: Vec::new(),
            templates: Kinds::default(),
            broken: false,
        }
    }

    fn at(number: u32) -> Span {
        Span::new(FileId(number), 0, 5)
    }

    fn finding(span: Span) -> Diagnostic {
        Diagnostic::new("some-rule", Severity::Warning, span, "something")
    }

    const BASE: u32 = 0;
    const DEV: u32 = 1;
    const PROD: u32 = 2;

    fn fork() -> [File; 3] {
        [
            file(BASE, "base/se.yaml", &[("ServiceEntry", "partner")]),
            file(DEV, "dev/dr.yaml", &[("DestinationRule", "partner")]),
            file(PROD, "prod/dr.yaml", &[("DestinationRule", "partner")]),
        ]
    }

    fn gathered(files: &[File], found: Vec<(usize, Diagnostic)>, absence: bool) -> Vec<Diagnostic> {
        let none = Kustomizations::default();
        split(files, &none, &Options::default()).gather([found], |_| absence)
    }

    #[test]
    fn the_same_finding_is_one() {
        let both = vec![(0, finding(at(BASE))), (1, finding(at(BASE)))];
        let out = gathered(&fork(), both, false);
        assert_eq!(out, [finding(at(BASE))]);
    }

    #[test]
    fn what_holds_in_one_world_says_in_which() {
        let out = gathered(&fork(), vec![(1, finding(at(BASE)))], false);
        assert_eq!(out.len(), 1);
        assert_eq!(out[0].extras().worlds, Some(Box::from(["prod".to_owned()])));
        // A file that lies in one world only says nothing more by its name.
        let out = gathered(&fork(), vec![(1, finding(at(PROD)))], false);
        assert_eq!(out[0].extras().worlds, None);
    }

    #[test]
    fn absence_holds_everywhere_or_nowhere() {
        assert!(gathered(&fork(), vec![(1, finding(at(BASE)))], true).is_empty());
        let both = vec![(0, finding(at(BASE))), (1, finding(at(BASE)))];
        assert_eq!(gathered(&fork(), both, true).len(), 1);
        assert_eq!(
            gathered(&fork(), vec![(0, finding(at(DEV)))], true).len(),
            1
        );
    }

    #[test]
    fn rivals_never_lie_together() {
        let files = [
            file(0, "a/dev/vs.yaml", &[("VirtualService", "partner")]),
            file(
                1,
                "a/prod/vs.yaml",
                &[("VirtualService", "partner"), ("Sidecar", "one")],
            ),
            file(
                2,
                "b/dev/dr.yaml",
                &[("DestinationRule", "partner"), ("Sidecar", "two")],
            ),
            file(3, "b/prod/dr.yaml", &[("DestinationRule", "partner")]),
            file(4, "a/dev/se.yaml", &[("ServiceEntry", "x")]),
        ];
        // World 2 is seen from b/dev and holds both sides of `a`.
        let sides = finding(at(4)).because(Span::new(FileId(1), 500, 501), "because");
        assert!(gathered(&files, vec![(2, sides)], false).is_empty());
        let one = finding(at(4)).because(Span::new(FileId(2), 500, 501), "because");
        assert_eq!(gathered(&files, vec![(2, one)], false).len(), 1);
        // The route of `a` is undecided there.
        let undecided = finding(at(0));
        assert!(gathered(&files, vec![(2, undecided)], false).is_empty());
    }

    #[test]
    fn the_loudest_is_kept() {
        let mut quiet = finding(at(BASE));
        quiet.severity = Severity::Advice;
        let out = gathered(&fork(), vec![(0, quiet), (1, finding(at(BASE)))], false);
        assert_eq!(out, [finding(at(BASE))]);
    }
}
