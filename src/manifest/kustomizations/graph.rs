//! Which kustomization reaches which.

use std::collections::HashSet;

/// Kustomizations by their number in the list.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    /// Below each: those that it reaches directly, sorted.
    children: Vec<Vec<usize>>,
    parents: Vec<Vec<usize>>,
}

impl Graph {
    /// Of so many, with these pairs of one and what it reaches.
    pub(super) fn new(count: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut children = vec![Vec::new(); count];
        let mut parents = vec![Vec::new(); count];
        for (parent, child) in edges {
            children[parent].push(child);
            parents[child].push(parent);
        }
        for indexes in children.iter_mut().chain(&mut parents) {
            indexes.sort_unstable();
            indexes.dedup();
        }
        Self { children, parents }
    }

    /// Those that no other reaches.
    pub(super) fn roots(&self) -> impl Iterator<Item = usize> {
        let all = self.parents.iter().enumerate();
        all.filter_map(|(index, above)| above.is_empty().then_some(index))
    }

    pub(super) fn children(&self, index: usize) -> &[usize] {
        self.children.get(index).map_or(&[], Vec::as_slice)
    }

    /// All that can be reached from `starts`, which count too, sorted.
    pub(super) fn below(&self, starts: &[usize]) -> Vec<usize> {
        spread(starts, &self.children)
    }

    /// All that `starts` are reached from, which count too, sorted.
    pub(super) fn above(&self, starts: &[usize]) -> Vec<usize> {
        spread(starts, &self.parents)
    }
}

fn spread(starts: &[usize], edges: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = HashSet::new();
    let mut rest = starts.to_vec();
    let mut out = Vec::new();
    while let Some(index) = rest.pop() {
        if seen.insert(index) {
            out.push(index);
            rest.extend(edges.get(index).into_iter().flatten());
        }
    }
    out.sort_unstable();
    out
}
