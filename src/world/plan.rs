//! Which files make up which world.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use super::file::File;
use super::identity::Identity;
use super::name::{shorten, unique};
use super::rivals::{FileIndex, NodeId, Rivals};
use super::split::{NamedWorld, Options};
use crate::manifest::Kustomizations;

/// What the files of all worlds together may hold, files and resources: judging a world costs what it holds. Worlds
/// beyond that hold their own side only. Of 245 public trees, with up to 48 worlds, only test data of Istio goes beyond.
const MOST_HELD: usize = 50_000;
/// How many folders and files may be looked at to tell what is seen from where.
const MOST_LOOKS: usize = 10_000_000;

/// The files of a world to be.
pub(super) struct Plan {
    pub(super) name: String,
    /// Numbers of files, sorted.
    pub(super) files: Vec<FileIndex>,
    /// It leaves out files that belong to it.
    pub(super) partial: bool,
}

/// A world whose name is not found yet.
struct Found {
    side: Option<NodeId>,
    /// The first file that gives it.
    giver: FileIndex,
    files: Vec<FileIndex>,
    partial: bool,
}

pub(super) fn rivals(files: &[&File]) -> Rivals {
    // A file is no rival of itself.
    let several = files.len() > 1;
    let defined: Vec<(&str, Vec<(bool, Identity<'_>)>)> = files
        .iter()
        .map(|file| {
            let defines = file
                .resources
                .iter()
                .filter(|resource| several && resource.spec.is_istio())
                .flat_map(|resource| {
                    let written = Identity::written(resource).map(|identity| (true, identity));
                    let effective = Identity::of(resource).map(|identity| (false, identity));
                    written.into_iter().chain(effective)
                })
                .collect();
            (file.place.as_str(), defines)
        })
        .collect();
    Rivals::new(&defined)
}

/// Every file that defines what another one defines gives a world: what it sees, itself included.
pub(super) fn by_rule(
    files: &[&File],
    rivals: &Rivals,
    kustomizations: &Kustomizations,
) -> Vec<Plan> {
    let found = find(files, rivals, kustomizations);
    if found.is_empty() {
        return vec![Plan {
            name: String::new(),
            files: (0..files.len()).collect(),
            partial: false,
        }];
    }
    let names = shorten(places(&found, files, rivals));
    names
        .into_iter()
        .zip(found)
        .map(|(name, found)| Plan {
            name,
            files: sorted(found.files),
            partial: found.partial,
        })
        .collect()
}

fn find(files: &[&File], rivals: &Rivals, kustomizations: &Kustomizations) -> Vec<Found> {
    let numbers: HashMap<&str, FileIndex> = files
        .iter()
        .enumerate()
        .map(|(number, file)| (file.place.as_str(), number))
        .collect();
    let brings = |&number: &FileIndex| files.get(number).is_some_and(|file| file.brings_anything());
    let mut known: HashMap<Vec<FileIndex>, usize> = HashMap::default();
    let mut out: Vec<Found> = Vec::new();
    let (mut held, mut looks) = (0, 0);
    for (side, giver) in givers(files, rivals, kustomizations) {
        let partial = held > MOST_HELD || looks > MOST_LOOKS;
        let mut seen = if partial {
            rivals.inside(side)
        } else {
            let mut seen = rivals.seen(side, &mut looks);
            if let Some(file) = files.get(giver) {
                let companions = kustomizations.companions(&file.place);
                looks += companions.len() + kustomizations.len();
                seen.extend(companions.iter().filter_map(|place| numbers.get(place)));
            }
            seen
        };
        let content = sorted(seen.iter().copied().filter(brings).collect());
        if let Some(equal) = known.get(&content).and_then(|&at| out.get_mut(at)) {
            equal.files.append(&mut seen);
            continue;
        }
        let holds = |&number: &FileIndex| files.get(number).map_or(0, |file| file.resources.len());
        held += content.len() + content.iter().map(holds).sum::<usize>();
        known.insert(content, out.len());
        out.push(Found {
            side,
            giver,
            files: seen,
            partial,
        });
    }
    out
}

/// A file for each world. Those that lie on one side and are named by the same kustomizations see the same.
fn givers(
    files: &[&File],
    rivals: &Rivals,
    kustomizations: &Kustomizations,
) -> Vec<(Option<NodeId>, FileIndex)> {
    let mut first: BTreeMap<(Option<NodeId>, &[usize]), FileIndex> = BTreeMap::new();
    for (number, file) in files.iter().enumerate() {
        if rivals.shares(number) {
            let key = (rivals.side(number), kustomizations.listing(&file.place));
            first.entry(key).or_insert(number);
        }
    }
    let mut out: Vec<_> = first
        .into_iter()
        .map(|((side, _), giver)| (side, giver))
        .collect();
    out.sort_by_key(|&(_, giver)| giver);
    out
}

/// What tells each world from the others: its side, or the file that gives it where several lie on one side.
fn places(found: &[Found], files: &[&File], rivals: &Rivals) -> Vec<String> {
    let mut sides: HashMap<Option<NodeId>, usize> = HashMap::default();
    for one in found {
        *sides.entry(one.side).or_default() += 1;
    }
    let place = |one: &Found| {
        let place = files.get(one.giver).map_or("", |file| file.place.as_str());
        match one.side {
            Some(node) if sides.get(&one.side) == Some(&1) => {
                first_parts(place, rivals.depth(node))
            }
            _ => place.to_owned(),
        }
    };
    found.iter().map(place).collect()
}

/// The worlds of the configuration. What none of them names is split by the rule.
pub(super) fn by_name(
    files: &[&File],
    kustomizations: &Kustomizations,
    options: &Options<'_>,
) -> Vec<Plan> {
    let mut taken = HashSet::default();
    let mut held = vec![false; files.len()];
    let mut plans = Vec::new();
    for NamedWorld { name, holds } in &options.named {
        let inside: Vec<FileIndex> = files
            .iter()
            .enumerate()
            .filter(|(_, file)| holds(file.id))
            .map(|(number, _)| number)
            .collect();
        for &number in &inside {
            held[number] = true;
        }
        plans.push(Plan {
            name: unique(&mut taken, (*name).to_owned()),
            files: inside,
            partial: false,
        });
    }
    let (numbers, left): (Vec<FileIndex>, Vec<&File>) = files
        .iter()
        .enumerate()
        .filter(|&(number, _)| !held[number])
        .map(|(number, &file)| (number, file))
        .unzip();
    if left.iter().any(|file| defines_any(file)) {
        plans.extend(
            by_rule(&left, &rivals(&left), kustomizations)
                .into_iter()
                .map(|plan| Plan {
                    name: unique(
                        &mut taken,
                        if plan.name.is_empty() {
                            "others".to_owned()
                        } else {
                            plan.name
                        },
                    ),
                    files: plan
                        .files
                        .iter()
                        .filter_map(|&at| numbers.get(at).copied())
                        .collect(),
                    partial: plan.partial,
                }),
        );
    }
    plans
}

fn defines_any(file: &File) -> bool {
    file.resources
        .iter()
        .any(|resource| resource.spec.is_istio())
}

fn sorted(mut files: Vec<FileIndex>) -> Vec<FileIndex> {
    files.sort_unstable();
    files.dedup();
    files
}

/// The first parts of a place.
fn first_parts(place: &str, count: usize) -> String {
    place.split('/').take(count).collect::<Vec<_>>().join("/")
}
