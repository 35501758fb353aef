//! YAML inside of a scalar, such as the mesh configuration in its ConfigMap.

use super::node::Node;
use super::split::Chunk;
use super::tree::{Style, Tree};

/// Reads the text of a string as YAML. Its spans are places in the file that holds the string.
///
/// `None` where the text is not written as it is, so that no place in it has a place in the file: in folded scalars,
/// and in quoted ones with escapes or several lines. The tree is to be read with [`Node::source`] of the string.
pub fn embedded(node: Node<'_>) -> Option<Tree> {
    let value = node.as_str()?;
    let text = node.source();
    let span = node.span();
    let written = text.get(span.start as usize..span.end as usize)?;
    let inner = match node.style() {
        // All lines are indented alike, which does not matter to what they say.
        Style::Literal => memchr::memchr2(b'\n', b'\r', written.as_bytes())? + 1..written.len(),
        Style::Plain if *written == *value => 0..written.len(),
        Style::Single | Style::Double if written.get(1..written.len() - 1)? == value => {
            1..written.len() - 1
        }
        _ => return None,
    };
    let start = span.start as usize;
    let chunk = Chunk::inside(start + inner.start, start + inner.end);
    Some(Tree::parse_chunks(span.file, text, &[chunk]))
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
        for text in [
            "mesh: \"a: here\\nb: 1\"\n",
            "mesh: >\n  a: here\n\n  b: 1\n",
            "mesh: {}\n",
            "mesh: 1\n",
            "mesh: ''\n",
        ] {
            assert_eq!(inside(text), None, "{text}");
        }
    }
}
