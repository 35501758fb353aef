//! From a span back to the node: trees are gone when a finding is fixed, so its document is read again.

use std::fmt::Write as _;

use crate::diag::Edit;
use crate::source::{FileId, Span};

use super::change;
use super::node::{Entry, Kind, Node};
use super::split::chunk_at;
use super::tree::Tree;
use super::value::Value;

/// Where a value stands in its document.
#[derive(Clone, Debug)]
pub struct Place<'t> {
    /// As Kubernetes writes it: `spec.http[0].retries`. Empty for the root.
    pub path: String,
    pub parent: Node<'t>,
    /// The entry, where the parent is a map.
    pub entry: Option<Entry<'t>>,
    pub value: Node<'t>,
}

impl Tree {
    /// Reads the one document around `offset` again, and nothing else of the file.
    pub fn around(file: FileId, text: &str, offset: u32) -> Self {
        Self::parse_chunks(file, text, &[chunk_at(text, offset)])
    }

    /// The entry with its key at `key`, or the item that begins there.
    pub fn locate<'t>(&'t self, text: &'t str, key: Span) -> Option<Place<'t>> {
        let document = self
            .documents(text)
            .find(|document| document.span.contains(key))?;
        let mut path = String::new();
        let mut parent = document.root;
        loop {
            let child = children(parent)
                .find(|child| child.key.start == key.start || child.value.span().contains(key))?;
            match &child.entry {
                Some(entry) if path.is_empty() => path.push_str(&entry.name),
                Some(entry) => {
                    let _ = write!(path, ".{}", entry.name);
                }
                None => {
                    let _ = write!(path, "[{}]", child.index);
                }
            }
            // An item that is a collection begins where its own first child does: the span tells them apart.
            let inside = child.entry.is_none()
                && child.value.kind() == Kind::Map
                && child.key != key
                && child.value.span().contains(key);
            if child.key.start == key.start && !inside {
                return Some(Place {
                    path,
                    parent,
                    entry: child.entry,
                    value: child.value,
                });
            }
            if child.value.is_alias() {
                return None;
            }
            parent = child.value;
        }
    }
}

struct Child<'t> {
    index: usize,
    key: Span,
    entry: Option<Entry<'t>>,
    value: Node<'t>,
}

fn children<'t>(parent: Node<'t>) -> impl Iterator<Item = Child<'t>> {
    let entries = parent.written_entries().map(|entry| Child {
        index: 0,
        key: entry.key.span(),
        value: entry.value,
        entry: Some(entry),
    });
    let items = parent.items().enumerate().map(|(index, value)| Child {
        index,
        key: value.first_character(),
        entry: None,
        value,
    });
    entries.chain(items)
}

impl Place<'_> {
    /// Removes it with its lines.
    pub fn remove(&self) -> Option<Edit> {
        match &self.entry {
            Some(entry) => change::remove(self.parent, entry),
            None => change::remove_item(self.parent, self.value),
        }
    }

    /// Gives it another value.
    pub fn set(&self, value: &Value) -> Option<Edit> {
        match &self.entry {
            Some(entry) => change::set(self.parent, entry, value),
            None => (self.value.kind() == Kind::Scalar).then(|| change::scalar(self.value, value)),
        }
    }

    /// Adds an entry to the map that it is, or makes it one where it is null.
    pub fn insert(&self, name: &str, value: &Value) -> Option<Edit> {
        if self.value.is_null() {
            return self.set(&Value::Map(vec![(name.to_owned(), value.clone())]));
        }
        change::insert(self.value, name, value)
    }

    /// Adds an item to the list that it is.
    pub fn append(&self, value: &Value) -> Option<Edit> {
        change::append(self.value, value)
    }
}
