//! Text of files and names as it may be shown: nothing in it can command a terminal, a log or a reader's eye.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text in one line, with control characters, line breaks and bidirectional controls written out (`\x1b`, `\u{202e}`).
pub fn visible(text: &str) -> Cow<'_, str> {
    // Most texts are printable ASCII.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && !text.contains(OLD_COMMAND) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        push(&mut out, c);
    }
    Cow::Owned(out)
}

/// GitHub's runner obeys this anywhere in a line.
const OLD_COMMAND: &str = "##[";

/// Appends a character, written out if it is not to be shown as it is.
pub(super) fn push(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str(r"\n"),
        '\r' => out.push_str(r"\r"),
        '\t' => out.push_str(r"\t"),
        '[' if out.ends_with("##") => out.push_str(r"\x5b"),
        _ if !is_hidden(c) => out.push(c),
        _ if u32::from(c) < 0x100 => {
            let _ = write!(out, r"\x{:02x}", u32::from(c));
        }
        _ => {
            let _ = write!(out, r"\u{{{:x}}}", u32::from(c));
        }
    }
}

/// Controls, separators that some readers take for line breaks, and what changes the direction of the text around it.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A path at the beginning of a line: no file name may be taken for a workflow command.
pub(super) fn path(path: &str) -> Cow<'_, str> {
    let shown = visible(path);
    match shown.trim_start().starts_with(':') {
        true => Cow::Owned(format!("./{shown}")),
        false => shown,
    }
}

/// What a sentence may hold of one value, in characters, and of it all.
const LONGEST_VALUE: usize = 120;
const LONGEST_SENTENCE: usize = 2000;

/// A sentence for people: an overlong value in backticks is cut in its middle, an overlong rest at its end.
pub(super) fn sentence(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_VALUE {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index > 0 {
            out.push('`');
        }
        match index % 2 {
            1 if part.len() > LONGEST_VALUE => cut_middle(&mut out, part),
            _ => out.push_str(part),
        }
    }
    if let Some((end, _)) = out.char_indices().nth(LONGEST_SENTENCE) {
        out.truncate(end);
        out.push('…');
    }
    Cow::Owned(out)
}

fn cut_middle(out: &mut String, value: &str) {
    let head = LONGEST_VALUE * 2 / 3;
    let tail = LONGEST_VALUE - head;
    let Some((head_end, _)) = value.char_indices().nth(head) else {
        return out.push_str(value);
    };
    let tail_start = value
        .char_indices()
        .rev()
        .nth(tail - 1)
        .map_or(0, |(at, _)| at);
    if tail_start <= head_end {
        return out.push_str(value);
    }
    out.push_str(&value[..head_end]);
    out.push('…');
    out.push_str(&value[tail_start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_out_what_could_command() {
        assert_eq!(visible("plain `text`"), "plain `text`");
        assert_eq!(visible("한글 🙂 é"), "한글 🙂 é");
        assert_eq!(
            visible("\x1b[31m\u{9b}a\u{7f}\u{202e}\u{2028}\u{85}\r\n\t\u{feff}"),
            r"\x1b[31m\x9ba\x7f\u{202e}\u{2028}\x85\r\n\t\u{feff}"
        );
        assert_eq!(visible("##[error]x"), r"##\x5berror]x");
        assert_eq!(path("::error::x"), "./::error::x");
        assert_eq!(path("a::b"), "a::b");
    }

    #[test]
    fn cuts_long_values_and_keeps_the_sentence() {
        let long = format!("`x` is `{}` which is long", "ab".repeat(100_000));
        let cut = sentence(&long);
        assert!(cut.len() < 200, "{cut}");
        assert!(
            cut.starts_with("`x` is `abab") && cut.ends_with("abab` which is long"),
            "{cut}"
        );
        assert!(sentence(&"x".repeat(10_000)).len() < 2010);
        let korean = format!("`{}`", "가".repeat(50));
        assert_eq!(sentence(&korean), korean);
    }
}
