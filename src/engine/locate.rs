//! Which object a place in a file belongs to, and the path there, as Kubernetes writes it.

use std::fmt::Write as _;
use std::ops::Range;

use crate::source::Span;
use crate::yaml::{Kind, Node};

/// A place whose path is asked for.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) span: Span,
    /// It stands for a child that is not there: the first character of an item is then the item itself.
    pub(super) parent: bool,
    pub(super) path: String,
}

/// Finds the path of each place below `root`. At a node of which `is_object` holds, paths begin anew.
pub(super) fn paths(root: Node<'_>, wanted: &mut [Wanted], is_object: &dyn Fn(Span) -> bool) {
    let document = root.span().start..=root.span().end;
    let inside = (0..).zip(wanted.iter());
    // The others lie in other documents.
    let inside = inside.filter(|(_, wanted)| document.contains(&wanted.span.start));
    let inside = inside.map(|(index, _)| index).collect();
    let mut walk = Walk {
        wanted,
        is_object,
        path: String::new(),
    };
    walk.node(root, inside);
}

struct Walk<'a> {
    wanted: &'a mut [Wanted],
    is_object: &'a dyn Fn(Span) -> bool,
    path: String,
}

/// A child of a node: where it stands, and what it is called.
struct Child<'t> {
    range: Range<u32>,
    key: Span,
    step: String,
    value: Node<'t>,
    item: bool,
}

impl Walk<'_> {
    /// Each of `inside` lies in the node. Depth is bounded by the parser.
    fn node(&mut self, node: Node<'_>, inside: Vec<usize>) {
        if inside.is_empty() {
            return;
        }
        let outer = (self.is_object)(node.span()).then(|| std::mem::take(&mut self.path));
        let mut inside = inside;
        inside.sort_by_key(|&index| self.span(index).start);
        let mut rest = inside.into_iter().peekable();
        for child in children(node) {
            let mut below = Vec::new();
            while let Some(index) = rest.next_if(|&index| self.span(index).start < child.range.end)
            {
                let span = self.span(index);
                if child.range.start <= span.start && span.end <= child.range.end {
                    below.push(index);
                } else {
                    self.settle(index);
                }
            }
            self.child(&child, below);
        }
        for index in rest {
            self.settle(index);
        }
        if let Some(outer) = outer {
            self.path = outer;
        }
    }

    fn child(&mut self, child: &Child<'_>, below: Vec<usize>) {
        if below.is_empty() {
            return;
        }
        let length = self.path.len();
        if self.path.is_empty() {
            self.path
                .push_str(child.step.strip_prefix('.').unwrap_or(&child.step));
        } else {
            self.path.push_str(&child.step);
        }
        let value = child.value.span();
        let (deeper, here): (Vec<_>, Vec<_>) = below.into_iter().partition(|&index| {
            let span = self.span(index);
            let stands_for_item = child.item && span == child.key && self.is_item(index, child);
            value.contains(span) && !stands_for_item
        });
        for index in here {
            self.settle(index);
        }
        self.node(child.value, deeper);
        self.path.truncate(length);
    }

    /// Whether the first character of an item means the item, and not a key of one character.
    fn is_item(&self, index: usize, child: &Child<'_>) -> bool {
        let first = child.value.entries().next();
        self.wanted.get(index).is_some_and(|wanted| wanted.parent)
            || first.is_none_or(|entry| entry.key.span() != child.key)
    }

    fn span(&self, index: usize) -> Span {
        self.wanted.get(index).map_or(NOWHERE, |wanted| wanted.span)
    }

    fn settle(&mut self, index: usize) {
        if let Some(wanted) = self.wanted.get_mut(index) {
            wanted.path.clone_from(&self.path);
        }
    }
}

const NOWHERE: Span = Span {
    file: crate::source::FileId(u32::MAX),
    start: 0,
    end: 0,
};

/// The children that are written inside of the node, in the order of the text.
fn children(node: Node<'_>) -> Vec<Child<'_>> {
    let mut out: Vec<Child<'_>> = match node.kind() {
        Kind::Map => node
            .entries()
            .map(|entry| Child {
                range: entry.key.span().start..entry.value.span().end.max(entry.key.span().end),
                key: entry.key.span(),
                step: step(&entry.name),
                value: entry.value,
                item: false,
            })
            .collect(),
        Kind::List => node
            .items()
            .enumerate()
            .map(|(index, item)| Child {
                range: item.span().start..item.span().end,
                key: item.first_character(),
                step: format!("[{index}]"),
                value: item,
                item: true,
            })
            .collect(),
        Kind::Scalar => Vec::new(),
    };
    let whole = node.span();
    out.retain(|child| whole.start <= child.range.start && child.range.start < whole.end);
    out.sort_by_key(|child| child.range.start);
    out
}

/// `.spec`, or `[egress-lint/ignore]` for a key that a path cannot hold bare.
fn step(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '$');
    let mut out = String::with_capacity(name.len() + 2);
    let _ = if !name.is_empty() && name.chars().all(plain) {
        write!(out, ".{name}")
    } else {
        write!(out, "[{name}]")
    };
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::yaml::Tree;

    /// The path of the first place where `what` stands.
    fn path(text: &str, what: &str, parent: bool) -> String {
        let at = text.find(what).unwrap() as u32;
        let span = Span::new(FileId(0), at, at + what.len() as u32);
        path_of(text, span, parent, |_| false)
    }

    fn path_of(text: &str, span: Span, parent: bool, is_object: impl Fn(Span) -> bool) -> String {
        let tree = Tree::parse(FileId(0), text);
        let mut wanted = [Wanted {
            span,
            parent,
            path: String::new(),
        }];
        for document in tree.documents(text) {
            paths(document.root, &mut wanted, &is_object);
        }
        wanted[0].path.clone()
    }

    const TEXT: &str = "\
metadata:
  annotations: {egress-lint/class: cdn}
spec:
  http:
  - route: [{destination: {host: a}}]
    retries:
      attempts: 0
  - match: x
";

    #[test]
    fn of_several_documents_one_has_the_place() {
        for text in ["{a: {b: 1}}\n---\nc: 2\n", r#"{"a": {"b": 1}} {"c": 2}"#] {
            assert_eq!(path(text, "1", false), "a.b");
            assert_eq!(path(text, "2", false), "c");
        }
    }

    #[test]
    fn keys_and_values_have_the_path_of_their_entry() {
        for (what, expected) in [
            ("attempts", "spec.http[0].retries.attempts"),
            ("0", "spec.http[0].retries.attempts"),
            ("retries", "spec.http[0].retries"),
            ("host", "spec.http[0].route[0].destination.host"),
            ("x", "spec.http[1].match"),
            ("spec", "spec"),
            ("cdn", "metadata.annotations[egress-lint/class]"),
            ("retries:\n      attempts: 0", "spec.http[0].retries"),
        ] {
            assert_eq!(path(TEXT, what, false), expected, "{what}");
        }
    }

    #[test]
    fn the_first_character_of_an_item_is_the_item() {
        let at = TEXT.find("match").unwrap() as u32;
        let first = Span::new(FileId(0), at, at + 1);
        assert_eq!(path_of(TEXT, first, false, |_| false), "spec.http[1]");
        let short = "- a: 1\n";
        assert_eq!(path(short, "a", true), "[0]");
        assert_eq!(path(short, "a", false), "[0].a");
    }

    #[test]
    fn paths_begin_at_the_object() {
        let text = "items:\n- spec: {hosts: [a]}\n";
        let at = text.find("a]").unwrap() as u32;
        let span = Span::new(FileId(0), at, at + 1);
        assert_eq!(
            path_of(text, span, false, |it| it.start == 9),
            "spec.hosts[0]"
        );
    }
}
