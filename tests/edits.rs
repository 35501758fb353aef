//! Edits change what they should, and nothing else: not the other values, not their comments.

use std::cell::Cell;

use egress_lint::diag::Edit;
use egress_lint::source::{FileId, Span};
use egress_lint::yaml::{Kind, Node, Tree, Value, change as with};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// Writes a value in styles that the numbers of `dice` choose, with comments that are all different.
struct Writer {
    dice: Vec<u8>,
    at: usize,
    comments: usize,
    line_end: &'static str,
    out: String,
}

impl Writer {
    fn roll(&mut self, sides: u8) -> u8 {
        self.at += 1;
        self.dice
            .get(self.at % self.dice.len())
            .map_or(0, |dice| dice % sides)
    }

    fn comment(&mut self) {
        if self.roll(4) == 0 {
            self.comments += 1;
            self.out.push_str(&format!(" # c{}", self.comments));
        }
    }

    fn new_line(&mut self, indent: usize) {
        self.comment();
        self.out.push_str(self.line_end);
        match self.roll(8) {
            0 => {
                self.comments += 1;
                let comment = format!(
                    "{}# c{}{}",
                    " ".repeat(indent),
                    self.comments,
                    self.line_end
                );
                self.out.push_str(&comment);
            }
            1 => self.out.push_str(self.line_end),
            _ => {}
        }
        self.out.push_str(&" ".repeat(indent));
    }

    fn string(&mut self, text: &str) {
        let plain = text.chars().all(|c| c.is_ascii_lowercase()) && text.len() > 5;
        let written = match self.roll(4) {
            0 if plain => text.to_owned(),
            1 if !text.contains('\n') => format!("'{}'", text.replace('\'', "''")),
            _ => serde_json::to_string(text).unwrap_or_default(),
        };
        self.out.push_str(&written);
    }

    fn scalar(&mut self, value: &Value) {
        match value {
            Value::Str(text) => self.string(text),
            Value::Int(number) => self.out.push_str(&number.to_string()),
            Value::Bool(true) => {
                let word = if self.roll(2) == 0 { "true" } else { "yes" };
                self.out.push_str(word);
            }
            Value::Bool(false) => self.out.push_str("off"),
            _ => {
                let word = if self.roll(2) == 0 { "null" } else { "~" };
                self.out.push_str(word);
            }
        }
    }

    fn flow(&mut self, value: &Value) {
        match value {
            Value::List(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.out.push_str(", ");
                    }
                    self.flow(item);
                }
                self.out.push(']');
            }
            Value::Map(entries) => {
                let blank = if self.roll(2) == 0 { " " } else { "" };
                self.out.push('{');
                self.out.push_str(blank);
                for (index, (name, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        self.out.push_str(", ");
                    }
                    self.string(name);
                    self.out.push_str(": ");
                    self.flow(value);
                }
                self.out.push_str(blank);
                self.out.push('}');
            }
            scalar => self.scalar(scalar),
        }
    }

    /// Behind a key or a dash, in whose column `indent` is.
    fn behind(&mut self, value: &Value, indent: usize, in_list: bool) {
        match value {
            Value::Map(entries) if !entries.is_empty() && self.roll(4) != 0 => {
                let inner = indent + 2 + usize::from(!in_list && self.roll(3) == 0) * 2;
                if in_list {
                    self.out.push(' ');
                }
                self.entries(entries, inner, in_list);
            }
            Value::List(items) if !items.is_empty() && self.roll(4) != 0 => {
                let inner = indent + usize::from(in_list || self.roll(2) == 0) * 2;
                self.items(items, inner);
            }
            Value::Str(text)
                if text.ends_with('\n')
                    && text.trim_end() == &text[..text.len() - 1]
                    && self.roll(2) == 0 =>
            {
                self.out.push_str(" |");
                for line in text.lines() {
                    self.out.push_str(self.line_end);
                    self.out
                        .push_str(&format!("{}{line}", " ".repeat(indent + 2)));
                }
            }
            Value::Null if self.roll(2) == 0 => {}
            other => {
                self.out.push(' ');
                self.flow(other);
            }
        }
    }

    fn entries(&mut self, entries: &[(String, Value)], indent: usize, mut compact: bool) {
        for (name, value) in entries {
            if !std::mem::take(&mut compact) {
                self.new_line(indent);
            }
            self.string(name);
            self.out.push(':');
            self.behind(value, indent, false);
        }
    }

    fn items(&mut self, items: &[Value], indent: usize) {
        for item in items {
            self.new_line(indent);
            self.out.push('-');
            self.behind(item, indent, true);
        }
    }
}

fn write(value: &Value, dice: &[u8], line_end: &'static str) -> String {
    let mut writer = Writer {
        dice: dice.to_vec(),
        at: 0,
        comments: 0,
        line_end,
        out: String::new(),
    };
    if let Value::Map(entries) = value {
        writer.entries(entries, 0, false);
    }
    writer.comment();
    writer.out.push_str(line_end);
    writer.out
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z]{0,8}",
        Just("*.partner.example".to_owned()),
        Just("한글: 값 # kein".to_owned()),
        Just("0443".to_owned()),
        Just("it's".to_owned()),
        Just("two\nlines\n".to_owned()),
    ];
    let leaf = prop_oneof![
        text.prop_map(Value::Str),
        (-5i64..500).prop_map(Value::Int),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Null),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            entries(inner).prop_map(Value::Map),
        ]
    })
}

fn entries(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Vec<(String, Value)>> {
    let name = prop_oneof![
        "[a-z]{1,8}",
        Just("키 이름".to_owned()),
        Just("on".to_owned())
    ];
    prop::collection::vec((name, inner), 0..4).prop_map(|mut entries| {
        let mut seen = std::collections::HashSet::new();
        entries.retain(|(name, _)| seen.insert(name.clone()));
        entries
    })
}

fn read(text: &str) -> Option<Value> {
    let tree = Tree::parse(FileId(0), text);
    assert!(tree.errors().is_empty(), "{:?} in\n{text}", tree.errors());
    tree.documents(text)
        .next()
        .map(|document| Value::from(document.root))
}

fn comments(text: &str) -> Vec<String> {
    let tree = Tree::parse(FileId(0), text);
    let text = |span: Span| text[span.start as usize..span.end as usize].to_owned();
    let comments = tree.comments().iter();
    comments.map(|comment| text(comment.span)).collect()
}

fn splice(text: &str, edit: &Edit) -> String {
    let (start, end) = (edit.span.start as usize, edit.span.end as usize);
    format!("{}{}{}", &text[..start], edit.text, &text[end..])
}

/// All collections of a tree with the path of child numbers that leads there.
fn collections<'t>(node: Node<'t>, path: &mut Vec<usize>, out: &mut Vec<(Vec<usize>, Node<'t>)>) {
    if node.kind() == Kind::Scalar {
        return;
    }
    out.push((path.clone(), node));
    for (index, child) in node
        .entries()
        .map(|entry| entry.value)
        .chain(node.items())
        .enumerate()
    {
        path.push(index);
        collections(child, path, out);
        path.pop();
    }
}

fn at<'v>(value: &'v mut Value, path: &[usize]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, &index| match value {
        Value::List(items) => items.get_mut(index),
        Value::Map(entries) => entries.get_mut(index).map(|(_, value)| value),
        _ => None,
    })
}

/// What is done to a collection: to the text, and to the value.
#[derive(Clone, Debug)]
enum Change {
    Add(Value),
    Remove(usize),
    Set(usize, Value),
    Rename(usize),
}

fn edit_of(node: Node<'_>, change: &Change) -> Option<Edit> {
    match change {
        Change::Add(value) if node.kind() == Kind::Map => with::insert(node, "added", value),
        Change::Add(value) => with::append(node, value),
        Change::Remove(index) if node.kind() == Kind::Map => {
            with::remove(node, &node.entries().nth(*index)?)
        }
        Change::Remove(index) => with::remove_item(node, node.items().nth(*index)?),
        Change::Set(index, value) => with::set(node, &node.entries().nth(*index)?, value),
        Change::Rename(index) => with::rename(&node.entries().nth(*index)?, "renamed"),
    }
}

/// Whether there is anything to change.
fn fits(node: Node<'_>, change: &Change) -> bool {
    let map = node.kind() == Kind::Map;
    let length = if map {
        node.entries().count()
    } else {
        node.items().count()
    };
    match change {
        Change::Add(_) => true,
        Change::Remove(index) => *index < length,
        Change::Set(index, _) | Change::Rename(index) => map && *index < length,
    }
}

fn apply(value: &mut Value, change: &Change) {
    match (value, change) {
        (Value::Map(entries), Change::Add(value)) => {
            entries.push(("added".to_owned(), value.clone()))
        }
        (Value::List(items), Change::Add(value)) => items.push(value.clone()),
        (Value::Map(entries), Change::Remove(index)) => drop(entries.remove(*index)),
        (Value::List(items), Change::Remove(index)) => drop(items.remove(*index)),
        (Value::Map(entries), Change::Set(index, value)) => entries[*index].1 = value.clone(),
        (Value::Map(entries), Change::Rename(index)) => entries[*index].0 = "renamed".to_owned(),
        _ => {}
    }
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        value().prop_map(Change::Add),
        (0usize..4).prop_map(Change::Remove),
        (0usize..4, value()).prop_map(|(index, value)| Change::Set(index, value)),
        (0usize..4).prop_map(Change::Rename),
    ]
}

#[test]
fn only_what_is_meant_changes() {
    let done = Cell::new(0u32);
    let refused = Cell::new(0u32);
    let strategy = (
        entries(value()).prop_map(Value::Map),
        prop::collection::vec(any::<u8>(), 40..80),
        prop_oneof![Just("\n"), Just("\r\n")],
        any::<prop::sample::Index>(),
        change(),
    );
    let config = ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    TestRunner::new(config)
        .run(&strategy, |(model, dice, line_end, which, change)| {
            let text = write(&model, &dice, line_end);
            let tree = Tree::parse(FileId(0), &text);
            prop_assert!(tree.errors().is_empty(), "{:?} in\n{text}", tree.errors());
            let Some(document) = tree.documents(&text).next() else {
                return Ok(());
            };
            let mut model = Value::from(document.root);
            let mut found = Vec::new();
            collections(document.root, &mut Vec::new(), &mut found);
            let (path, node) = &found[which.index(found.len())];
            if !fits(*node, &change) {
                return Ok(());
            }
            let Some(edit) = edit_of(*node, &change) else {
                refused.set(refused.get() + 1);
                return Ok(());
            };
            done.set(done.get() + 1);
            let after = splice(&text, &edit);
            if let Some(value) = at(&mut model, path) {
                apply(value, &change);
            }
            prop_assert_eq!(
                read(&after),
                Some(model),
                "{:?}\n{}\n---\n{}",
                change,
                text,
                after
            );
            prop_assert_eq!(
                comments(&text),
                comments(&after),
                "{}\n---\n{}",
                text,
                after
            );
            prop_assert_eq!(after.contains("\r\n"), line_end == "\r\n");
            prop_assert_eq!(after.matches('\n').count(), after.matches(line_end).count());
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let (done, refused) = (done.get(), refused.get());
    // A comment between a key and its value keeps some from being done.
    assert!(done > 4 * refused, "{done} edits, {refused} refused");
}
