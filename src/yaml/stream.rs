//! A file that begins with `{`: `kubectl` reads JSON objects, one after the other, and turns to YAML where that fails.

use super::fault::{Notice, NoticeKind, SyntaxError};
use super::json;
use super::node::Node;
use super::split::split_from;
use super::tree::{RawDocument, Tree};

/// `kubectl` looks this far for the `{`.
const PEEKED: usize = 4096;

/// Whether the first character that is no blank is `{`.
pub(super) fn may_be(text: &str) -> bool {
    let rest = text.trim_start();
    rest.starts_with('{') && text.len() - rest.len() < PEEKED
}

pub(super) fn read(tree: &mut Tree, text: &str, start: usize) {
    let mut at = start;
    let mut objects = 0;
    loop {
        let from = json::skip_blanks(text, at);
        if from >= text.len() {
            return;
        }
        let before = (tree.nodes.len(), tree.cooked.len());
        match json::value(tree, text, from) {
            Ok((root, end)) => {
                if objects > 0 {
                    unseparated(tree, from, end);
                }
                if !Node::new(tree, text, root).is_null() {
                    let (start, end) = (offset(from), offset(end));
                    tree.documents.push(RawDocument {
                        index: objects,
                        start,
                        end,
                        root,
                    });
                }
                objects += 1;
                at = end;
            }
            Err(fault) => {
                tree.nodes.truncate(before.0);
                tree.cooked.truncate(before.1);
                if objects > 1 {
                    let span = tree
                        .span(offset(fault.at), offset(fault.at))
                        .first_character(text);
                    tree.errors.push(SyntaxError {
                        span,
                        message: format!(
                            "behind JSON objects only JSON may follow: {} expected",
                            fault.wanted
                        ),
                        help: None,
                        fix: None,
                    });
                    return;
                }
                break;
            }
        }
    }
    let rest = text.get(at..).unwrap_or("");
    let blanks = rest.len() - rest.trim_start().len();
    let line = rest.find('\n').map_or(usize::MAX, |end| end + 1);
    let from = at + blanks.min(line);
    let chunks = split_from(text, from);
    for chunk in &chunks {
        let documents = tree.documents.len();
        chunk.read(tree, text);
        if let Some(document) = tree.documents.get_mut(documents) {
            document.index += objects;
            if objects > 0 && documents == 1 && !chunk.is_separated() {
                let (start, end) = (from, document.end as usize);
                unseparated(tree, start, end);
            }
        }
    }
}

fn unseparated(tree: &mut Tree, start: usize, end: usize) {
    let span = tree.span(offset(start), offset(end));
    tree.notices.push(Notice {
        kind: NoticeKind::WithoutSeparator,
        span,
        other: None,
    });
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
