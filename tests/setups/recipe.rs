//! A recipe: a set-up as the documentation recommends it, and which of its words may be others.

use std::path::Path;

use egress_lint::source::FileId;
use egress_lint::yaml::{Kind, Node, Scalar, Tree, Value};

use super::names::{Sort, Word};
use crate::harness::{name, read};

pub struct Recipe {
    pub name: String,
    pub text: String,
    pub documents: Vec<Value>,
    pub words: Vec<Word>,
    /// The first minor version of Istio 1 that can do it.
    pub since: u32,
    /// All that it needs is among its own documents.
    pub whole: bool,
}

/// A key of a manifest.
pub struct Key {
    pub text: String,
    /// From 1.
    pub line: usize,
    /// The byte behind it.
    pub end: usize,
    pub is_quoted: bool,
}

impl Recipe {
    /// # Panics
    /// If the head of the file is not as `testdata/known-good/README.md` says.
    pub fn load(path: &Path) -> Self {
        let text = read(path);
        let name = name(path).trim_end_matches(".yaml").to_owned();
        let line = |key: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix("# ")?.strip_prefix(key))
        };
        let varies = line("varies: ").unwrap_or_else(|| panic!("{name}: no `# varies:`"));
        let words = varies.split(", ").map(|word| {
            let (sort, text) = word.split_once(' ').expect("a sort and a word");
            Word {
                sort: Sort::named(sort),
                text: text.to_owned(),
            }
        });
        let since = line("needs: Istio 1.").map_or(24, |minor| minor.parse().expect("a number"));
        let tree = Tree::parse(FileId(0), &text);
        assert!(tree.errors().is_empty(), "{name}: {:?}", tree.errors());
        Self {
            words: words.collect(),
            since,
            whole: line("elsewhere: ").is_none(),
            documents: tree.documents(&text).map(|it| value(it.root)).collect(),
            name,
            text,
        }
    }

    /// The keys in the specs of Istio's objects.
    pub fn keys(&self) -> Vec<Key> {
        let tree = Tree::parse(FileId(0), &self.text);
        let mut keys = Vec::new();
        for document in tree.documents(&self.text) {
            let version = document.root.get("apiVersion");
            let version = version.and_then(|it| Some(it.value.as_str()?.into_owned()));
            let istio = version.is_some_and(|it| it.starts_with("networking.istio.io/"));
            if let Some(spec) = document.root.get("spec").filter(|_| istio) {
                self.collect(spec.value, &mut keys);
            }
        }
        keys
    }

    fn collect(&self, node: Node<'_>, keys: &mut Vec<Key>) {
        for entry in node.entries() {
            let span = entry.key.span();
            let before = &self.text[..span.start as usize];
            keys.push(Key {
                text: entry.name.clone().into_owned(),
                line: before.matches('\n').count() + 1,
                end: span.end as usize,
                is_quoted: (span.end - span.start) as usize != entry.name.len(),
            });
            self.collect(entry.value, keys);
        }
        node.items().for_each(|item| self.collect(item, keys));
    }

    /// Whether it says what holds for all of the mesh, so that no second of its kind can stand beside it.
    pub fn sets_the_mesh(&self) -> bool {
        self.documents.iter().any(is_mesh)
    }
}

/// Whether the document carries a mesh configuration.
pub fn is_mesh(document: &Value) -> bool {
    let kind = get(document, "kind");
    ["ConfigMap", "IstioOperator"]
        .map(Value::from)
        .iter()
        .any(|it| kind == Some(it))
}

pub fn get<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Map(entries) => entries
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, it)| it),
        _ => None,
    }
}

fn value(node: Node<'_>) -> Value {
    match node.kind() {
        Kind::Map => Value::Map(
            node.entries()
                .map(|it| (it.name.to_string(), value(it.value)))
                .collect(),
        ),
        Kind::List => Value::List(node.items().map(value).collect()),
        Kind::Scalar => match node.scalar().expect("a scalar") {
            Scalar::Null => Value::Null,
            Scalar::Bool(it) => Value::Bool(it),
            Scalar::Int(it) => Value::Int(it),
            Scalar::Float(it) => Value::Float(it),
            Scalar::Str(it) => Value::Str(it.into_owned()),
        },
    }
}
