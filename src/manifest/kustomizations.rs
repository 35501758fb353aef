//! All kustomizations of a run: which files each reaches, and which namespace that gives to a file.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::State;
use super::kustomization::{KUSTOMIZATION_NAMES, Kustomization};
use super::place::{folder, name};
use crate::source::{Span, Spanned};

/// What the kustomizations make of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assigned<'a> {
    /// As written in the object, also where that is nothing.
    AsWritten,
    To(&'a Spanned<String>),
    /// It differs from one root to another.
    Differs,
}

/// The namespaces that the roots above one kustomization or file set, joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Setting {
    /// Some root reaches it and sets none.
    none: bool,
    names: Names,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Names {
    #[default]
    Nothing,
    /// The kustomization that sets it; others may set the same.
    One(usize),
    Several,
}

/// A file that a tree holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached<'a> {
    pub place: &'a str,
    /// Where a kustomization names it.
    pub span: Span,
    /// What the kustomizations on the way set; `None`: as written.
    pub namespace: Option<&'a str>,
    pub prefix: Arc<str>,
    pub suffix: Arc<str>,
    /// The tree holds it more than once, with different names or namespaces.
    pub repeated: bool,
}

/// A kustomization that no other reaches, with all that it reaches.
#[derive(Clone, Debug)]
pub struct Tree<'a> {
    pub root: &'a Kustomization,
    pub files: Vec<Reached<'a>>,
    /// How many it is made of.
    kustomizations: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Kustomizations {
    list: Vec<Kustomization>,
    /// Below each kustomization: those that it reaches directly.
    children: Vec<Vec<usize>>,
    parents: Vec<Vec<usize>>,
    /// The kustomizations that name a file directly.
    listed: HashMap<String, Vec<usize>>,
    patched: HashSet<String>,
    settings: Vec<Setting>,
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
        let mut children = vec![Vec::new(); list.len()];
        let mut parents = vec![Vec::new(); list.len()];
        let mut listed: HashMap<String, Vec<usize>> = HashMap::new();
        let mut patched = HashSet::new();
        for (index, one) in list.iter().enumerate() {
            for reference in &one.reaches {
                match by_folder.get(reference.place.as_str()) {
                    Some(&child) => {
                        children[index].push(child);
                        parents[child].push(index);
                    }
                    None => listed
                        .entry(reference.place.clone())
                        .or_default()
                        .push(index),
                }
            }
            patched.extend(one.patches.iter().cloned());
        }
        for indexes in children.iter_mut().chain(&mut parents) {
            indexes.sort_unstable();
            indexes.dedup();
        }
        let mut out = Self {
            settings: vec![Setting::default(); list.len()],
            open: vec![false; list.len()],
            list,
            children,
            parents,
            listed,
            patched,
        };
        out.settle();
        let remote: Vec<usize> = (0..out.list.len())
            .filter(|&index| out.list[index].remote)
            .collect();
        let above = out.spread(&remote, &out.parents);
        for index in out.spread(&above, &out.children) {
            out.open[index] = true;
        }
        out
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
        let mut setting = Setting::default();
        for &index in self.listed.get(place).into_iter().flatten() {
            self.join(&mut setting, self.outgoing(index));
        }
        match setting {
            Setting {
                names: Names::Nothing,
                ..
            } => Assigned::AsWritten,
            Setting {
                names: Names::Several,
                ..
            } => Assigned::Differs,
            Setting {
                none,
                names: Names::One(index),
            } => match self.namespace_of(index) {
                Some(name) if !none || written == Some(&name.value) => Assigned::To(name),
                Some(_) => Assigned::Differs,
                None => Assigned::AsWritten,
            },
        }
    }

    /// The places of all files that share a root with the file: they are applied together.
    pub fn companions(&self, place: &str) -> Vec<&str> {
        let listing = self.listed.get(place).map_or(&[][..], Vec::as_slice);
        let roots = self.spread(listing, &self.parents);
        let below = self.spread(&roots, &self.children);
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

    /// Whether one root reaches both files.
    pub fn share_a_root(&self, place: &str, other: &str) -> bool {
        let above = |place| -> HashSet<usize> {
            let all = self.spread(self.listing(place), &self.parents);
            all.into_iter().collect()
        };
        !above(place).is_disjoint(&above(other))
    }

    /// Every root with the files that it reaches, in the order of its lines.
    ///
    /// A fork of forks repeats whole trees, so a kustomization that is reached again only marks its files as repeated.
    /// The work is bounded; beyond the bound further roots are left out.
    pub fn trees(&self) -> impl Iterator<Item = Tree<'_>> {
        const LIMIT: usize = 2_000_000;
        let roots = self.list.iter().enumerate().filter(|&(index, _)| {
            let above = self.parents.get(index);
            above.is_none_or(Vec::is_empty)
        });
        let mut work = 0;
        roots.map_while(move |(index, root)| {
            let tree = (work < LIMIT).then(|| self.tree(index, root))?;
            work += tree.files.len() + tree.kustomizations;
            Some(tree)
        })
    }

    fn tree<'a>(&'a self, index: usize, root: &'a Kustomization) -> Tree<'a> {
        struct Step<'a> {
            index: usize,
            namespace: Option<&'a str>,
            prefix: Arc<str>,
            suffix: Arc<str>,
        }
        let by_folder: HashMap<&str, usize> = self
            .spread(&[index], &self.children)
            .into_iter()
            .filter_map(|index| Some((self.list.get(index)?.folder.as_str(), index)))
            .collect();
        let mut files = Vec::new();
        let mut seen: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([Step {
            index,
            namespace: None,
            prefix: Arc::from(""),
            suffix: Arc::from(""),
        }]);
        while let Some(step) = queue.pop_front() {
            let times = seen.entry(step.index).or_default();
            *times += 1;
            if *times > 1 {
                continue;
            }
            let Some(one) = self.list.get(step.index) else {
                continue;
            };
            let namespace = step
                .namespace
                .or(one.namespace.as_ref().map(|name| name.value.as_str()));
            // The inner one is set first, so the outer prefix stands outside.
            let prefix = clipped(format!("{}{}", step.prefix, one.name_prefix));
            let suffix = clipped(format!("{}{}", one.name_suffix, step.suffix));
            for reference in &one.reaches {
                match by_folder.get(reference.place.as_str()) {
                    Some(&child) => queue.push_back(Step {
                        index: child,
                        namespace,
                        prefix: prefix.clone(),
                        suffix: suffix.clone(),
                    }),
                    None => files.push((
                        step.index,
                        Reached {
                            place: &reference.place,
                            span: reference.span,
                            namespace,
                            prefix: prefix.clone(),
                            suffix: suffix.clone(),
                            repeated: false,
                        },
                    )),
                }
            }
        }
        let files = files
            .into_iter()
            .map(|(index, file)| Reached {
                repeated: seen.get(&index).is_some_and(|times| *times > 1),
                ..file
            })
            .collect();
        Tree {
            root,
            files,
            kustomizations: by_folder.len(),
        }
    }

    /// All that can be reached along `edges`, the starts included, sorted.
    fn spread(&self, starts: &[usize], edges: &[Vec<usize>]) -> Vec<usize> {
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

    fn namespace_of(&self, index: usize) -> Option<&Spanned<String>> {
        self.list.get(index)?.namespace.as_ref()
    }

    /// What a kustomization sets on what it reaches.
    fn outgoing(&self, index: usize) -> Setting {
        let setting = self.settings.get(index).copied().unwrap_or_default();
        let mut out = Setting {
            none: false,
            names: setting.names,
        };
        if setting.none {
            let own = match self.namespace_of(index) {
                Some(_) => Setting {
                    none: false,
                    names: Names::One(index),
                },
                None => Setting {
                    none: true,
                    names: Names::Nothing,
                },
            };
            self.join(&mut out, own);
        }
        out
    }

    fn join(&self, into: &mut Setting, other: Setting) {
        into.none |= other.none;
        into.names = match (into.names, other.names) {
            (names, Names::Nothing) | (Names::Nothing, names) => names,
            (Names::One(a), Names::One(b)) => {
                let name = |index| self.namespace_of(index).map(|name| name.value.as_str());
                if name(a) == name(b) {
                    // The first one stays, so that each setting changes a few times at most.
                    Names::One(a)
                } else {
                    Names::Several
                }
            }
            _ => Names::Several,
        };
    }

    /// Hands settings down until nothing changes. Each can change a few times only, so this is linear.
    fn settle(&mut self) {
        let roots: Vec<usize> = (0..self.list.len())
            .filter(|&index| self.parents[index].is_empty())
            .collect();
        self.hand_down(roots);
        // What is left lies on cycles, which kustomize refuses, or below them: each counts as a root.
        let left = (0..self.list.len())
            .filter(|&index| self.settings[index] == Setting::default())
            .collect();
        self.hand_down(left);
    }

    fn hand_down(&mut self, roots: Vec<usize>) {
        for &root in &roots {
            self.settings[root].none = true;
        }
        let mut rest = roots;
        while let Some(index) = rest.pop() {
            let out = self.outgoing(index);
            for at in 0..self.children[index].len() {
                let child = self.children[index][at];
                let mut joined = self.settings[child];
                self.join(&mut joined, out);
                if joined != self.settings[child] {
                    self.settings[child] = joined;
                    rest.push(child);
                }
            }
        }
    }
}

/// No object's name is longer; what is cut off makes no name that Kubernetes accepts.
fn clipped(part: String) -> Arc<str> {
    const LONGEST: usize = 253;
    part.chars().take(LONGEST).collect::<String>().into()
}

/// Whether a reference looks like a file, so that no kustomization is looked for inside of it.
fn is_manifest(place: &str) -> bool {
    let name = name(place);
    [".yaml", ".yml", ".json"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// The folders from that of `place` up to `top`, both included; only its own where it does not lie below `top`.
pub fn folders_up(place: &str, top: &str) -> Vec<String> {
    let mut at = folder(place);
    let mut out = vec![at.to_owned()];
    let below = at == top
        || top.is_empty()
        || at
            .strip_prefix(top)
            .is_some_and(|rest| rest.starts_with('/') || top == "/");
    while below && at != top {
        let up = folder(at);
        if up == at {
            break;
        }
        at = up;
        out.push(at.to_owned());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::yaml::Tree as Yaml;

    /// Files written as (place, text); those that are kustomizations are read.
    fn read(files: &[(&str, &str)]) -> Kustomizations {
        let folders: Vec<String> = files.iter().map(|(at, _)| folder(at).to_owned()).collect();
        Kustomizations::collect(folders, |at| {
            let (number, (_, text)) = files.iter().enumerate().find(|(_, file)| file.0 == at)?;
            let file = FileId(u32::try_from(number).expect("few files"));
            let tree = Yaml::parse(file, text);
            let root = tree.documents(text).next()?.root;
            Kustomization::read(file, at, root)
        })
    }

    fn name<'a>(all: &'a Kustomizations, place: &str, written: Option<&str>) -> Option<&'a str> {
        match all.namespace(place, written) {
            Assigned::To(name) => Some(&name.value),
            Assigned::AsWritten => None,
            Assigned::Differs => Some("?"),
        }
    }

    #[test]
    fn the_outermost_namespace_counts() {
        let all = read(&[
            (
                "base/kustomization.yaml",
                "resources: [se.yaml, sub/dr.yaml]\nnamespace: base\n",
            ),
            (
                "prod/kustomization.yml",
                "bases: [../base]\nnamespace: prod\n",
            ),
            ("other/Kustomization", "resources: [vs.yaml]\n"),
        ]);
        assert_eq!(name(&all, "base/se.yaml", None), Some("prod"));
        assert_eq!(name(&all, "base/sub/dr.yaml", Some("mine")), Some("prod"));
        assert_eq!(name(&all, "other/vs.yaml", None), None);
        assert_eq!(name(&all, "elsewhere.yaml", None), None);
    }

    #[test]
    fn roots_that_disagree() {
        let all = read(&[
            ("base/kustomization.yaml", "resources: [se.yaml]\n"),
            (
                "dev/kustomization.yaml",
                "resources: [../base, dr.yaml]\nnamespace: dev\n",
            ),
            (
                "prod/kustomization.yaml",
                "resources: [../base]\nnamespace: prod\n",
            ),
            (
                "same/kustomization.yaml",
                "resources: [../dev/dr.yaml]\nnamespace: dev\n",
            ),
        ]);
        assert_eq!(name(&all, "base/se.yaml", None), Some("?"));
        assert_eq!(name(&all, "dev/dr.yaml", None), Some("dev"));
    }

    #[test]
    fn a_root_without_a_namespace_leaves_what_is_written() {
        let all = read(&[
            ("base/kustomization.yaml", "resources: [se.yaml]\n"),
            ("a/kustomization.yaml", "resources: [../base]\n"),
            (
                "b/kustomization.yaml",
                "resources: [../base]\nnamespace: b\n",
            ),
        ]);
        assert_eq!(name(&all, "base/se.yaml", None), Some("?"));
        assert_eq!(name(&all, "base/se.yaml", Some("x")), Some("?"));
        assert_eq!(name(&all, "base/se.yaml", Some("b")), Some("b"));
    }

    #[test]
    fn components_reach_too_and_cycles_end() {
        let all = read(&[
            (
                "app/kustomization.yaml",
                "components: [../part]\nnamespace: app\nresources: ['https://x.example/y']\n",
            ),
            (
                "part/kustomization.yaml",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [se.yaml]\n",
            ),
            (
                "x/kustomization.yaml",
                "resources: [../y, x.yaml]\nnamespace: x\n",
            ),
            ("y/kustomization.yaml", "resources: [../x]\n"),
            (
                "z/kustomization.yaml",
                "resources: [., z.yaml]\nnamespace: z\n",
            ),
        ]);
        assert_eq!(name(&all, "part/se.yaml", None), Some("app"));
        assert!(all.is_open("part/se.yaml"));
        assert_eq!(name(&all, "x/x.yaml", None), Some("x"));
        assert!(!all.is_open("x/x.yaml"));
        assert_eq!(name(&all, "z/z.yaml", None), Some("z"));
    }

    #[test]
    fn only_files_are_patches() {
        let all = read(&[(
            "k/kustomization.yaml",
            "patches: [{path: p1.yaml}, {patch: '- op: x'}]\npatchesJson6902: [{path: ../p2.yaml, target: {}}]\n\
             patchesStrategicMerge:\n- p3.yaml\n- |-\n  kind: X\n  spec: {}\n",
        )]);
        for (place, expected) in [
            ("k/p1.yaml", Some(State::Patch)),
            ("p2.yaml", Some(State::Patch)),
            ("k/p3.yaml", Some(State::Patch)),
            ("p1.yaml", None),
        ] {
            assert_eq!(all.state_of_file(place), expected, "{place}");
        }
    }

    #[test]
    fn flux_has_kustomizations_of_its_own() {
        let all = read(&[(
            "k/kustomization.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: ./x}\n",
        )]);
        assert!(all.is_empty());
    }

    #[test]
    fn trees_know_what_lies_on_the_way() {
        let all = read(&[
            (
                "top/kustomization.yaml",
                "resources: [../a, ../b]\nnamePrefix: p-\n",
            ),
            (
                "a/kustomization.yaml",
                "resources: [../base, a.yaml]\nnamespace: a\nnamePrefix: a-\nnameSuffix: -x\n",
            ),
            (
                "b/kustomization.yaml",
                "resources: [../base]\nnamespace: b\n",
            ),
            ("base/kustomization.yaml", "resources: [se.yaml]\n"),
        ]);
        let trees: Vec<_> = all.trees().collect();
        let [tree] = &trees[..] else {
            panic!("one root: {trees:?}")
        };
        assert_eq!(tree.root.place, "top/kustomization.yaml");
        let file = |place| tree.files.iter().find(|file| file.place == place);
        let a = file("a/a.yaml").expect("reached");
        assert_eq!(
            (&*a.prefix, &*a.suffix, a.namespace),
            ("p-a-", "-x", Some("a"))
        );
        assert!(!a.repeated);
        assert!(file("base/se.yaml").expect("reached").repeated);
        assert_eq!(all.companions("a/a.yaml").len(), 5);
        assert!(all.share_a_root("a/a.yaml", "base/se.yaml"));
    }

    #[test]
    fn folders_up_to_the_top() {
        assert_eq!(folders_up("/r/a/b/x.yaml", "/r"), ["/r/a/b", "/r/a", "/r"]);
        assert_eq!(folders_up("a/x.yaml", ""), ["a", ""]);
        assert_eq!(folders_up("/q/x.yaml", "/r"), ["/q"]);
        assert_eq!(folders_up("/ra/x.yaml", "/r"), ["/ra"]);
        assert_eq!(folders_up("/x.yaml", "/"), ["/"]);
    }

    /// The definition, word for word: what each way from a root down to the kustomization sets.
    fn ways(graph: &[(Option<u8>, Vec<usize>)], at: usize) -> Vec<Option<u8>> {
        let own = graph[at].0;
        let above: Vec<usize> = (0..graph.len())
            .filter(|&other| graph[other].1.contains(&at))
            .collect();
        if above.is_empty() {
            return vec![own];
        }
        let outer = above.into_iter().flat_map(|other| ways(graph, other));
        outer.map(|outer| outer.or(own)).collect()
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_the_ways_from_all_roots(
            graph in proptest::collection::vec(
                (proptest::option::of(0_u8..2), proptest::collection::vec(1_usize..4, 0..3)),
                1..7,
            )
        ) {
            // Each leads to some of those behind it only, so there is no cycle.
            let count = graph.len();
            let graph: Vec<(Option<u8>, Vec<usize>)> = graph
                .into_iter()
                .enumerate()
                .map(|(at, (own, steps))| {
                    let below = steps.into_iter().map(|step| at + step);
                    (own, below.filter(|&below| below < count).collect())
                })
                .collect();
            let files: Vec<(String, String)> = graph
                .iter()
                .enumerate()
                .map(|(at, (own, below))| {
                    let namespace = own.map_or(String::new(), |own| format!("namespace: n{own}\n"));
                    let below: Vec<String> = below.iter().map(|it| format!("../{it}, ")).collect();
                    (
                        format!("{at}/kustomization.yaml"),
                        format!("{namespace}resources: [{}se.yaml]\n", below.concat()),
                    )
                })
                .collect();
            let files: Vec<(&str, &str)> =
                files.iter().map(|(at, text)| (at.as_str(), text.as_str())).collect();
            let all = read(&files);
            for at in 0..count {
                let mut ways = ways(&graph, at);
                ways.sort_unstable();
                ways.dedup();
                let expected = match &ways[..] {
                    [None] => None,
                    [Some(own)] => Some(format!("n{own}")),
                    _ => Some("?".to_owned()),
                };
                let found = name(&all, &format!("{at}/se.yaml"), None).map(str::to_owned);
                proptest::prop_assert_eq!(found, expected);
            }
        }
    }
}
