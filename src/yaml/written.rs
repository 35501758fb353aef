//! What go-yaml refuses inside of scalars, and the parser does not.

use super::bytes::Bytes;
use super::gap::{Fault, FaultKind};
use super::tree::Style;

/// Looks at a scalar as it is written, `start` being its place in the file and `bytes` at least its own. `indent` is
/// go-yaml's indentation, plus one.
pub(super) fn check(
    written: &str,
    start: usize,
    style: Style,
    bytes: Bytes,
    in_flow: bool,
    indent: impl FnOnce() -> usize,
) -> Option<Fault> {
    let separators = matches!(style, Style::Plain | Style::Literal | Style::Folded);
    if separators
        && bytes.hold(Bytes::E2)
        && let Some(at) = written.find(['\u{2028}', '\u{2029}'])
    {
        return Some(Fault::new(
            start + at,
            start + at + 3,
            FaultKind::LineSeparator,
        ));
    }
    match style {
        Style::Plain => plain(written, start, bytes, in_flow, indent),
        Style::Double => escape(written, start),
        Style::Literal | Style::Folded if bytes.hold(Bytes::TAB) => block(written, start),
        _ => None,
    }
}

fn plain(
    written: &str,
    start: usize,
    bytes: Bytes,
    in_flow: bool,
    indent: impl FnOnce() -> usize,
) -> Option<Fault> {
    if in_flow {
        if let Some(at) = written.find('?') {
            return Some(Fault::new(
                start + at,
                start + at + 1,
                FaultKind::QuestionMark,
            ));
        }
        if written.starts_with(':') {
            return Some(Fault::new(start, start + 1, FaultKind::NoKey));
        }
    }
    if !bytes.hold(Bytes::TAB) || !written.contains('\t') {
        return None;
    }
    let indent = indent();
    let mut at = start;
    for (index, line) in written.split_inclusive(['\n', '\r']).enumerate() {
        let blanks = line.trim_start_matches(' ');
        let column = line.len() - blanks.len();
        if index > 0 && blanks.starts_with('\t') && column < indent {
            return Some(Fault::new(at + column, at + column + 1, FaultKind::Tab));
        }
        at += line.len();
    }
    None
}

/// `\/` and halves of surrogate pairs are escapes of JSON only.
fn escape(written: &str, start: usize) -> Option<Fault> {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', written.as_bytes().get(at..)?) {
        at += found;
        let rest = written.get(at + 1..)?;
        let length = match rest.bytes().next()? {
            b'/' => 2,
            b'u' if matches!(
                rest.as_bytes(),
                [_, b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]
            ) =>
            {
                6
            }
            _ => {
                at += 1 + rest.chars().next().map_or(0, char::len_utf8);
                continue;
            }
        };
        return Some(Fault::new(
            start + at,
            start + at + length,
            FaultKind::JsonEscape,
        ));
    }
    None
}

/// A tab must not stand where the indentation of a block scalar is still to be found, or is too small.
fn block(written: &str, start: usize) -> Option<Fault> {
    if !written.contains('\t') {
        return None;
    }
    let mut lines = written.split_inclusive(['\n', '\r']);
    let header = lines.next()?;
    let mut at = start + header.len();
    let mut indent = None;
    for line in lines {
        let rest = line.trim_start_matches(' ');
        let column = line.len() - rest.len();
        let known = indent.is_some_and(|indent| column >= indent);
        if rest.starts_with('\t') && !known && !has_indicator(header) {
            return Some(Fault::new(at + column, at + column + 1, FaultKind::Tab));
        }
        if indent.is_none() && !rest.trim_end_matches(['\n', '\r']).is_empty() {
            indent = Some(column);
        }
        at += line.len();
    }
    None
}

/// Whether the header says how deep the text is indented.
fn has_indicator(header: &str) -> bool {
    header
        .bytes()
        .take_while(|byte| !matches!(byte, b' ' | b'\t' | b'#'))
        .any(|byte| byte.is_ascii_digit())
}
