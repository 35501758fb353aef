//! From files to worlds.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::duplicate;
use super::file::File;
use super::identity::{Identity, is_filled_in};
use super::mesh::{FoundMesh, Mesh};
use super::name::{shorten, unique};
use super::rivals::{FileIndex, NodeId, Rivals};
use crate::diag::Diagnostic;
use crate::istio::Resource;
use crate::manifest::{Kinds, Kustomizations};
use crate::source::{FileId, Span};

/// What the user says about worlds.
#[derive(Default)]
pub struct Options<'a> {
    /// The worlds of the configuration, which win over the rule.
    pub named: Vec<NamedWorld<'a>>,
    /// The mesh configuration of all worlds.
    pub mesh: Option<&'a FoundMesh>,
    /// These files are all there is.
    pub closed: bool,
}

/// A world of the configuration.
pub struct NamedWorld<'a> {
    pub name: &'a str,
    /// Whether a file lies in it.
    pub holds: Box<dyn Fn(FileId) -> bool + 'a>,
}

/// What one cluster holds.
#[derive(Clone, Debug)]
pub struct World<'a> {
    /// What tells it from the others; `None` where it is the only one.
    pub name: Option<Arc<str>>,
    /// In the order of (place, line). Of several definitions in one file the last, as it is the one that stays.
    pub resources: Vec<&'a Resource>,
    pub mesh: Mesh<'a>,
    /// Nothing else exists in the cluster: what is missing here is missing.
    pub closed: bool,
    /// What templates among its files would make.
    pub templates: Kinds,
    /// Whole resources that have several definitions here, sorted.
    undecided: Vec<Span>,
    /// Sorted.
    files: Vec<FileId>,
}

impl World<'_> {
    pub fn holds(&self, file: FileId) -> bool {
        self.files.binary_search(&file).is_ok()
    }

    pub fn files(&self) -> &[FileId] {
        &self.files
    }

    /// Whether what stands here may be concluded from. A resource with several definitions exists, and nothing
    /// follows from its content.
    pub fn is_decided(&self, span: Span) -> bool {
        let after = self.undecided.partition_point(|resource| {
            *resource
                <= Span {
                    end: u32::MAX,
                    ..span
                }
        });
        !after
            .checked_sub(1)
            .and_then(|before| self.undecided.get(before))
            .is_some_and(|resource| resource.contains(span))
    }

    /// Whether it is certain that nothing of a kind exists but what is here.
    pub fn knows_all(&self, kind: &str) -> bool {
        self.closed && !self.templates.may_hold(kind)
    }
}

/// All worlds of a run.
#[derive(Debug)]
pub struct Worlds<'a> {
    /// At least one, by name.
    pub list: Vec<World<'a>>,
    /// Resources that one file or one kustomization defines more than once.
    pub duplicates: Vec<Diagnostic>,
    /// None where the configuration names the worlds.
    rivals: Option<Rivals>,
    /// The place and the number in `rivals` of each file.
    numbers: HashMap<FileId, (FileIndex, &'a str)>,
    kustomizations: &'a Kustomizations,
}

impl Worlds<'_> {
    /// Whether two files can lie in one cluster. In a world with an undecided fork some do not.
    pub fn lie_together(&self, a: FileId, b: FileId) -> bool {
        let (Some(rivals), Some(&(x, place)), Some(&(y, other))) =
            (&self.rivals, self.numbers.get(&a), self.numbers.get(&b))
        else {
            return true;
        };
        !rivals.are_parted(x, y) || self.kustomizations.share_a_root(place, other)
    }
}

/// The number of worlds that are built in full; real trees have up to 48.
const FULL_WORLDS: usize = 64;
/// The number of files and resources that these may hold together: judging a world costs what it holds.
const FULL_WORK: usize = 200_000;

/// Splits a tree into worlds. The order of the files changes nothing.
pub fn split<'a>(
    files: &'a [File],
    kustomizations: &'a Kustomizations,
    options: &Options<'a>,
) -> Worlds<'a> {
    let mut files: Vec<&File> = files.iter().collect();
    files.sort_by(|a, b| (&a.place, a.id).cmp(&(&b.place, b.id)));
    let rivals = rivals(&files);
    let plans = if options.named.is_empty() {
        by_rule(&files, &rivals, kustomizations)
    } else {
        by_name(&files, kustomizations, options)
    };
    let effective: Vec<Vec<&Resource>> = files.iter().map(|file| lasting(file)).collect();
    let repeated = repeated(&effective);
    let only = plans.len() == 1 && options.named.is_empty();
    let mut list: Vec<World<'a>> = plans
        .into_iter()
        .map(|plan| World {
            name: (!only).then(|| Arc::from(plan.name.as_str())),
            ..build(
                &files,
                &effective,
                &repeated,
                kustomizations,
                options,
                &plan,
            )
        })
        .collect();
    list.sort_by(|a, b| a.name.cmp(&b.name));
    let numbers = files
        .iter()
        .enumerate()
        .map(|(number, file)| (file.id, (number, file.place.as_str())))
        .collect();
    Worlds {
        list,
        duplicates: duplicate::find(&files, kustomizations),
        rivals: options.named.is_empty().then_some(rivals),
        numbers,
        kustomizations,
    }
}

/// The files of a world to be.
struct Plan {
    name: String,
    /// Numbers of files, sorted.
    files: Vec<FileIndex>,
    /// It leaves out files that belong to it.
    partial: bool,
}

fn rivals(files: &[&File]) -> Rivals {
    let defined: Vec<(&str, Vec<(bool, Identity<'_>)>)> = files
        .iter()
        .map(|file| {
            let defines = file
                .resources
                .iter()
                .filter(|resource| resource.spec.is_istio())
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
fn by_rule(files: &[&File], rivals: &Rivals, kustomizations: &Kustomizations) -> Vec<Plan> {
    // Files that lie on the same side and are named by the same kustomizations see the same.
    let mut givers: BTreeMap<(Option<NodeId>, &[usize]), FileIndex> = BTreeMap::new();
    for (number, file) in files.iter().enumerate() {
        if rivals.shares(number) {
            let key = (rivals.side(number), kustomizations.listing(&file.place));
            givers.entry(key).or_insert(number);
        }
    }
    if givers.is_empty() {
        return vec![Plan {
            name: String::new(),
            files: (0..files.len()).collect(),
            partial: false,
        }];
    }
    let mut givers: Vec<_> = givers.into_iter().collect();
    givers.sort_by_key(|&(_, giver)| giver);
    let size: usize = files.iter().map(|file| 1 + file.resources.len()).sum();
    let full = (FULL_WORK / (size + 1)).clamp(1, FULL_WORLDS);
    let places: HashMap<&str, FileIndex> = files
        .iter()
        .enumerate()
        .map(|(number, file)| (file.place.as_str(), number))
        .collect();
    let brings = |&number: &FileIndex| files.get(number).is_some_and(|file| file.brings_anything());
    let mut known: HashMap<Vec<FileIndex>, usize> = HashMap::new();
    let mut found: Vec<(Option<NodeId>, FileIndex, Vec<FileIndex>, bool)> = Vec::new();
    for (at, &((side, _), giver)) in givers.iter().enumerate() {
        let partial = at >= full;
        let mut seen = if partial {
            rivals.inside(side)
        } else {
            let companions = files
                .get(giver)
                .map(|file| kustomizations.companions(&file.place))
                .unwrap_or_default();
            let companions = companions.iter().filter_map(|place| places.get(place));
            let mut seen = rivals.seen(side);
            seen.extend(companions);
            seen
        };
        let content = sorted(seen.iter().copied().filter(brings).collect());
        match known.get(&content).and_then(|&at| found.get_mut(at)) {
            Some((_, _, equal, _)) => equal.append(&mut seen),
            None => {
                known.insert(content, found.len());
                found.push((side, giver, seen, partial));
            }
        }
    }
    let mut sides: HashMap<Option<NodeId>, usize> = HashMap::new();
    for (side, ..) in &found {
        *sides.entry(*side).or_default() += 1;
    }
    let places = found
        .iter()
        .map(|&(side, giver, ..)| {
            let place = files.get(giver).map_or("", |file| file.place.as_str());
            match side {
                Some(node) if sides.get(&side) == Some(&1) => {
                    first_parts(place, rivals.depth(node))
                }
                _ => place.to_owned(),
            }
        })
        .collect();
    shorten(places)
        .into_iter()
        .zip(found)
        .map(|(name, (_, _, files, partial))| Plan {
            name,
            files: sorted(files),
            partial,
        })
        .collect()
}

/// The worlds of the configuration. What none of them names is split by the rule.
fn by_name(files: &[&File], kustomizations: &Kustomizations, options: &Options<'_>) -> Vec<Plan> {
    let mut taken = HashSet::new();
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

/// The resources of a file without those that a later definition in it replaces.
fn lasting(file: &File) -> Vec<&Resource> {
    let mut seen = HashSet::new();
    let mut out: Vec<&Resource> = file
        .resources
        .iter()
        .rev()
        .filter(|resource| {
            is_filled_in(resource)
                || Identity::of(resource).is_none_or(|identity| seen.insert(identity))
        })
        .collect();
    out.reverse();
    out
}

/// For each file: its resources that other files define too, each with a number that its definitions share.
fn repeated(files: &[Vec<&Resource>]) -> Vec<Vec<(usize, Span)>> {
    let mut known: HashMap<Identity<'_>, usize> = HashMap::new();
    let mut counts: Vec<usize> = Vec::new();
    let mut out: Vec<Vec<(usize, Span)>> = Vec::with_capacity(files.len());
    for resources in files {
        let named = resources
            .iter()
            .filter(|resource| !is_filled_in(resource))
            .filter_map(|resource| Some((Identity::of(resource)?, resource.span)))
            .map(|(identity, span)| {
                let number = *known.entry(identity).or_insert_with(|| {
                    counts.push(0);
                    counts.len() - 1
                });
                counts[number] += 1;
                (number, span)
            })
            .collect();
        out.push(named);
    }
    for named in &mut out {
        named.retain(|&(number, _)| counts[number] > 1);
    }
    out
}

/// The whole resources of which a world with these files holds several definitions, sorted.
fn undecided(files: &[FileIndex], repeated: &[Vec<(usize, Span)>]) -> Vec<Span> {
    let here = || {
        files
            .iter()
            .filter_map(|&number| repeated.get(number))
            .flatten()
    };
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for &(number, _) in here() {
        *counts.entry(number).or_default() += 1;
    }
    let mut out: Vec<Span> = here()
        .filter(|(number, _)| counts.get(number).is_some_and(|&count| count > 1))
        .map(|&(_, span)| span)
        .collect();
    out.sort_unstable();
    out
}

/// All but the name.
fn build<'a>(
    files: &[&'a File],
    effective: &[Vec<&'a Resource>],
    repeated: &[Vec<(usize, Span)>],
    kustomizations: &Kustomizations,
    options: &Options<'a>,
    plan: &Plan,
) -> World<'a> {
    let held = || {
        plan.files
            .iter()
            .filter_map(|&number| files.get(number).copied())
    };
    let mut templates = Kinds::default();
    for file in held().filter(|file| !file.templates.is_empty()) {
        templates.extend(&file.templates);
    }
    let mut ids: Vec<FileId> = held().map(|file| file.id).collect();
    ids.sort_unstable();
    World {
        name: None,
        resources: plan
            .files
            .iter()
            .filter_map(|&number| effective.get(number))
            .flatten()
            .copied()
            .collect(),
        mesh: options.mesh.map_or_else(
            || Mesh::choose(held().flat_map(|file| &file.meshes)),
            Mesh::of,
        ),
        closed: options.closed
            && !plan.partial
            && held().all(|file| !file.broken && !kustomizations.is_open(&file.place)),
        templates,
        undecided: undecided(&plan.files, repeated),
        files: ids,
    }
}
