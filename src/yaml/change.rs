//! Edits of a document that is at hand: they touch the bytes of what changes, and keep all comments.
//!
//! Where only a span is known, see [`super::Tree::locate`]. Each returns `None` where the text does not allow the
//! change in one place: what a merge brought, a key that is written twice, an anchor that others may use, a comment
//! inside of what is written anew.

use crate::diag::Edit;
use crate::source::Span;

use super::node::{Entry, Kind, Node};
use super::tree::{Comment, Style};
use super::value::{Value, key, string};

/// Writes another scalar where `node` stands. A string keeps the quotes of what was there.
pub fn scalar(node: Node<'_>, value: &Value) -> Edit {
    let text = match value {
        Value::Str(text) => {
            let style = if node.is_alias() {
                Style::Plain
            } else {
                node.style()
            };
            string(text, if is_json(node) { Style::Double } else { style })
        }
        other => other.flow(is_json(node)),
    };
    let absent = node.span().start == node.span().end;
    Edit {
        span: node.span(),
        text: if absent { format!(" {text}") } else { text },
    }
}

/// Calls a key by another name.
pub fn rename(entry: &Entry<'_>, name: &str) -> Option<Edit> {
    entry
        .merged
        .is_none()
        .then(|| scalar(entry.key, &Value::from(name)))
}

/// Gives an entry of a map another value.
pub fn set(map: Node<'_>, entry: &Entry<'_>, value: &Value) -> Option<Edit> {
    let old = entry.value;
    if entry.merged.is_some() || map.is_alias() {
        return None;
    }
    if old.kind() == Kind::Scalar && !matches!(value, Value::List(_) | Value::Map(_)) {
        return Some(scalar(old, value));
    }
    let text = old.source();
    let span = old.span();
    if map.style() == Style::Flow || old.style() == Style::Flow && !old.is_alias() {
        expendable(map, span)?;
        let written = value.flow(is_json(map));
        let absent = span.start == span.end;
        return Some(Edit {
            span,
            text: if absent {
                format!(" {written}")
            } else {
                written
            },
        });
    }
    // What stands between the key and its value must be nothing but the colon.
    let colon = entry.key.span().end as usize;
    let between = text.get(colon..span.start as usize)?;
    if between.trim() != ":" {
        return None;
    }
    let behind = colon + between.find(':')? + 1;
    let span = Span::new(span.file, offset(behind), span.end);
    expendable(map, span)?;
    Some(Edit {
        span,
        text: value.behind_key(column(text, entry.key.span().start), line_end(text)),
    })
}

/// Adds an entry behind the last one of a map.
pub fn insert(map: Node<'_>, name: &str, value: &Value) -> Option<Edit> {
    if map.kind() != Kind::Map || map.is_alias() || map.get(name).is_some() {
        return None;
    }
    let text = map.source();
    if map.style() == Style::Flow {
        let json = is_json(map);
        let name = if json {
            string(name, Style::Double)
        } else {
            key(name)
        };
        return insert_flow(
            map,
            map.written_entries().last().map(|entry| entry.value),
            format!("{name}: {}", value.flow(json)),
        );
    }
    let first = map.written_entries().next()?;
    let indent = column(text, map.span().start);
    if !starts_at(text, first.key.span().start, map.span().start) {
        return None;
    }
    let at = behind_line(map, map.written_entries().last()?.value)?;
    let end = line_end(text);
    let written = format!(
        "{end}{}{}:{}",
        " ".repeat(indent),
        key(name),
        value.behind_key(indent, end)
    );
    Some(Edit {
        span: Span::new(map.span().file, offset(at), offset(at)),
        text: written,
    })
}

/// Writes an entry of another map, as it is written there, behind the last one of a map.
pub fn copy(entry: &Entry<'_>, map: Node<'_>) -> Option<Edit> {
    if entry.merged.is_some() || map.is_alias() || map.get(&entry.name).is_some() {
        return None;
    }
    let text = map.source();
    let (start, end) = (entry.key.span().start, ends(entry.value));
    let written = text.get(start as usize..end as usize)?.trim_end();
    if written.contains(['&', '*']) {
        return None;
    }
    if map.style() == Style::Flow {
        let last = map.written_entries().last().map(|entry| entry.value);
        let fits = !written.contains(['\n', '#']) && is_json(map) == written.starts_with('"');
        return fits.then(|| insert_flow(map, last, written.to_owned()))?;
    }
    let at = behind_line(map, map.written_entries().last()?.value)?;
    let (old, new) = (column(text, start), column(text, map.span().start));
    let mut out = String::new();
    for (number, line) in written.lines().enumerate() {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let rest = match number {
            0 => line,
            _ => line.get(blanks.min(old)..)?,
        };
        out.push_str(line_end(text));
        if !rest.trim().is_empty() {
            out.push_str(&" ".repeat(new));
            out.push_str(rest);
        }
    }
    Some(Edit {
        span: Span::new(map.span().file, offset(at), offset(at)),
        text: out,
    })
}

/// Adds an item behind the last one of a list.
pub fn append(list: Node<'_>, value: &Value) -> Option<Edit> {
    if list.kind() != Kind::List || list.is_alias() {
        return None;
    }
    if list.style() == Style::Flow {
        return insert_flow(list, list.items().last(), value.flow(is_json(list)));
    }
    let text = list.source();
    let at = behind_line(list, list.items().last()?)?;
    let (indent, end) = (column(text, list.span().start), line_end(text));
    let written = format!(
        "{end}{}- {}",
        " ".repeat(indent),
        value.in_list(indent, end)
    );
    Some(Edit {
        span: Span::new(list.span().file, offset(at), offset(at)),
        text: written,
    })
}

/// Removes an entry of a map, with its lines. Comments in them stay, on lines of their own.
pub fn remove(map: Node<'_>, entry: &Entry<'_>) -> Option<Edit> {
    if entry.merged.is_some() || map.is_alias() || map.is_special() {
        return None;
    }
    let parts: Vec<Part> = map
        .written_entries()
        .map(|entry| Part {
            start: entry.key.span().start,
            end: ends(entry.value),
        })
        .collect();
    let index = parts
        .iter()
        .position(|part| part.start == entry.key.span().start)?;
    remove_part(map, &parts, index, "{}")
}

/// Removes an item of a list, with its lines. Comments in them stay, on lines of their own.
pub fn remove_item(list: Node<'_>, item: Node<'_>) -> Option<Edit> {
    if list.is_alias() {
        return None;
    }
    let text = list.source();
    let block = list.style() == Style::Block;
    let part = |item: Node<'_>| {
        let start = item.span().start;
        let start = if block { dash(text, start)? } else { start };
        Some(Part {
            start,
            end: ends(item),
        })
    };
    let parts: Vec<Part> = list.items().map(part).collect::<Option<_>>()?;
    let index = parts.iter().position(|part| part.end == ends(item))?;
    remove_part(list, &parts, index, "[]")
}

/// The bytes of an entry or an item.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: u32,
    end: u32,
}

fn remove_part(parent: Node<'_>, parts: &[Part], index: usize, empty: &str) -> Option<Edit> {
    let text = parent.source();
    let part = *parts.get(index)?;
    let file = parent.span().file;
    let edit = |start: usize, end: usize, text: &str| Edit {
        span: Span::new(file, offset(start), offset(end)),
        text: text.to_owned(),
    };
    let done = if parts.len() == 1 {
        remove_only(parent, part, empty)?
    } else if parent.style() == Style::Flow {
        let (start, end) = flow_range(text, parent, parts, index)?;
        edit(start, end, "")
    } else {
        let line = line_start(text, part.start as usize);
        let prefix = text.get(line..part.start as usize)?;
        if prefix.bytes().all(|byte| byte == b' ') {
            let end = next_line(text, part.end as usize)?;
            let lines = Span::new(file, offset(line), offset(end));
            let kept = comments(parent, lines).iter().map(|comment| {
                let words = text.get(comment.span.start as usize..comment.span.end as usize);
                format!("{prefix}{}{}", words.unwrap_or_default(), line_end(text))
            });
            return anchorless(text, lines).then(|| edit(line, end, &kept.collect::<String>()));
        } else if prefix.bytes().all(|byte| matches!(byte, b' ' | b'-')) {
            // The first of a map that begins behind a dash: the next takes its place.
            let next = parts.get(index + 1)?.start as usize;
            let gap = text.get(line_start(text, next)..next)?;
            if index != 0
                || !gap.bytes().all(|byte| byte == b' ')
                || text.get(part.end as usize..next)?.contains('#')
            {
                return None;
            }
            edit(part.start as usize, next, "")
        } else {
            return None;
        }
    };
    expendable(parent, done.span)?;
    Some(done)
}

/// Of a collection nothing is left: it becomes an empty one, behind its key where nothing stands between.
fn remove_only(parent: Node<'_>, part: Part, empty: &str) -> Option<Edit> {
    let text = parent.source();
    let span = parent.span();
    if parent.style() == Style::Flow {
        let written = text.get(span.start as usize..span.end as usize)?;
        let around = text
            .get(span.start as usize..part.start as usize)?
            .contains('#')
            || text
                .get(part.end as usize..span.end as usize)?
                .contains('#');
        let braced = written.starts_with(empty.get(..1)?);
        return (braced && !around).then(|| Edit {
            span,
            text: empty.to_owned(),
        });
    }
    let before = text.get(..span.start as usize)?;
    let kept = before.trim_end();
    let own_lines = before.get(kept.len()..)?.contains(['\n', '\r']);
    let joined = own_lines && kept.ends_with([':', '-']);
    let start = if joined {
        kept.len()
    } else {
        span.start as usize
    };
    // On a line of its own it must stand deeper than its key, where a list need not.
    let blanks = if joined {
        " "
    } else if own_lines {
        "  "
    } else {
        ""
    };
    Some(Edit {
        span: Span::new(span.file, offset(start), part.end.max(span.end)),
        text: format!("{blanks}{empty}"),
    })
}

/// What to cut out of brackets: a part with one of the commas beside it.
fn flow_range(
    text: &str,
    parent: Node<'_>,
    parts: &[Part],
    index: usize,
) -> Option<(usize, usize)> {
    let part = parts.get(index)?;
    let (start, end) = (part.start as usize, part.end as usize);
    if let Some(before) = index.checked_sub(1).and_then(|index| parts.get(index)) {
        let between = text.get(before.end as usize..start)?;
        if !between.contains('#') && between.starts_with(|c: char| c == ',' || c.is_whitespace()) {
            return Some((before.end as usize, end));
        }
    }
    // With the comma behind it, up to the next, whatever stands before it in brackets.
    let behind = text.get(end..parent.span().end as usize)?;
    let comma = behind.find(',').filter(|&comma| {
        behind
            .get(..comma)
            .is_some_and(|blank| blank.trim().is_empty())
    })?;
    let rest = behind.get(comma + 1..)?;
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let open = match index {
        0 => parent.span().start as usize + 1,
        _ => start,
    };
    let before = text.get(open..start)?;
    if !before.trim().is_empty() {
        return None;
    }
    Some((start, end + comma + 1 + blanks))
}

fn insert_flow(parent: Node<'_>, last: Option<Node<'_>>, written: String) -> Option<Edit> {
    let span = parent.span();
    let text = parent.source();
    if !text
        .get(span.start as usize..span.end as usize)?
        .starts_with(['{', '['])
    {
        return None;
    }
    let (at, text) = match last {
        Some(last) => (ends(last), format!(", {written}")),
        None => (span.start + 1, written),
    };
    Some(Edit {
        span: Span::new(span.file, at, at),
        text,
    })
}

/// The end of the line on which `last`, the last value of `parent`, ends: where a line can be added.
fn behind_line(parent: Node<'_>, last: Node<'_>) -> Option<usize> {
    let text = parent.source();
    let end = (ends(last).max(parent.span().end)) as usize;
    let mut deepest = last;
    loop {
        let next = match deepest.kind() {
            _ if deepest.is_alias() => None,
            Kind::Map => deepest.written_entries().last().map(|entry| entry.value),
            Kind::List => deepest.items().last(),
            Kind::Scalar => None,
        };
        match next {
            Some(next) => deepest = next,
            None => break,
        }
    }
    if !deepest.is_alias() && matches!(deepest.style(), Style::Literal | Style::Folded) {
        let written = text.get(deepest.span().start as usize..deepest.span().end as usize)?;
        let header = written.lines().next()?;
        if header.split('#').next()?.contains('+') || written.lines().count() < 2 {
            // The blank lines behind it are part of the text.
            return None;
        }
    }
    let rest = text.get(end..)?;
    Some(end + rest.find(['\n', '\r']).unwrap_or(rest.len()))
}

/// Whether the bytes may go: no comment is in them, and no anchor that others may use.
fn expendable(inside: Node<'_>, span: Span) -> Option<()> {
    (comments(inside, span).is_empty() && anchorless(inside.source(), span)).then_some(())
}

fn anchorless(text: &str, span: Span) -> bool {
    text.get(span.start as usize..span.end as usize)
        .is_some_and(|bytes| !bytes.contains('&'))
}

/// The comments that begin in the span.
fn comments(inside: Node<'_>, span: Span) -> &[Comment] {
    let all = inside.tree().comments();
    let first = all.partition_point(|comment| comment.span.start < span.start);
    let behind = all.partition_point(|comment| comment.span.start < span.end);
    all.get(first..behind).unwrap_or_default()
}

/// Where a node ends as it is written.
fn ends(node: Node<'_>) -> u32 {
    node.span().end
}

/// Whether the collection is written as JSON: brackets, and keys or strings in double quotes.
fn is_json(node: Node<'_>) -> bool {
    let text = node
        .source()
        .trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let inside = text.strip_prefix(['{', '[']).map(str::trim_start);
    inside.is_some_and(|inside| inside.starts_with(['"', '{', '[', '}']))
}

/// The dash of the item that begins at `start`.
fn dash(text: &str, start: u32) -> Option<u32> {
    let before = text.get(..start as usize)?.trim_end();
    let at = before.len().checked_sub(1)?;
    before.ends_with('-').then(|| offset(at))
}

/// Whether the first key of a block map is where the map begins, so that other keys may stand in its column.
fn starts_at(text: &str, key: u32, map: u32) -> bool {
    text.get(map as usize..key as usize)
        .is_some_and(|between| between.is_empty() || between.starts_with(['&', '!']))
}

fn column(text: &str, at: u32) -> usize {
    let at = at as usize;
    text.get(line_start(text, at)..at).map_or(0, |prefix| {
        prefix.chars().filter(|&c| c != '\u{feff}').count()
    })
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at)
        .and_then(|before| before.rfind(['\n', '\r']))
        .map_or(0, |end| end + 1)
}

/// The start of the line behind the one that holds `at`.
fn next_line(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let Some(end) = rest.find(['\n', '\r']) else {
        return Some(text.len());
    };
    let length = if rest.get(end..)?.starts_with("\r\n") {
        2
    } else {
        1
    };
    Some(at + end + length)
}

/// How the lines of the file end.
fn line_end(text: &str) -> &'static str {
    match text.find(['\n', '\r']) {
        Some(at) if text.get(at..).is_some_and(|rest| rest.starts_with("\r\n")) => "\r\n",
        Some(at) if text.get(at..).is_some_and(|rest| rest.starts_with('\r')) => "\r",
        _ => "\n",
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
