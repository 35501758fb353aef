//! Walks an object along its schema. The depth is that of the schema, so input decides nothing.

use std::collections::HashMap;

use super::path::Path;
use super::{Field, KINDS, Rule, Schema, Shape, unknown};
use crate::diag::{Diagnostic, Label, RefusedBy, Severity};
use crate::istio::placeholder::{is_marked, is_placeholder};
use crate::istio::version::IstioVersion;
use crate::source::Span;
use crate::yaml::{Entry, Kind, Node};

/// What the API server says of an object of the group `networking.istio.io`; nothing for a kind that it does not have.
pub(in crate::istio) fn check(
    kind: Node<'_>,
    root: Node<'_>,
    version: IstioVersion,
) -> Vec<Diagnostic> {
    let anchor = kind.span();
    let name = kind.as_str().unwrap_or_default();
    let Some((kind, schema)) = KINDS.iter().find(|(known, _)| *known == name) else {
        return Vec::new();
    };
    let mut checker = Checker {
        kind,
        version,
        path: Path::default(),
        anchor,
        findings: Vec::new(),
    };
    checker.value(schema, root);
    checker.findings
}

pub(super) struct Checker<'t> {
    pub(super) kind: &'static str,
    pub(super) version: IstioVersion,
    pub(super) path: Path<'t>,
    /// The key of the value in hand, or the first character of an item: where an absent child is reported.
    anchor: Span,
    findings: Vec<Diagnostic>,
}

impl<'t> Checker<'t> {
    /// Reports that the API server refuses the value in hand. `{}` in the text stands for its path.
    pub(super) fn refuse(&mut self, span: Span, text: &str) -> &mut Diagnostic {
        let path = self.path.to_string();
        let message = text.replacen("{}", &path, 1);
        let mut finding = Diagnostic::new("refused", Severity::Error, span, message)
            .refused_by(RefusedBy::Schema);
        finding.field = Some(path);
        self.push(finding)
    }

    fn push(&mut self, finding: Diagnostic) -> &mut Diagnostic {
        self.findings.push(finding);
        let last = self.findings.len() - 1;
        &mut self.findings[last]
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

    fn object(&mut self, fields: &'static [Field], node: Node<'t>) {
        let version = self.version;
        let active = |name: &str| {
            fields
                .iter()
                .find(|field| field.name == name && field.is_known(version))
        };
        let mut present = Vec::with_capacity(fields.len());
        let mut strange = Vec::new();
        for entry in node.entries() {
            match active(&entry.name) {
                Some(field) => present.push((field, entry)),
                None => strange.push(entry),
            }
        }
        for field in fields
            .iter()
            .filter(|field| field.required && field.is_known(version))
        {
            let there = |(known, entry): &(&Field, Entry<'_>)| {
                known.name == field.name && !entry.value.is_null()
            };
            if !present.iter().any(there) {
                self.missing(field);
            }
        }
        for entry in &strange {
            let finding = unknown::field(entry, fields, self);
            self.findings.push(finding);
        }
        for (field, entry) in present {
            if !entry.value.is_null() {
                self.child(&field.schema, entry);
            }
        }
    }

    fn child(&mut self, schema: &'static Schema, entry: Entry<'t>) {
        let anchor = std::mem::replace(&mut self.anchor, entry.key.span());
        self.path.push(entry.name);
        self.value(schema, entry.value);
        self.path.pop();
        self.anchor = anchor;
    }

    fn missing(&mut self, field: &Field) {
        let path = self.path.child(field.name);
        self.refuse_absent(field.name, &format!("`{path}` is missing"));
    }

    /// Reports that the value in hand is refused because it lacks a child.
    pub(super) fn refuse_absent(&mut self, name: &str, text: &str) {
        let path = self.path.child(name);
        let finding = self.refuse(self.anchor, text);
        finding.absent = Some(name.to_owned());
        finding.field = Some(path);
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
            self.refuse(
                self.anchor,
                &format!("`{{}}` has {count} entries; {max} are allowed"),
            );
        }
    }

    fn list(&mut self, item: &'static Schema, min: usize, max: usize, node: Node<'t>) {
        let mut count = 0;
        let anchor = self.anchor;
        for (index, child) in node.items().enumerate() {
            count += 1;
            self.path.push_index(index);
            if child.is_null() {
                self.refuse(child.span(), "`{}` is null").help =
                    Some("remove the item or give it a value".to_owned());
            } else {
                self.anchor = child.first_character();
                self.value(item, child);
            }
            self.path.pop();
        }
        self.anchor = anchor;
        if count > max {
            self.refuse(
                anchor,
                &format!("`{{}}` has {count} items; {max} are allowed"),
            );
        }
        if count < min {
            let least = if min == 1 {
                "one is needed".to_owned()
            } else {
                format!("{min} are needed")
            };
            self.refuse(
                node.span(),
                &format!("`{{}}` has {count} items; at least {least}"),
            );
        }
    }

    fn distinct(&mut self, key: &str, node: Node<'t>) {
        let mut seen: HashMap<String, Span> = HashMap::new();
        for (index, item) in node.items().enumerate() {
            let Some(entry) = item.get(key) else { continue };
            let Some(text) = entry.value.as_str() else {
                continue;
            };
            let first = *seen.entry(text.to_string()).or_insert(entry.value.span());
            if first != entry.value.span() {
                self.path.push_index(index);
                self.path.push(key.to_owned());
                let finding = self.refuse(
                    entry.value.span(),
                    &format!("the {key} `{text}` is given twice"),
                );
                finding.related.push(Label {
                    span: first,
                    message: "first given here".to_owned(),
                });
                finding.help = Some(format!("give each item its own `{key}`"));
                self.path.pop();
                self.path.pop();
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
        for entry in rest {
            self.path.push(entry.name.clone());
            let finding = self.refuse(
                entry.key.span(),
                &format!("`{}` and `{}` exclude each other", first.name, entry.name),
            );
            finding.related.push(Label {
                span: first.key.span(),
                message: format!("`{}` is set here", first.name),
            });
            finding.help = Some("keep one of them".to_owned());
            self.path.pop();
        }
    }
}
