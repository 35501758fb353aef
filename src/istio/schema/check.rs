//! Walks an object along its schema. The depth is that of the schema, so input decides nothing.

use std::borrow::Cow;
use std::collections::HashMap;

use super::path::Path;
use super::{Field, KINDS, Rule, Schema, Shape, mesh};
use crate::diag::{Diagnostic, RefusedBy, Severity};
use crate::istio::placeholder::{is_marked, is_placeholder};
use crate::istio::resource::Misspelt;
use crate::istio::version::IstioVersion;
use crate::istio::wording::{bounded, listed};
use crate::source::Span;
use crate::yaml::{Entry, Kind, Node};

/// What the API server says of an object of the group `networking.istio.io`; nothing for a kind that it does not have.
pub(in crate::istio) fn check(kind: Node<'_>, root: Node<'_>, version: IstioVersion) -> Verdict {
    let name = kind.as_str().unwrap_or_default();
    match KINDS.iter().find(|(known, _)| *known == name) {
        Some((kind_name, schema)) => {
            Checker::new(kind_name, Part::Whole, version, kind.span()).run(schema, root)
        }
        None => Verdict::default(),
    }
}

/// What it says of the values alone, whatever is missing beside them.
pub(in crate::istio) fn check_values(
    kind: Node<'_>,
    root: Node<'_>,
    version: IstioVersion,
) -> Vec<Diagnostic> {
    let name = kind.as_str().unwrap_or_default();
    match KINDS.iter().find(|(known, _)| *known == name) {
        Some((kind_name, schema)) => {
            Checker::new(kind_name, Part::Patch, version, kind.span())
                .run(schema, root)
                .findings
        }
        None => Vec::new(),
    }
}

/// What keeps Istio from reading a `MeshConfig`, and fields that are probably misspelt.
pub(in crate::istio) fn check_mesh(root: Node<'_>, version: IstioVersion) -> Vec<Diagnostic> {
    let checker = Checker::new("MeshConfig", Part::Mesh, version, root.first_character());
    let mut findings = checker.run(&mesh::CONFIG, root).findings;
    for finding in &mut findings {
        finding.refused_by = None;
    }
    findings
}

/// What an object is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// What is missing stands elsewhere.
    Patch,
    /// Unknown fields are passed over.
    Mesh,
}

pub(super) struct Checker<'t> {
    pub(super) kind: &'static str,
    pub(super) version: IstioVersion,
    pub(super) part: Part,
    pub(super) path: Path<'t>,
    /// The key of the value in hand, or the first character of an item: where an absent child is reported.
    pub(super) anchor: Span,
    pub(super) verdict: Verdict,
}

/// What the API server does with an object.
#[derive(Default)]
pub(in crate::istio) struct Verdict {
    pub(in crate::istio) findings: Vec<Diagnostic>,
    /// The keys of the fields that it does not know, sorted. Without strict validation it drops them.
    pub(in crate::istio) dropped: Vec<Span>,
    /// Where required fields are missing because they are misspelt, as findings place what is absent.
    pub(in crate::istio) misspelt: Vec<(Span, Option<Box<str>>)>,
    /// Other fields that are missing because they are.
    pub(in crate::istio) lacking: Vec<Misspelt>,
    /// The fields that are spelt wrong, and of which is known what they mean, sorted.
    pub(in crate::istio) meant: Vec<Meant>,
}

/// An entry that stands for the field that it is misspelt for.
#[derive(Clone, Copy, Debug)]
pub(in crate::istio) struct Meant {
    pub(in crate::istio) key: Span,
    /// With its value.
    pub(in crate::istio) entry: Span,
    pub(in crate::istio) field: &'static str,
}

impl<'t> Checker<'t> {
    fn new(kind: &'static str, part: Part, version: IstioVersion, anchor: Span) -> Self {
        Self {
            kind,
            part,
            version,
            path: Path::default(),
            anchor,
            verdict: Verdict::default(),
        }
    }

    fn run(mut self, schema: &'static Schema, root: Node<'t>) -> Verdict {
        self.value(schema, root);
        self.verdict.dropped.sort_unstable();
        self.verdict.meant.sort_unstable_by_key(|it| it.key);
        self.verdict
    }

    /// Whether a field that is not there is so because it is misspelt.
    pub(super) fn misspells(&self, field: &str) -> bool {
        self.verdict.lacking.iter().any(|it| it.field == field)
    }

    /// A finding that makes the API server refuse the object. `{}` in the text stands for the path of the value in hand.
    pub(super) fn refusal(&self, span: Span, text: &str) -> Diagnostic {
        let message = text.replacen("{}", &self.path.to_string(), 1);
        Diagnostic::new("refused", Severity::Error, span, bounded(message))
            .refused_by(RefusedBy::Schema)
    }

    /// The same for a child that the value in hand lacks.
    pub(super) fn lack(&self, name: &str, text: &str) -> Diagnostic {
        self.refusal(self.anchor, text).absent(name)
    }

    pub(super) fn push(&mut self, finding: Diagnostic) {
        self.verdict.findings.push(finding);
    }

    pub(super) fn value(&mut self, schema: &'static Schema, node: Node<'t>) {
        let unknown = match schema.shape {
            Shape::Word(_) => is_marked(node),
            // `port: {number}` is no placeholder.
            Shape::Object(fields) => is_placeholder(node) && !self.knows_first(fields, node),
            _ => is_placeholder(node),
        };
        if unknown {
            return;
        }
        if !self.shape(&schema.shape, node) {
            return;
        }
        // What several fields make together, the other half of a patch may change.
        if self.part == Part::Patch && matches!(schema.shape, Shape::Object(_)) {
            return;
        }
        for rule in schema.rules {
            match rule {
                Rule::AtMostOne(names) => self.at_most_one(&schema.shape, names, node),
                Rule::Cel(rule) => rule(node, self),
            }
        }
    }

    /// Whether the node has the shape, so that the rules can be asked.
    fn shape(&mut self, shape: &Shape, node: Node<'t>) -> bool {
        match (shape, node.kind()) {
            (Shape::Any, _) => true,
            (Shape::Object(fields), Kind::Map) => {
                self.object(fields, node);
                true
            }
            (Shape::Map { value, max }, Kind::Map) => {
                self.map(value, *max, node);
                true
            }
            (
                Shape::List {
                    item,
                    min,
                    max,
                    key,
                },
                Kind::List,
            ) => {
                self.list(item, *min, *max, node);
                if let Some(key) = key {
                    self.distinct(key, node);
                }
                true
            }
            (Shape::Object(_) | Shape::Map { .. } | Shape::List { .. }, _) => {
                self.wrong_type(shape, node);
                false
            }
            (shape, _) => self.scalar(shape, node),
        }
    }

    fn knows_first(&self, fields: &[Field], node: Node<'_>) -> bool {
        let first = node.entries().next();
        first.is_some_and(|entry| {
            fields
                .iter()
                .any(|field| field.name == entry.name && field.is_known(self.version))
        })
    }

    pub(super) fn child(&mut self, schema: &'static Schema, entry: Entry<'t>) {
        let anchor = std::mem::replace(&mut self.anchor, entry.key.span());
        self.path.push(entry.name);
        self.value(schema, entry.value);
        self.path.pop();
        self.anchor = anchor;
    }

    fn map(&mut self, value: &'static Schema, max: usize, node: Node<'t>) {
        let mut count = 0;
        for entry in node.entries() {
            count += 1;
            if !entry.value.is_null() {
                self.child(value, entry);
            }
        }
        if count > max {
            self.push(self.refusal(
                self.anchor,
                &format!("`{{}}` has {count} entries; {max} are allowed"),
            ));
        }
    }

    fn list(&mut self, item: &'static Schema, min: usize, max: usize, node: Node<'t>) {
        let mut count = 0;
        let anchor = self.anchor;
        for (index, child) in node.items().enumerate() {
            count += 1;
            self.path.push_index(index);
            if child.is_null() {
                let finding = self.refusal(child.span(), "`{}` is null");
                self.push(finding.help("remove the item or give it a value"));
            } else {
                self.anchor = child.first_character();
                self.value(item, child);
            }
            self.path.pop();
        }
        self.anchor = anchor;
        if count > max {
            self.push(self.refusal(
                anchor,
                &format!("`{{}}` has {count} items; {max} are allowed"),
            ));
        }
        if count < min && self.part != Part::Patch {
            self.push(self.refusal(
                node.span(),
                &format!("`{{}}` needs at least {min}, and has {count}"),
            ));
        }
    }

    fn distinct(&mut self, key: &str, node: Node<'t>) {
        let mut seen: HashMap<Cow<'t, str>, Span> = HashMap::new();
        for item in node.items() {
            let Some(value) = item.get(key).map(|entry| entry.value) else {
                continue;
            };
            let Some(text) = value.as_str() else { continue };
            let message = format!("the {key} `{text}` is given twice");
            let first = *seen.entry(text).or_insert(value.span());
            if first != value.span() {
                let finding = self
                    .refusal(value.span(), &message)
                    .because(first, "first given here");
                self.push(finding.help(format!("give each item its own `{key}`")));
            }
        }
    }

    fn at_most_one(&mut self, shape: &Shape, names: &[&str], node: Node<'t>) {
        let Shape::Object(fields) = shape else { return };
        let known = |name: &str| {
            fields
                .iter()
                .any(|field| field.name == name && field.is_known(self.version))
        };
        let mut there = node.entries().filter(|entry| {
            names.contains(&&*entry.name) && known(&entry.name) && !entry.value.is_null()
        });
        let Some(first) = there.next() else { return };
        let rest: Vec<_> = there.collect();
        let Some(second) = rest.first() else { return };
        let all = std::iter::once(&first).chain(&rest);
        let text = format!(
            "{} exclude each other",
            listed(all.map(|entry| &*entry.name))
        );
        let finding = self
            .refusal(second.key.span(), &text)
            .because(first.key.span(), "set here");
        let others = rest.iter().skip(1);
        let finding = others.fold(finding, |finding, entry| {
            finding.because(entry.key.span(), "set here")
        });
        self.push(finding.help("keep one of them"));
    }
}
