//! A recipe: a set-up as the documentation recommends it, and which of its words may be others.

use std::path::Path;

use egress_lint::source::FileId;
use egress_lint::yaml::{self, Kind, Node, Tree, Value};

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

/// A key or value of a manifest.
pub struct Scalar {
    /// As it is written.
    pub text: String,
    pub is_key: bool,
    /// From 1.
    pub line: usize,
    /// In bytes.
    pub start: usize,
    pub end: usize,
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

    /// What stands in the specs of Istio's objects.
    pub fn scalars(&self) -> Vec<Scalar> {
        let tree = Tree::parse(FileId(0), &self.text);
        let mut out = Vec::new();
        for document in tree.documents(&self.text) {
            let version = document.root.get("apiVersion");
            let version = version.and_then(|it| Some(it.value.as_str()?.into_owned()));
            let istio = version.is_some_and(|it| it.starts_with("networking.istio.io/"));
            if let Some(spec) = document.root.get("spec").filter(|_| istio) {
                self.collect(spec.value, &mut out);
            }
        }
        out
    }

    fn collect(&self, node: Node<'_>, out: &mut Vec<Scalar>) {
        for entry in node.entries() {
            out.push(self.scalar(entry.key, true));
            self.collect(entry.value, out);
        }
        node.items().for_each(|item| self.collect(item, out));
        if node.kind() == Kind::Scalar {
            out.push(self.scalar(node, false));
        }
    }

    fn scalar(&self, node: Node<'_>, is_key: bool) -> Scalar {
        let (start, end) = (node.span().start as usize, node.span().end as usize);
        Scalar {
            text: self.text[start..end].to_owned(),
            is_key,
            line: self.text[..start].matches('\n').count() + 1,
            start,
            end,
        }
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
            yaml::Scalar::Null => Value::Null,
            yaml::Scalar::Bool(it) => Value::Bool(it),
            yaml::Scalar::Int(it) => Value::Int(it),
            yaml::Scalar::Float(it) => Value::Float(it),
            yaml::Scalar::Str(it) => Value::Str(it.into_owned()),
        },
    }
}
