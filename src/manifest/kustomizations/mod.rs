//! All kustomizations of a run: which files each reaches, and which namespace and revision that gives to a file.

mod graph;
mod inherited;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::State;
use super::kustomization::{KUSTOMIZATION_NAMES, Kustomization};
use super::place::name;
use crate::source::Spanned;

use graph::Graph;
use inherited::Inherited;
pub use tree::{Reached, Tree};

/// What the kustomizations make of a value that they set on all that they reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assigned<'a> {
    /// As written in the object, also where that is nothing.
    AsWritten,
    To(&'a Spanned<String>),
    /// It differs from one root to another.
    Differs,
}

#[derive(Clone, Debug, Default)]
pub struct Kustomizations {
    list: Vec<Kustomization>,
    graph: Graph,
    /// The kustomizations that name a file directly.
    listed: HashMap<String, Vec<usize>>,
    patched: HashSet<String>,
    namespaces: Inherited,
    revisions: Inherited,
    /// Whether a root above each also brings what no file holds.
    open: Vec<bool>,
}

impl Kustomizations {
    /// Reads the kustomizations in `folders` and all that they lead to, above or beside the inputs too.
    ///
    /// `read` gives the kustomization of a place, if there is one. Cycles end where they close.
    pub fn collect(
        folders: impl IntoIterator<Item = String>,
        mut read: impl FnMut(&str) -> Option<Kustomization>,
    ) -> Self {
        let mut queue: VecDeque<String> = folders.into_iter().collect();
        let mut seen = HashSet::new();
        let mut found = BTreeMap::new();
        while let Some(folder) = queue.pop_front() {
            if seen.contains(&folder) {
                continue;
            }
            let inside = |name: &&str| match folder.as_str() {
                "" => (*name).to_owned(),
                "/" => format!("/{name}"),
                folder => format!("{folder}/{name}"),
            };
            let kustomization = KUSTOMIZATION_NAMES
                .iter()
                .find_map(|name| read(&inside(name)));
            if let Some(kustomization) = kustomization {
                queue.extend(
                    kustomization
                        .reaches
                        .iter()
                        .filter(|reference| !is_manifest(&reference.place))
                        .map(|reference| reference.place.clone()),
                );
                found.insert(kustomization.place.clone(), kustomization);
            }
            seen.insert(folder);
        }
        Self::new(found.into_values().collect())
    }

    fn new(list: Vec<Kustomization>) -> Self {
        let by_folder: HashMap<&str, usize> = list
            .iter()
            .enumerate()
            .map(|(index, one)| (one.folder.as_str(), index))
            .collect();
        let mut edges = Vec::new();
        let mut listed: HashMap<String, Vec<usize>> = HashMap::new();
        let mut patched = HashSet::new();
        for (index, one) in list.iter().enumerate() {
            for reference in &one.reaches {
                match by_folder.get(reference.place.as_str()) {
                    Some(&child) => edges.push((index, child)),
                    None => listed
                        .entry(reference.place.clone())
                        .or_default()
                        .push(index),
                }
            }
            patched.extend(one.patches.iter().cloned());
        }
        let graph = Graph::new(list.len(), edges);
        let remote: Vec<usize> = (0..list.len()).filter(|&it| list[it].remote).collect();
        let mut open = vec![false; list.len()];
        for index in graph.below(&graph.above(&remote)) {
            open[index] = true;
        }
        Self {
            namespaces: Inherited::new(&list, &graph, |it| it.namespace.as_ref()),
            revisions: Inherited::new(&list, &graph, |it| it.revision.as_ref()),
            list,
            graph,
            listed,
            patched,
            open,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Kustomization> {
        self.list.iter()
    }

    /// What the kustomizations say that a file is.
    pub fn state_of_file(&self, place: &str) -> Option<State> {
        self.patched.contains(place).then_some(State::Patch)
    }

    /// The namespace of the objects in a file, of which one has `written` as its own.
    ///
    /// The outermost kustomization that sets one counts; where the roots disagree it is unknown.
    pub fn namespace(&self, place: &str, written: Option<&str>) -> Assigned<'_> {
        let named_by = self.listing(place);
        self.namespaces.assigned(&self.list, named_by, written)
    }

    /// The same for the label `istio.io/rev`.
    pub fn revision(&self, place: &str, written: Option<&str>) -> Assigned<'_> {
        let named_by = self.listing(place);
        self.revisions.assigned(&self.list, named_by, written)
    }

    /// The places of all files that share a root with the file: they are applied together.
    pub fn companions(&self, place: &str) -> Vec<&str> {
        let below = self.graph.below(&self.graph.above(self.listing(place)));
        let mut files: Vec<&str> = below
            .iter()
            .filter_map(|&index| self.list.get(index))
            .flat_map(|one| one.reaches.iter().map(|reference| reference.place.as_str()))
            .collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The kustomizations that name the file, as an identity of its companions.
    pub fn listing(&self, place: &str) -> &[usize] {
        self.listed.get(place).map_or(&[], Vec::as_slice)
    }

    /// Whether a root that reaches the file also brings resources which no file holds.
    pub fn is_open(&self, place: &str) -> bool {
        let mut listing = self.listing(place).iter();
        listing.any(|&index| self.open.get(index).is_some_and(|open| *open))
    }

    /// Whether one that reaches the file gives its objects other names.
    pub fn is_renamed(&self, place: &str) -> bool {
        let above = self.graph.above(self.listing(place));
        let mut above = above.into_iter().filter_map(|at| self.list.get(at));
        above.any(Kustomization::renames)
    }

    /// Whether one root reaches both files.
    pub fn share_a_root(&self, place: &str, other: &str) -> bool {
        let above = |place| -> HashSet<usize> {
            self.graph.above(self.listing(place)).into_iter().collect()
        };
        !above(place).is_disjoint(&above(other))
    }

    /// Every root with the files that it reaches, in the order of its lines.
    ///
    /// A fork of forks repeats whole trees, so a kustomization that is reached again only marks its files as repeated.
    /// The work is bounded; beyond the bound further roots are left out.
    pub fn trees(&self) -> impl Iterator<Item = Tree<'_>> {
        const LIMIT: usize = 2_000_000;
        let mut work = 0;
        self.graph.roots().map_while(move |root| {
            let tree = (work < LIMIT).then(|| Tree::new(self, root)).flatten()?;
            work += tree.files.len() + tree.kustomizations;
            Some(tree)
        })
    }
}

/// Whether a reference looks like a file, so that no kustomization is looked for inside of it.
fn is_manifest(place: &str) -> bool {
    let name = name(place);
    [".yaml", ".yml", ".json"]
        .iter()
        .any(|end| name.ends_with(end))
}
