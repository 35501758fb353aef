//! A list of rule names, as comments and annotations write it.

use crate::source::{Span, Spanned};

/// More rules than these there will not be.
const MOST: usize = 1000;

/// The names of a list that stands at `span` in the file, separated by commas, each with its own place.
///
/// `written` is what the file has there; where `text` is written otherwise (with escapes), the names share the whole place.
/// `None`: there are more names than can be meant.
pub(super) fn names(text: &str, written: &str, span: Span) -> Option<Vec<Spanned<String>>> {
    if memchr::memchr_iter(b',', text.as_bytes())
        .nth(MOST)
        .is_some()
    {
        return None;
    }
    let offset = written
        .find(text)
        .and_then(|offset| u32::try_from(offset).ok());
    let mut out = Vec::new();
    let mut at = 0;
    for part in text.split(',') {
        let start = at + part.len() - part.trim_start().len();
        let name = part.trim();
        at += part.len() + 1;
        if name.is_empty() {
            continue;
        }
        let place = match (offset, u32::try_from(start), u32::try_from(name.len())) {
            (Some(offset), Ok(start), Ok(len)) => {
                let start = span.start + offset + start;
                Span {
                    start,
                    end: start + len,
                    ..span
                }
            }
            _ => span,
        };
        out.push(Spanned::new(name.to_owned(), place, place));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn gives_each_name_its_place() {
        let span = Span::new(FileId(0), 10, 30);
        let at = |written: &str| {
            let found = names("a-b, 한글,,c ", written, span).unwrap();
            found
                .iter()
                .map(|name| (name.value.clone(), name.span.start, name.span.end))
                .collect::<Vec<_>>()
        };
        let own = [("a-b", 11, 14), ("한글", 16, 22), ("c", 24, 25)]
            .map(|(n, s, e)| (n.to_owned(), s, e));
        assert_eq!(at("\"a-b, 한글,,c \""), own);
        assert!(
            at("\"a-\\x62\"")
                .iter()
                .all(|name| (name.1, name.2) == (10, 30))
        );
    }
}
