//! Which files lie in one cluster, told by where the copies of a resource lie.
//!
//! Two siblings (folders or files of one folder) are *rivals* when one resource is defined under both; rivalry is
//! transitive among the siblings of a folder. A file sees another unless, where their paths part, they lie in rivals.

use std::hash::Hash;

use foldhash::HashMap;
use smallvec::SmallVec;

pub(super) type NodeId = usize;
pub(super) type FileIndex = usize;

const ROOT: NodeId = 0;

#[derive(Debug)]
struct Node {
    parent: Option<NodeId>,
    children: Vec<NodeId>,
    /// Usually one at a leaf and none at a folder.
    files: SmallVec<[FileIndex; 2]>,
    /// A node of the same class, nearer to the one that speaks for it, or itself.
    class: NodeId,
    /// How many siblings the class has; valid at its speaker.
    size: usize,
}

/// The folders and files of a tree, with their rivalries.
#[derive(Debug)]
pub(super) struct Rivals {
    nodes: Vec<Node>,
    /// The node of each file.
    leaves: Vec<NodeId>,
    /// Whether a file defines what another defines too.
    shares: Vec<bool>,
}

impl Rivals {
    /// `files` are places, each with what it defines. Linear in the parts of the paths of what is defined repeatedly.
    pub(super) fn new<T: Eq + Hash>(files: &[(&str, Vec<T>)]) -> Self {
        let mut out = Self {
            nodes: Vec::new(),
            leaves: Vec::with_capacity(files.len()),
            shares: vec![false; files.len()],
        };
        out.add(None);
        let mut named: HashMap<(NodeId, &str), NodeId> = HashMap::default();
        for (index, (place, _)) in files.iter().enumerate() {
            let mut at = ROOT;
            for part in place.split('/') {
                at = *named.entry((at, part)).or_insert_with(|| out.add(Some(at)));
            }
            out.nodes[at].files.push(index);
            out.leaves.push(at);
        }
        out.nodes.shrink_to_fit();
        for holders in shared(files) {
            out.part(&holders);
        }
        out
    }

    /// The rival that a file lies in, the innermost of them.
    pub(super) fn side(&self, file: FileIndex) -> Option<NodeId> {
        self.above(*self.leaves.get(file)?)
            .find(|&node| self.has_rivals(node))
    }

    /// Whether the file defines what another file defines too.
    pub(super) fn shares(&self, file: FileIndex) -> bool {
        self.shares.get(file).copied().unwrap_or(false)
    }

    /// Whether two files lie in rivals where their paths part.
    pub(super) fn are_parted(&self, a: FileIndex, b: FileIndex) -> bool {
        let path = |file: FileIndex| {
            let leaf = self.leaves.get(file).copied().unwrap_or(ROOT);
            let mut path: Vec<NodeId> = self.above(leaf).collect();
            path.reverse();
            path
        };
        let (one, other) = (path(a), path(b));
        let parting = one.iter().zip(&other).find(|(x, y)| x != y);
        parting.is_some_and(|(&x, &y)| self.class(x) == self.class(y))
    }

    /// The files that are seen from `side`, sorted; all where it is none. Counts what it looks at.
    pub(super) fn seen(&self, side: Option<NodeId>, looks: &mut usize) -> Vec<FileIndex> {
        let path: Vec<NodeId> = side.into_iter().flat_map(|side| self.above(side)).collect();
        // For each folder on the way: the class of the child that was taken.
        let taken: HashMap<NodeId, (NodeId, NodeId)> = path
            .iter()
            .filter_map(|&node| Some((self.nodes.get(node)?.parent?, (node, self.class(node)))))
            .collect();
        let mut rest = vec![ROOT];
        let mut out = Vec::new();
        while let Some(at) = rest.pop() {
            let Some(node) = self.nodes.get(at) else {
                continue;
            };
            *looks += 1 + node.children.len();
            out.extend_from_slice(&node.files);
            match taken.get(&at) {
                None => rest.extend_from_slice(&node.children),
                Some(&(child, class)) => rest.extend(
                    node.children
                        .iter()
                        .filter(|&&other| other == child || self.class(other) != class),
                ),
            }
        }
        out.sort_unstable();
        out
    }

    /// The files that lie in `side` and in no rival further inside, sorted.
    pub(super) fn inside(&self, side: Option<NodeId>) -> Vec<FileIndex> {
        let mut rest = vec![side.unwrap_or(ROOT)];
        let mut out = Vec::new();
        while let Some(node) = rest.pop().and_then(|at| self.nodes.get(at)) {
            out.extend_from_slice(&node.files);
            rest.extend(node.children.iter().filter(|&&node| !self.has_rivals(node)));
        }
        out.sort_unstable();
        out
    }

    /// How many parts the path of a node has.
    pub(super) fn depth(&self, node: NodeId) -> usize {
        self.above(node).count().saturating_sub(1)
    }

    fn add(&mut self, parent: Option<NodeId>) -> NodeId {
        let id = self.nodes.len();
        self.nodes.push(Node {
            parent,
            children: Vec::new(),
            files: SmallVec::new(),
            class: id,
            size: 1,
        });
        if let Some(parent) = parent.and_then(|parent| self.nodes.get_mut(parent)) {
            parent.children.push(id);
        }
        id
    }

    /// A node and all above it, inside out.
    fn above(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(Some(node), |&node| self.nodes.get(node)?.parent)
    }

    /// Makes rivals of the siblings under which the files lie that define one resource.
    fn part(&mut self, holders: &[FileIndex]) {
        // For each folder above a definition: the child through which it was reached first.
        let mut first: HashMap<NodeId, NodeId> = HashMap::default();
        for &file in holders {
            self.shares[file] = true;
            let mut at = self.leaves[file];
            while let Some(parent) = self.nodes[at].parent {
                match first.get(&parent) {
                    Some(&other) => {
                        self.unite(at, other);
                        // All folders further up know this way already.
                        break;
                    }
                    None => first.insert(parent, at),
                };
                at = parent;
            }
        }
    }

    fn class(&self, node: NodeId) -> NodeId {
        let mut at = node;
        while let Some(next) = self.nodes.get(at).map(|node| node.class)
            && next != at
        {
            at = next;
        }
        at
    }

    fn has_rivals(&self, node: NodeId) -> bool {
        self.nodes
            .get(self.class(node))
            .is_some_and(|speaker| speaker.size > 1)
    }

    /// By size, so that classes stay shallow.
    fn unite(&mut self, a: NodeId, b: NodeId) {
        let (a, b) = (self.class(a), self.class(b));
        if a == b {
            return;
        }
        let (small, large) = if self.nodes[a].size < self.nodes[b].size {
            (a, b)
        } else {
            (b, a)
        };
        self.nodes[small].class = large;
        self.nodes[large].size += self.nodes[small].size;
    }
}

/// The files of each thing that several define.
fn shared<T: Eq + Hash>(files: &[(&str, Vec<T>)]) -> Vec<Vec<FileIndex>> {
    /// Most things are in one file.
    enum Holders {
        One(FileIndex),
        /// Index into the list of those that are in several.
        Several(usize),
    }
    let mut known: HashMap<&T, Holders> = HashMap::default();
    let mut several: Vec<Vec<FileIndex>> = Vec::new();
    for (index, (_, defines)) in files.iter().enumerate() {
        for thing in defines {
            let holders = known.entry(thing).or_insert(Holders::One(index));
            match *holders {
                Holders::One(first) if first == index => {}
                Holders::One(first) => {
                    *holders = Holders::Several(several.len());
                    several.push(vec![first, index]);
                }
                Holders::Several(number) => {
                    if several[number].last() != Some(&index) {
                        several[number].push(index);
                    }
                }
            }
        }
    }
    several
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The worlds of files written as `place: what it defines`.
    fn worlds(files: &[(&str, &str)]) -> BTreeSet<Vec<String>> {
        let files: Vec<(&str, Vec<&str>)> = files
            .iter()
            .map(|(place, defines)| (*place, defines.split_whitespace().collect()))
            .collect();
        let rivals = Rivals::new(&files);
        let sides: BTreeSet<Option<NodeId>> = (0..files.len())
            .filter(|&file| rivals.shares(file))
            .map(|file| rivals.side(file))
            .collect();
        let sides = if sides.is_empty() {
            BTreeSet::from([None])
        } else {
            sides
        };
        sides
            .into_iter()
            .map(|side| {
                let seen = rivals.seen(side, &mut 0);
                seen.iter().map(|&file| files[file].0.to_owned()).collect()
            })
            .collect()
    }

    fn expect(files: &[(&str, &str)], expected: &[&str]) {
        let expected: BTreeSet<Vec<String>> = expected
            .iter()
            .map(|world| {
                let mut world: Vec<String> = world.split_whitespace().map(str::to_owned).collect();
                world.sort_by_key(|place| files.iter().position(|(at, _)| at == place));
                world
            })
            .collect();
        assert_eq!(worlds(files), expected);
    }

    #[test]
    fn a_base_with_overlays() {
        expect(
            &[
                ("base/se.yaml", "se"),
                ("overlays/dev/dr.yaml", "dr"),
                ("overlays/prod/dr.yaml", "dr"),
            ],
            &[
                "base/se.yaml overlays/dev/dr.yaml",
                "base/se.yaml overlays/prod/dr.yaml",
            ],
        );
    }

    #[test]
    fn alternatives_in_a_folder() {
        expect(
            &[
                ("routes/50-50.yaml", "vs"),
                ("routes/90-10.yaml", "vs"),
                ("routes/dr.yaml", "dr"),
            ],
            &[
                "routes/50-50.yaml routes/dr.yaml",
                "routes/90-10.yaml routes/dr.yaml",
            ],
        );
    }

    #[test]
    fn two_forks() {
        expect(
            &[
                ("a/dev/vs.yaml", "vs"),
                ("a/prod/vs.yaml", "vs"),
                ("b/dev/dr.yaml", "dr"),
                ("b/prod/dr.yaml", "dr"),
            ],
            &[
                "a/dev/vs.yaml b/dev/dr.yaml b/prod/dr.yaml",
                "a/prod/vs.yaml b/dev/dr.yaml b/prod/dr.yaml",
                "b/dev/dr.yaml a/dev/vs.yaml a/prod/vs.yaml",
                "b/prod/dr.yaml a/dev/vs.yaml a/prod/vs.yaml",
            ],
        );
    }

    #[test]
    fn a_file_beside_a_folder() {
        expect(
            &[("vs.yaml", "vs"), ("old/vs.yaml", "vs")],
            &["vs.yaml", "old/vs.yaml"],
        );
    }

    #[test]
    fn rivalry_is_transitive_among_siblings() {
        // `a` and `c` have nothing in common but `b`.
        expect(
            &[
                ("a/1.yaml", "x"),
                ("b/1.yaml", "x y"),
                ("c/1.yaml", "y"),
                ("d/1.yaml", "z"),
            ],
            &[
                "a/1.yaml d/1.yaml",
                "b/1.yaml d/1.yaml",
                "c/1.yaml d/1.yaml",
            ],
        );
    }

    #[test]
    fn forks_inside_of_forks() {
        expect(
            &[
                ("east/v1/vs.yaml", "vs"),
                ("east/v2/vs.yaml", "vs"),
                ("east/se.yaml", "se"),
                ("west/vs.yaml", "vs"),
                ("west/se.yaml", "se"),
            ],
            &[
                "east/v1/vs.yaml east/se.yaml",
                "east/v2/vs.yaml east/se.yaml",
                // Seen from the entry, the fork below it stays undecided.
                "east/v1/vs.yaml east/v2/vs.yaml east/se.yaml",
                "west/vs.yaml west/se.yaml",
            ],
        );
    }

    #[test]
    fn nothing_repeated_is_one_world() {
        expect(
            &[("a/1.yaml", "x x"), ("b/2.yaml", "y")],
            &["a/1.yaml b/2.yaml"],
        );
    }

    #[test]
    fn what_lies_inside_of_each_side_covers_every_file_once() {
        let files: Vec<(&str, Vec<&str>)> = vec![
            ("east/v1/vs.yaml", vec!["vs"]),
            ("east/v2/vs.yaml", vec!["vs"]),
            ("east/se.yaml", vec!["se"]),
            ("west/se.yaml", vec!["se"]),
            ("base.yaml", vec![]),
        ];
        let rivals = Rivals::new(&files);
        let sides: BTreeSet<Option<NodeId>> =
            (0..files.len()).map(|file| rivals.side(file)).collect();
        let mut all: Vec<FileIndex> = sides.iter().flat_map(|&side| rivals.inside(side)).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }

    /// The definition, word for word: whether two files part in rivals.
    fn parted(files: &[(String, Vec<u8>)], a: &str, b: &str) -> bool {
        let parts = |place: &str| place.split('/').map(str::to_owned).collect::<Vec<_>>();
        let (a, b) = (parts(a), parts(b));
        let Some(at) = a.iter().zip(&b).position(|(x, y)| x != y) else {
            return false;
        };
        let folder = &a[..at];
        let mut siblings: Vec<(String, BTreeSet<u8>)> = Vec::new();
        for (place, defines) in files {
            let place = parts(place);
            if place.len() > at && &place[..at] == folder {
                siblings.push((place[at].clone(), defines.iter().copied().collect()));
            }
        }
        let mut reached = BTreeSet::from([a[at].clone()]);
        loop {
            let things: BTreeSet<u8> = siblings
                .iter()
                .filter(|(name, _)| reached.contains(name))
                .flat_map(|(_, defines)| defines.iter().copied())
                .collect();
            let before = reached.len();
            reached.extend(
                siblings
                    .iter()
                    .filter(|(_, defines)| !defines.is_disjoint(&things))
                    .map(|(name, _)| name.clone()),
            );
            if reached.len() == before {
                return reached.contains(&b[at]);
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_the_definition(
            tree in proptest::collection::btree_map(
                "[ab]{1}(/[abc]{1}){0,2}/[fg]",
                proptest::collection::vec(0_u8..5, 0..3),
                1..12,
            )
        ) {
            let tree: Vec<(String, Vec<u8>)> = tree.into_iter().collect();
            let files: Vec<(&str, Vec<u8>)> =
                tree.iter().map(|(place, defines)| (place.as_str(), defines.clone())).collect();
            let rivals = Rivals::new(&files);
            for (number, (place, defines)) in tree.iter().enumerate() {
                let expected: Vec<FileIndex> = (0..tree.len())
                    .filter(|&other| !parted(&tree, place, &tree[other].0))
                    .collect();
                proptest::prop_assert_eq!(rivals.seen(rivals.side(number), &mut 0), expected);
                let shares = tree
                    .iter()
                    .enumerate()
                    .any(|(other, (_, more))| other != number && more.iter().any(|it| defines.contains(it)));
                proptest::prop_assert_eq!(rivals.shares(number), shares);
                for (other, (there, _)) in tree.iter().enumerate() {
                    proptest::prop_assert_eq!(
                        rivals.are_parted(number, other),
                        parted(&tree, place, there)
                    );
                }
            }
        }
    }
}
