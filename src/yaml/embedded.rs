//! YAML inside of a scalar, such as the mesh configuration in its ConfigMap.

use super::node::Node;
use super::split::Chunk;
use super::tree::{Raw, Shape, Style, Tree};

/// Reads the text of a string as YAML. Its spans are places in the file that holds the string, and its documents are
/// read with the text of that file ([`Node::source`]).
///
/// Where the text is not written as it is, in folded scalars and in quoted ones with escapes or several lines, every
/// span is the whole string. `None` for what is no string, or an empty one.
pub fn embedded(node: Node<'_>) -> Option<Tree> {
    let value = node.as_str()?;
    let text = node.source();
    let span = node.definition();
    let written = text.get(span.start as usize..span.end as usize)?;
    let inner = match node.style() {
        // All lines are indented alike, which does not matter to what they say.
        Style::Literal => memchr::memchr2(b'\n', b'\r', written.as_bytes())? + 1..written.len(),
        Style::Plain if *written == *value => 0..written.len(),
        Style::Single | Style::Double if written.get(1..written.len() - 1)? == value => {
            1..written.len() - 1
        }
        _ => return Some(whole(node, &value)),
    };
    if inner.is_empty() {
        return None;
    }
    let start = span.start as usize;
    let chunk = Chunk::inside(start + inner.start, start + inner.end);
    Some(Tree::parse_chunks(span.file, text, &[chunk]))
}

/// Reads the value by itself, and puts everything it holds at the place of the string.
fn whole(node: Node<'_>, value: &str) -> Tree {
    let span = node.definition();
    let mut tree = Tree::parse(span.file, value);
    let mut cooked = std::mem::take(&mut tree.cooked);
    for raw in &mut tree.nodes {
        if raw.shape == Shape::Scalar && raw.a == Raw::SOURCE {
            let written = raw.written(value);
            raw.a = offset(cooked.len());
            raw.b = offset(written.len());
            cooked.push_str(written);
        }
        (raw.start, raw.end) = (span.start, span.end);
    }
    tree.cooked = cooked;
    for document in &mut tree.documents {
        (document.start, document.end) = (span.start, span.end);
    }
    tree.comments.clear();
    for notice in &mut tree.notices {
        notice.span = span;
        notice.other = None;
    }
    for error in &mut tree.errors {
        error.span = span;
        error.because.clear();
        error.fix = None;
    }
    tree
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    /// The text of the value of `a` inside of `mesh`, by its span.
    fn inside(text: &str) -> Option<String> {
        let tree = Tree::parse(FileId(0), text);
        let mesh = tree.documents(text).next()?.root.get("mesh")?.value;
        let inner = embedded(mesh)?;
        assert_eq!(inner.errors(), []);
        let value = inner.documents(text).next()?.root.get("a")?.value;
        let span = value.span();
        Some(text[span.start as usize..span.end as usize].to_owned())
    }

    #[test]
    fn spans_are_places_of_the_file() {
        for text in [
            "mesh: |-\n  # first\n  a: here\n  b: 1\nc: d\n",
            "mesh: |\r\n  b:\r\n    c: 1\r\n  a: here\r\n",
            "mesh: |2\n  a: here\n",
            "mesh: \"a: here\"\n",
            "mesh: 'a: here'\n",
        ] {
            assert_eq!(inside(text).as_deref(), Some("here"), "{text}");
        }
    }

    #[test]
    fn what_is_not_written_as_it_is_has_the_span_of_the_whole() {
        for (text, whole) in [
            ("mesh: \"a: here\\nb: 1\"\n", "\"a: here\\nb: 1\""),
            ("mesh: >\n  a: here\n\n  b: 1\n", ">\n  a: here\n\n  b: 1"),
        ] {
            assert_eq!(inside(text).as_deref(), Some(whole), "{text}");
        }
        for text in ["mesh: {}\n", "mesh: 1\n", "mesh: ''\n"] {
            assert_eq!(inside(text), None, "{text}");
        }
    }

    #[test]
    fn values_of_a_string_with_escapes_are_read() {
        let text = "{\"mesh\": \"a: 한글\\nb: 'it''s'\\n\"}";
        let tree = Tree::parse(FileId(0), text);
        let mesh = tree
            .documents(text)
            .next()
            .unwrap()
            .root
            .get("mesh")
            .unwrap()
            .value;
        let inner = embedded(mesh).unwrap();
        let root = inner.documents(text).next().unwrap().root;
        let value = |name| root.get(name).unwrap().value.as_str().unwrap().into_owned();
        assert_eq!(
            (value("a"), value("b")),
            ("한글".to_owned(), "it's".to_owned())
        );
    }
}
