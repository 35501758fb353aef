//! Edits that keep the formatting: what is put in is written as its neighbours are. All work on the text alone.

use crate::diag::Edit;
use crate::source::Span;

use super::tree::Style;
use super::value::string;

/// Writes another string in the place of a scalar, with the quotes that it has or that it now needs.
pub fn replace_string(text: &str, scalar: Span, value: &str) -> Edit {
    let style = match slice(text, scalar).chars().next() {
        Some('"') => Style::Double,
        Some('\'') => Style::Single,
        _ => Style::Plain,
    };
    Edit {
        span: scalar,
        text: string(value, style),
    }
}

/// Adds `name: value`, both plain scalars, as the last entry of a map. `None` where the place is no map in writing,
/// such as an alias.
pub fn add_entry(text: &str, map: Span, name: &str, value: &str) -> Option<Edit> {
    match Place::of(text, map)? {
        Place::Flow { json: true, .. } => flow(text, map, &format!("\"{name}\": {value}")),
        Place::Flow { json: false } => flow(text, map, &format!("{name}: {value}")),
        Place::Block { indent } => Some(block(text, map, indent, &format!("{name}: {value}"))),
    }
}

/// Writes an entry, from the start of its key to the end of its value, once more as the last entry of another map.
/// `None` where that would not be the same there: an anchor would be defined twice, lines would be put in brackets.
pub fn copy_entry(text: &str, entry: Span, map: Span) -> Option<Edit> {
    let written = slice(text, entry).trim_end();
    if written.contains(['&', '*']) {
        return None;
    }
    match Place::of(text, map)? {
        Place::Flow { json } => {
            let fits = !written.contains(['\n', '#']) && json == written.starts_with('"');
            fits.then(|| flow(text, map, written)).flatten()
        }
        Place::Block { indent } => {
            let old = column(text, entry.start);
            let mut lines = written.lines();
            let mut out = lines.next().unwrap_or_default().to_owned();
            for line in lines {
                let blanks = line.len() - line.trim_start_matches(' ').len();
                let rest = line.get(blanks.min(old)..).unwrap_or_default();
                out.push_str(newline(text));
                if !rest.trim().is_empty() {
                    out.push_str(&" ".repeat(indent));
                    out.push_str(rest);
                }
            }
            Some(block(text, map, indent, &out))
        }
    }
}

/// How a map is written.
enum Place {
    /// In braces; `json`: with quoted keys.
    Flow { json: bool },
    /// One entry to a line, at this column from 0.
    Block { indent: usize },
}

impl Place {
    fn of(text: &str, map: Span) -> Option<Self> {
        let written = slice(text, map);
        let inside = written.strip_prefix('{').map(str::trim_start);
        match (inside, written.chars().next()?) {
            (Some(inside), _) => Some(Self::Flow {
                json: inside.starts_with('"'),
            }),
            (None, '*' | '[' | '|' | '>') => None,
            (None, _) => Some(Self::Block {
                indent: column(text, map.start),
            }),
        }
    }
}

/// Before the closing brace.
fn flow(text: &str, map: Span, entry: &str) -> Option<Edit> {
    let inside = slice(text, map).strip_prefix('{')?.strip_suffix('}')?;
    if inside.contains('#') {
        // It may be a comment, which would swallow the entry.
        return None;
    }
    let kept = inside.trim_end();
    let (separator, kept) = match kept.strip_suffix(',') {
        Some(_) => (" ", kept),
        None if kept.is_empty() => ("", ""),
        None => (", ", kept),
    };
    let at = map.start + 1 + u32::try_from(kept.len()).ok()?;
    Some(Edit {
        span: Span::new(map.file, at, at),
        text: format!("{separator}{entry}"),
    })
}

/// After the line in which the map ends.
fn block(text: &str, map: Span, indent: usize, entry: &str) -> Edit {
    let last = map.start as usize + slice(text, map).trim_end().len();
    let rest = text.get(last..).unwrap_or_default();
    let end = last + rest.find(['\n', '\r']).unwrap_or(rest.len());
    let at = u32::try_from(end).unwrap_or(u32::MAX);
    Edit {
        span: Span::new(map.file, at, at),
        text: format!("{}{}{entry}", newline(text), " ".repeat(indent)),
    }
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize)
        .unwrap_or_default()
}

/// Characters before it on its line.
fn column(text: &str, at: u32) -> usize {
    let before = text.get(..at as usize).unwrap_or_default();
    let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    line.chars().count()
}

fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if at > 0 && text.as_bytes().get(at - 1) == Some(&b'\r') => "\r\n",
        _ => "\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::yaml::Tree;

    const FILE: FileId = FileId(0);

    fn apply(text: &str, edit: &Edit) -> String {
        let (start, end) = (edit.span.start as usize, edit.span.end as usize);
        format!("{}{}{}", &text[..start], edit.text, &text[end..])
    }

    /// The span of the value at a path of keys and indexes.
    fn at(text: &str, path: &str) -> (Span, Span) {
        let tree = Tree::parse(FILE, text);
        let document = tree.documents(text).next().unwrap();
        let mut node = document.root;
        let mut key = node.span();
        for step in path.split('.') {
            match step.parse::<usize>() {
                Ok(index) => node = node.items().nth(index).unwrap(),
                Err(_) => {
                    let entry = node.get(step).unwrap();
                    key = entry.key.span();
                    node = entry.value;
                }
            }
        }
        (key, node.span())
    }

    fn added(text: &str, path: &str) -> Option<String> {
        let (_, map) = at(text, path);
        Some(apply(text, &add_entry(text, map, "max", "50")?))
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
            ("a: { b: 1, }\n", "a", "a: { b: 1, max: 50 }\n"),
            (
                "{\"a\": {\"b\": 1}}",
                "a",
                "{\"a\": {\"b\": 1, \"max\": 50}}",
            ),
        ] {
            assert_eq!(added(text, path).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(added("x: &x {b: 1}\na: *x\n", "a"), None);
    }

    fn copied(text: &str, from: &str, to: &str) -> Option<String> {
        let (key, value) = at(text, from);
        let (_, map) = at(text, to);
        let entry = Span::new(FILE, key.start, value.end);
        Some(apply(text, &copy_entry(text, entry, map)?))
    }

    #[test]
    fn an_entry_is_copied_with_the_indentation_of_its_new_place() {
        let text = "a:\n  od:\n    # why\n    x: 1\n\n    y:\n      z: 2\n  l:\n  - port: 80\n    tls: {m: S}\n";
        let expected = "a:\n  od:\n    # why\n    x: 1\n\n    y:\n      z: 2\n  l:\n  - port: 80\n    tls: {m: S}\n    od:\n      # why\n      x: 1\n\n      y:\n        z: 2\n";
        assert_eq!(copied(text, "a.od", "a.l.0").as_deref(), Some(expected));
        let flow = "a: {od: {x: 1}, l: [{port: 80}]}\n";
        let expected = "a: {od: {x: 1}, l: [{port: 80, od: {x: 1}}]}\n";
        assert_eq!(copied(flow, "a.od", "a.l.0").as_deref(), Some(expected));
        let mixed = "a:\n  od:\n    x: 1\n  l: [{port: 80}]\n";
        assert_eq!(copied(mixed, "a.od", "a.l.0"), None);
        let anchored = "a:\n  od: &x\n    x: 1\n  l:\n  - port: 80\n";
        assert_eq!(copied(anchored, "a.od", "a.l.0"), None);
    }

    #[test]
    fn a_string_keeps_its_quotes_or_gets_those_it_needs() {
        for (text, expected) in [
            ("a: DNS_ROUND_ROBIN # x\n", "a: DNS # x\n"),
            ("a: 'DNS_ROUND_ROBIN'\n", "a: 'DNS'\n"),
            ("{\"a\": \"DNS_ROUND_ROBIN\"}", "{\"a\": \"DNS\"}"),
        ] {
            let (_, value) = at(text, "a");
            assert_eq!(apply(text, &replace_string(text, value, "DNS")), expected);
        }
        let text = "a: [x]\nb: 503\n";
        let (_, value) = at(text, "b");
        let edit = replace_string(text, value, "connect-failure,503");
        assert_eq!(apply(text, &edit), "a: [x]\nb: \"connect-failure,503\"\n");
        assert_eq!(replace_string(text, value, "503").text, "\"503\"");
    }
}
