//! Makes a text ready for the parser where that and go-yaml do not agree, byte for byte in place.

use std::borrow::Cow;

use super::bytes::Bytes;

pub(super) const MARK: char = '\u{feff}';
/// A character for private use, of the length of [`MARK`].
const STAND_IN: char = '\u{f8ff}';

/// The text of a document as the parser should see it, and what it lacks of the text in the file.
#[derive(Debug)]
pub(super) struct Prepared<'t> {
    pub(super) text: Cow<'t, str>,
    /// Where bytes are missing, one each, as offsets into `text`.
    removed: Vec<usize>,
    /// [`STAND_IN`] is written for [`MARK`].
    marked: bool,
    /// The length of the text in the file.
    length: usize,
}

impl Prepared<'_> {
    /// The value of a scalar of the prepared text.
    pub(super) fn value<'v>(&self, value: &'v str) -> Cow<'v, str> {
        if self.marked && value.contains(STAND_IN) {
            return Cow::Owned(value.replace(STAND_IN, &MARK.to_string()));
        }
        Cow::Borrowed(value)
    }

    /// The place in the file's text of what stands at `at` in the prepared one.
    pub(super) fn original(&self, at: usize) -> usize {
        (at + self.removed.partition_point(|&removed| removed <= at)).min(self.length)
    }
}

/// `bytes` are at least those of the chunk.
///
/// - `kubectl` ends the last line before it reads it, and takes one CR off a line that ends with CR CR LF.
/// - NEL ends a line for go-yaml: it becomes CR LF, which is as long.
/// - A byte order mark inside of a text is a letter like any other, also where the parser would pass over it: it
///   becomes [`STAND_IN`], which is as long.
/// - A tab at the beginning of a line may stand in brackets and in quotes, where the parser refuses it. It becomes a
///   blank; whether it may stand there is decided on the text itself.
pub(super) fn prepare(chunk: &str, bytes: Bytes) -> Prepared<'_> {
    let unfinished = !chunk.is_empty() && !chunk.ends_with('\n');
    let tabs = bytes.hold(Bytes::TAB) && (chunk.contains("\n\t") || chunk.starts_with('\t'));
    let nel = bytes.hold(Bytes::C2) && chunk.contains('\u{85}');
    let returns = bytes.hold(Bytes::RETURN) && chunk.contains("\r\r\n");
    let mark = bytes.hold(Bytes::EF) && chunk.contains(MARK) && !chunk.contains(STAND_IN);
    if !unfinished && !tabs && !nel && !returns && !mark {
        return Prepared {
            text: Cow::Borrowed(chunk),
            removed: Vec::new(),
            marked: false,
            length: chunk.len(),
        };
    }
    let mut text = String::with_capacity(chunk.len() + 1);
    let mut removed = Vec::new();
    for line in chunk.split_inclusive('\n') {
        let rest = line.trim_start_matches('\t');
        text.extend(std::iter::repeat_n(' ', line.len() - rest.len()));
        let (rest, end) = match rest.strip_suffix("\r\r\n") {
            Some(rest) => (rest, "\r\n"),
            None => (rest, ""),
        };
        let rest = if nel {
            Cow::Owned(rest.replace('\u{85}', "\r\n"))
        } else {
            Cow::Borrowed(rest)
        };
        if mark {
            text.push_str(&rest.replace(MARK, &STAND_IN.to_string()));
        } else {
            text.push_str(&rest);
        }
        if !end.is_empty() {
            removed.push(text.len() + 1);
            text.push_str(end);
        }
    }
    if unfinished {
        text.push('\n');
    }
    Prepared {
        text: Cow::Owned(text),
        removed,
        marked: mark,
        length: chunk.len(),
    }
}

/// The first character that go-yaml refuses wherever it stands.
pub(super) fn control_character(text: &str, bytes: Bytes) -> Option<(usize, char)> {
    if !bytes.hold(Bytes::CONTROL | Bytes::C2 | Bytes::EF) {
        return None;
    }
    text.char_indices().find(|&(_, character)| match character {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        _ => character.is_control(),
    })
}
