//! Small trees of kustomizations.

use super::*;
use crate::manifest::{folder, folders_up};
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

#[test]
fn labels_give_a_revision() {
    let all = read(&[
        ("base/kustomization.yaml", "resources: [se.yaml]\n"),
        (
            "canary/kustomization.yaml",
            "resources: [../base, dr.yaml]\nlabels:\n- pairs: {team: x}\n- pairs: {istio.io/rev: canary}\n",
        ),
        (
            "both/kustomization.yaml",
            "resources: [vs.yaml]\ncommonLabels: {istio.io/rev: a}\nlabels:\n- pairs: {istio.io/rev: b}\n",
        ),
        (
            "later/kustomization.yaml",
            "resources: [gw.yaml]\ncommonLabels: {istio.io/rev: \"${REV}\"}\n",
        ),
    ]);
    let revision = |place, written| match all.revision(place, written) {
        Assigned::To(name) => name.value.as_str(),
        Assigned::AsWritten => "as written",
        Assigned::Differs => "?",
    };
    assert_eq!(revision("canary/dr.yaml", Some("other")), "canary");
    assert_eq!(revision("base/se.yaml", None), "canary");
    assert_eq!(revision("both/vs.yaml", None), "a");
    assert_eq!(revision("later/gw.yaml", Some("x")), "as written");
}
