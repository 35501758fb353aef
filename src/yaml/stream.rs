//! A file that begins with `{`: `kubectl` reads JSON objects, one after the other, and turns to YAML where that fails.

use super::fault::{Notice, NoticeKind, SyntaxError};
use super::json::{self, NoJson};
use super::node::Node;
use super::split::split_from;
use super::tree::{RawDocument, Tree};

/// `kubectl` looks this far for the `{`.
const PEEKED: usize = 4096;

/// Whether the first character that is no blank is `{`. `{{` begins no object: it is a template, whose documents are
/// cut as YAML's are.
pub(super) fn may_be(text: &str) -> bool {
    let rest = text.trim_start();
    rest.starts_with('{') && !rest.starts_with("{{") && text.len() - rest.len() < PEEKED
}

pub(super) fn read(tree: &mut Tree, text: &str, start: usize) {
    let mut at = start;
    let mut objects = 0;
    let fault = loop {
        let from = json::skip_blanks(text, at);
        if from >= text.len() {
            return;
        }
        let before = tree.mark();
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
                tree.forget(before);
                if objects > 1 {
                    return no_json(tree, text, &fault);
                }
                break fault;
            }
        }
    };
    let Some(from) = first_line(text, at) else {
        return no_json(tree, text, &fault);
    };
    let chunks = split_from(text, from);
    for chunk in &chunks {
        let documents = tree.documents.len();
        chunk.read(tree, text);
        if let Some(document) = tree.documents.get_mut(documents) {
            document.index += objects;
            if objects > 0 && documents == 1 && !chunk.is_separated() {
                let (root, end) = (document.root, document.end as usize);
                let start = tree.nodes.get(root as usize).map(|root| root.start);
                unseparated(tree, start.map_or(from, |start| start as usize), end);
            }
        }
    }
}

/// Where the YAML begins: blanks are passed over up to the end of their line.
///
/// `kubectl` looks at four bytes for each, and gives up where there are less.
fn first_line(text: &str, mut at: usize) -> Option<usize> {
    const LOOKED_AT: usize = 4;
    loop {
        let rest = text.get(at..).filter(|rest| rest.len() >= LOOKED_AT)?;
        let character = rest
            .chars()
            .next()
            .filter(|character| character.is_whitespace());
        let Some(blank) = character else {
            return Some(at);
        };
        at += blank.len_utf8();
        if blank == '\n' {
            return Some(at);
        }
    }
}

fn no_json(tree: &mut Tree, text: &str, fault: &NoJson) {
    let span = tree
        .span(offset(fault.at), offset(fault.at))
        .first_character(text);
    let message = format!(
        "this is no JSON, which `kubectl` reads here: {} expected",
        fault.wanted
    );
    tree.errors.push(SyntaxError::new(span, message));
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
