//! From a span back to the node: trees are gone when a finding is fixed, so its file is read again.

use crate::diag::Edit;
use crate::source::Span;

use super::change;
use super::node::{Entry, Kind, Node};
use super::tree::Tree;
use super::value::Value;

/// In a map or list with more children nothing is changed, so that the time for all changes stays linear.
const SIBLINGS: usize = 512;

/// Where a value stands in its document.
#[derive(Clone, Debug)]
pub struct Place<'t> {
    pub parent: Node<'t>,
    /// The entry, where the parent is a map.
    pub entry: Option<Entry<'t>>,
    pub value: Node<'t>,
}

impl Tree {
    /// The entry with its key or its scalar value at `key`, or the item that begins there.
    pub fn locate<'t>(&'t self, text: &'t str, key: Span) -> Option<Place<'t>> {
        let mut parent = self.document_around(text, key)?.root;
        loop {
            if children(parent).nth(SIBLINGS).is_some() {
                return None;
            }
            let child = children(parent)
                .find(|child| child.key.start == key.start || child.value.span().contains(key))?;
            // An item that is a collection begins where its own first child does: the span tells them apart.
            let inside = child.entry.is_none()
                && child.value.kind() == Kind::Map
                && child.key != key
                && child.value.span().contains(key);
            let scalar = child.value.kind() == Kind::Scalar && child.value.span() == key;
            if scalar || child.key.start == key.start && !inside {
                return Some(Place {
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
    key: Span,
    entry: Option<Entry<'t>>,
    value: Node<'t>,
}

fn children<'t>(parent: Node<'t>) -> impl Iterator<Item = Child<'t>> {
    let entries = parent.written_entries().map(|entry| Child {
        key: entry.key.span(),
        value: entry.value,
        entry: Some(entry),
    });
    let items = parent.items().map(|value| Child {
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

    /// Adds an entry to the map that it is an entry of.
    pub fn insert_beside(&self, name: &str, value: &Value) -> Option<Edit> {
        change::insert(self.parent, name, value)
    }

    /// Writes the entry that `other` is, of the same file, once more in the map that this is.
    pub fn copy(&self, other: &Place<'_>) -> Option<Edit> {
        change::copy(other.entry.as_ref()?, self.value)
    }

    /// Calls the entry by another name.
    pub fn rename(&self, name: &str) -> Option<Edit> {
        let taken = self.parent.get(name).is_some();
        self.entry
            .as_ref()
            .filter(|_| !taken)
            .and_then(|entry| change::rename(entry, name))
    }

    /// Adds an item to the list that it is.
    pub fn append(&self, value: &Value) -> Option<Edit> {
        change::append(self.value, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    const FILE: FileId = FileId(0);

    /// The key of the entry, or the first character of the item, at a path of names and indexes.
    fn key(text: &str, path: &str) -> Span {
        let tree = Tree::parse(FILE, text);
        let mut node = tree.documents(text).next().unwrap().root;
        let mut key = node.span();
        for step in path.split('.') {
            match step.parse::<usize>() {
                Ok(index) => {
                    node = node.items().nth(index).unwrap();
                    key = node.first_character();
                }
                Err(_) => {
                    let entry = node.get(step).unwrap();
                    key = entry.key.span();
                    node = entry.value;
                }
            }
        }
        key
    }

    fn changed(
        text: &str,
        path: &str,
        change: impl FnOnce(&Place<'_>) -> Option<Edit>,
    ) -> Option<String> {
        let tree = Tree::parse(FILE, text);
        let edit = change(&tree.locate(text, key(text, path)).unwrap())?;
        let (start, end) = (edit.span.start as usize, edit.span.end as usize);
        Some(format!("{}{}{}", &text[..start], edit.text, &text[end..]))
    }

    #[test]
    fn a_place_is_found_by_its_key_or_its_scalar_value() {
        let text = "a:\n- b: 1\n  c: {d: x}\n---\na: other\n";
        let tree = Tree::parse(FILE, text);
        for (path, expected) in [
            ("a", "- b: 1\n  c: {d: x}"),
            ("a.0", "b: 1\n  c: {d: x}"),
            ("a.0.c", "{d: x}"),
            ("a.0.c.d", "x"),
        ] {
            let value = tree.locate(text, key(text, path)).unwrap().value.span();
            let written = &text[value.start as usize..value.end as usize];
            assert_eq!(written.trim_end(), expected);
        }
        let value = u32::try_from(text.find('x').unwrap()).unwrap();
        let scalar = tree.locate(text, Span::new(FILE, value, value + 1));
        assert_eq!(&*scalar.unwrap().entry.unwrap().name, "d");
        let second = u32::try_from(text.rfind('a').unwrap()).unwrap();
        let second = tree.locate(text, Span::new(FILE, second, second + 1));
        assert_eq!(second.unwrap().value.as_str().as_deref(), Some("other"));
        let items = "- 1\n".repeat(SIBLINGS + 1);
        assert!(
            Tree::parse(FILE, &items)
                .locate(&items, Span::new(FILE, 2, 3))
                .is_none()
        );
    }

    #[test]
    fn an_entry_is_added_as_its_neighbours_are_written() {
        for (text, path, expected) in [
            ("a:\n  b: 1\n", "a", "a:\n  b: 1\n  max: 50\n"),
            ("a:\n  b: 1", "a", "a:\n  b: 1\n  max: 50"),
            (
                "a:\n  b: 1 # why\nc: 2\n",
                "a",
                "a:\n  b: 1 # why\n  max: 50\nc: 2\n",
            ),
            (
                "a:\r\n  b: 1\r\nc: 2\r\n",
                "a",
                "a:\r\n  b: 1\r\n  max: 50\r\nc: 2\r\n",
            ),
            (
                "a:\n- b:\n    c: 1\n\nd: 2\n",
                "a.0",
                "a:\n- b:\n    c: 1\n  max: 50\n\nd: 2\n",
            ),
            ("a: {b: 1}\n", "a", "a: {b: 1, max: 50}\n"),
            ("a: {}\n", "a", "a: {max: 50}\n"),
            ("a:\n", "a", "a:\n  max: 50\n"),
            ("a: { b: 1, }\n", "a", "a: { b: 1, max: 50, }\n"),
            (
                "{\"a\": {\"b\": 1}}",
                "a",
                "{\"a\": {\"b\": 1, \"max\": 50}}",
            ),
        ] {
            let added = changed(text, path, |it| it.insert("max", &Value::Int(50)));
            assert_eq!(added.as_deref(), Some(expected), "{text}");
        }
        let alias = "x: &x {b: 1}\na: *x\n";
        assert_eq!(
            changed(alias, "a", |it| it.insert("max", &Value::Int(50))),
            None
        );
    }

    fn copied(text: &str, from: &str, to: &str) -> Option<String> {
        let tree = Tree::parse(FILE, text);
        let from = tree.locate(text, key(text, from)).unwrap();
        changed(text, to, |it| it.copy(&from))
    }

    #[test]
    fn an_entry_is_copied_with_the_indentation_of_its_new_place() {
        let text = "a:\n  od:\n    # why\n    x: 1\n\n    y:\n      z: 2\n  l:\n  - port: 80\n    tls: {m: S}\n";
        let expected =
            format!("{text}    od:\n      # why\n      x: 1\n\n      y:\n        z: 2\n");
        assert_eq!(copied(text, "a.od", "a.l.0"), Some(expected));
        let flow = "a: {od: {x: 1}, l: [{port: 80}]}\n";
        let expected = "a: {od: {x: 1}, l: [{port: 80, od: {x: 1}}]}\n";
        assert_eq!(copied(flow, "a.od", "a.l.0").as_deref(), Some(expected));
        let mixed = "a:\n  od:\n    x: 1\n  l: [{port: 80}]\n";
        assert_eq!(copied(mixed, "a.od", "a.l.0"), None);
        let anchored = "a:\n  od: &x\n    x: 1\n  l:\n  - port: 80\n";
        assert_eq!(copied(anchored, "a.od", "a.l.0"), None);
    }

    #[test]
    fn what_is_removed_leaves_its_comments() {
        for (text, path, expected) in [
            ("a:\n  b: 1\n  c: 2\n", "a.b", "a:\n  c: 2\n"),
            ("a:\n  b: 1 # why\n  c: 2\n", "a.b", "a:\n  # why\n  c: 2\n"),
            (
                "a:\n- b:\n    # x\n    c: 1 # y\n- d\n",
                "a.0",
                "a:\n# x\n# y\n- d\n",
            ),
            ("a: {b: 1, c: 2} # why\n", "a.b", "a: {c: 2} # why\n"),
        ] {
            let left = changed(text, path, |it| it.remove());
            assert_eq!(left.as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_string_keeps_its_quotes_or_gets_those_it_needs() {
        for (text, value, expected) in [
            ("a: DNS_ROUND_ROBIN # x\n", "DNS", "a: DNS # x\n"),
            ("a: 'DNS_ROUND_ROBIN'\n", "DNS", "a: 'DNS'\n"),
            ("{\"a\": \"DNS_ROUND_ROBIN\"}", "DNS", "{\"a\": \"DNS\"}"),
            ("a: x\n", "503", "a: \"503\"\n"),
        ] {
            let set = changed(text, "a", |it| it.set(&Value::from(value)));
            assert_eq!(set.as_deref(), Some(expected), "{text}");
        }
    }
}
