//! Makes a text ready for the parser where that and go-yaml do not agree, byte for byte in place.

use std::borrow::Cow;

/// The text of a document as the parser should see it. Every byte keeps its place; one line feed may be added.
///
/// - `kubectl` ends the last line before it reads it.
/// - NEL ends a line for go-yaml: it becomes CR LF, which is as long.
/// - A tab at the beginning of a line may stand in brackets and in quotes, where the parser refuses it. It becomes a
///   blank; whether it may stand there is decided on the text itself.
pub(super) fn prepare(chunk: &str) -> Cow<'_, str> {
    let unfinished = !chunk.is_empty() && !chunk.ends_with('\n');
    let tabs = chunk.contains("\n\t") || chunk.starts_with('\t');
    let nel = chunk.contains('\u{85}');
    if !unfinished && !tabs && !nel {
        return Cow::Borrowed(chunk);
    }
    let mut out = String::with_capacity(chunk.len() + 1);
    for line in chunk.split_inclusive('\n') {
        let rest = line.trim_start_matches('\t');
        out.extend(std::iter::repeat_n(' ', line.len() - rest.len()));
        if nel {
            out.push_str(&rest.replace('\u{85}', "\r\n"));
        } else {
            out.push_str(rest);
        }
    }
    if unfinished {
        out.push('\n');
    }
    Cow::Owned(out)
}

/// The first character that go-yaml refuses wherever it stands.
pub(super) fn control_character(text: &str) -> Option<(usize, char)> {
    let suspicious = |&byte: &u8| {
        (byte < 0x20 && byte != b'\n' && byte != b'\r' && byte != b'\t')
            || matches!(byte, 0x7f | 0xc2 | 0xef)
    };
    // Most texts hold none of these bytes, and counting is faster than stopping at one.
    if text
        .as_bytes()
        .iter()
        .filter(|byte| suspicious(byte))
        .count()
        == 0
    {
        return None;
    }
    text.char_indices().find(|&(_, character)| match character {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        _ => character.is_control(),
    })
}
