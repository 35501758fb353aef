//! From files to worlds.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::duplicate;
use super::file::File;
use super::identity::{Identity, is_filled_in};
use super::mesh::{FoundMesh, Mesh};
use super::plan::{Plan, by_name, by_rule, rivals};
use super::revision;
use super::rivals::FileIndex;
use super::worlds::{World, Worlds};
use crate::istio::Resource;
use crate::manifest::{Kinds, Kustomizations, folder};
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
    /// A file says of single pods of an ambient namespace whether they have a sidecar.
    pub pods_differ: bool,
}

/// A world of the configuration.
pub struct NamedWorld<'a> {
    pub name: &'a str,
    /// Whether a file lies in it.
    pub holds: Box<dyn Fn(FileId) -> bool + 'a>,
}

/// Splits a tree into worlds. The order of the files changes nothing.
pub fn split<'a>(
    files: &'a [File],
    kustomizations: &'a Kustomizations,
    options: &Options<'a>,
) -> Worlds<'a> {
    let mut files: Vec<&File> = files.iter().collect();
    files.sort_by(|a, b| (&a.place, a.id).cmp(&(&b.place, b.id)));
    let (rivals, (duplicates, effective, repeated)) = rayon::join(
        || rivals(&files),
        || {
            let effective: Vec<Vec<&Resource>> = files.iter().map(|file| lasting(file)).collect();
            let repeated = repeated(&effective);
            (duplicate::find(&files, kustomizations), effective, repeated)
        },
    );
    let alternatives = Arc::from(alternatives(&files, &repeated));
    let plans = if options.named.is_empty() {
        by_rule(&files, &rivals, kustomizations)
    } else {
        by_name(&files, kustomizations, options)
    };
    let only = plans.len() == 1 && options.named.is_empty();
    let mut list: Vec<World<'a>> = plans
        .into_iter()
        .map(|plan| World {
            name: (!only).then(|| Arc::from(plan.name.as_str())),
            ..build(
                &files,
                &effective,
                &repeated,
                &alternatives,
                kustomizations,
                options,
                &plan,
            )
        })
        .collect();
    list.sort_by(|a, b| a.name.cmp(&b.name));
    for (number, world) in list.iter_mut().enumerate() {
        world.cluster = number;
    }
    let list = list.into_iter().flat_map(revision::views).collect();
    let numbers = files
        .iter()
        .enumerate()
        .map(|(number, file)| (file.id, (number, file.place.as_str())))
        .collect();
    Worlds {
        list,
        duplicates,
        rivals: options.named.is_empty().then_some(rivals),
        numbers,
        kustomizations,
    }
}

/// The resources of a file without those that a later definition in it replaces.
fn lasting(file: &File) -> Vec<&Resource> {
    let mut seen = HashSet::default();
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
    if let [_] = files {
        return vec![Vec::new()];
    }
    let mut known: HashMap<Identity<'_>, usize> = HashMap::default();
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

/// The files that define a resource which another file of their folder defines, too, in ascending order: one of them is
/// used at a time, as in a workshop.
fn alternatives(files: &[&File], repeated: &[Vec<(usize, Span)>]) -> Vec<FileId> {
    let mut definers: HashMap<(&str, usize), Vec<FileId>> = HashMap::default();
    for (file, named) in files.iter().zip(repeated) {
        for &(number, _) in named {
            let definers = definers.entry((folder(&file.place), number)).or_default();
            definers.push(file.id);
        }
    }
    let several = definers.into_values().filter(|it| it.len() > 1);
    let mut out: Vec<FileId> = several.flatten().collect();
    out.sort_unstable();
    out.dedup();
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
    let mut counts: HashMap<usize, usize> = HashMap::default();
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
    alternatives: &Arc<[FileId]>,
    kustomizations: &'a Kustomizations,
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
    let mut ids: Vec<(FileId, &str)> = held().map(|file| (file.id, file.place.as_str())).collect();
    ids.sort_unstable();
    let (ids, places) = ids.into_iter().unzip();
    let meshes: Vec<&FoundMesh> = match options.mesh {
        Some(_) => Vec::new(),
        None => held().flat_map(|file| &file.meshes).collect(),
    };
    World {
        name: None,
        resources: plan
            .files
            .iter()
            .filter_map(|&number| effective.get(number))
            .flatten()
            .copied()
            .collect(),
        mesh: options
            .mesh
            .map_or_else(|| Mesh::choose(meshes.iter().copied()), Mesh::of),
        meshes,
        closed: options.closed
            && !plan.partial
            && held().all(|file| !file.broken && !kustomizations.is_open(&file.place)),
        pods_differ: options.pods_differ,
        templates,
        undecided: undecided(&plan.files, repeated),
        alternatives: Arc::clone(alternatives),
        files: ids,
        places,
        declared: !options.named.is_empty(),
        left_out: Vec::new(),
        is_assumed: false,
        cluster: 0,
        revisions: 1,
        kustomizations,
    }
}
