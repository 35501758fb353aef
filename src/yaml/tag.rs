//! Tags, and what they make of a scalar.

use super::scalar::{Plain, plain};

/// A tag, as far as it matters: all others make a string of whatever they stand before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Tag {
    None,
    Str,
    Bool,
    Int,
    Float,
    Null,
    Timestamp,
    Binary,
    Merge,
    Other,
}

impl Tag {
    /// The tag of YAML's own namespace with this name.
    pub(super) fn core(name: &str) -> Self {
        match name {
            "str" => Self::Str,
            "bool" => Self::Bool,
            "int" => Self::Int,
            "float" => Self::Float,
            "null" => Self::Null,
            "timestamp" => Self::Timestamp,
            "binary" => Self::Binary,
            "merge" => Self::Merge,
            _ => Self::Other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bool => "!!bool",
            Self::Int => "!!int",
            Self::Float => "!!float",
            Self::Null => "!!null",
            Self::Timestamp => "!!timestamp",
            Self::Binary => "!!binary",
            _ => "!!str",
        }
    }
}

/// Reads a scalar with its tag; `quoted` is whatever is not plain. The error says what the tag wants.
pub(super) fn resolve(tag: Tag, quoted: bool, text: &str) -> Result<Plain, String> {
    let untagged = match tag {
        Tag::None if quoted => return Ok(Plain::Str),
        Tag::None => return Ok(plain(text)),
        Tag::Str | Tag::Merge | Tag::Other => return Ok(Plain::Str),
        Tag::Binary => {
            return match base64(text) {
                Some(_) => Ok(Plain::Str),
                None => Err("`!!binary` wants base64".to_owned()),
            };
        }
        Tag::Bool | Tag::Int | Tag::Float | Tag::Null | Tag::Timestamp => plain(text),
    };
    match (tag, untagged) {
        (Tag::Bool, Plain::Bool(_))
        | (Tag::Int, Plain::Int(_) | Plain::Unsigned(_))
        | (Tag::Float, Plain::Float(_))
        | (Tag::Null, Plain::Null) => Ok(untagged),
        #[expect(clippy::cast_precision_loss, reason = "Go converts likewise")]
        (Tag::Float, Plain::Int(value)) => Ok(Plain::Float(value as f64)),
        (Tag::Timestamp, Plain::Str) if is_timestamp(text) => Ok(Plain::Str),
        _ => Err(format!("`{text}` cannot be read as `{}`", tag.name())),
    }
}

/// The bytes behind `!!binary`, as JSON shows them.
pub(super) fn binary(text: &str) -> Option<String> {
    let bytes = base64(text)?;
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        // Go puts one U+FFFD for each byte.
        out.extend(chunk.invalid().iter().map(|_| '\u{fffd}'));
    }
    Some(out)
}

/// The formats that go-yaml takes for a time: `2026-1-2`, `2026-1-2T3:4:5.678Z`, `2026-1-2 3:4:5`.
fn is_timestamp(text: &str) -> bool {
    fn number(
        text: &str,
        digits: std::ops::RangeInclusive<usize>,
        most: u32,
    ) -> Option<(u32, &str)> {
        let length = text
            .bytes()
            .take(*digits.end())
            .take_while(u8::is_ascii_digit)
            .count();
        let (head, tail) = text.split_at_checked(length)?;
        let value = head.parse().ok().filter(|&value| value <= most)?;
        digits.contains(&length).then_some((value, tail))
    }
    fn date(text: &str) -> Option<&str> {
        let (year, rest) = number(text, 4..=4, 9999)?;
        let (month, rest) = number(rest.strip_prefix('-')?, 1..=2, 12)?;
        let (day, rest) = number(rest.strip_prefix('-')?, 1..=2, 31)?;
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            0 => return None,
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        (1..=days).contains(&day).then_some(rest)
    }
    fn time(text: &str) -> Option<&str> {
        let (_, rest) = number(text, 1..=2, 23)?;
        let (_, rest) = number(rest.strip_prefix(':')?, 1..=2, 59)?;
        let (_, rest) = number(rest.strip_prefix(':')?, 1..=2, 59)?;
        match rest.strip_prefix(['.', ',']) {
            Some(fraction) => {
                let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
                (rest.len() < fraction.len()).then_some(rest)
            }
            None => Some(rest),
        }
    }
    fn zone(text: &str) -> bool {
        let Some(rest) = text.strip_prefix(['+', '-']) else {
            return text == "Z";
        };
        number(rest, 2..=2, 24)
            .and_then(|(_, rest)| number(rest.strip_prefix(':')?, 2..=2, 60))
            .is_some_and(|(_, rest)| rest.is_empty())
    }
    let Some(rest) = date(text) else { return false };
    if rest.is_empty() {
        return true;
    }
    if let Some(rest) = rest.strip_prefix(['T', 't']) {
        return time(rest).is_some_and(zone);
    }
    rest.strip_prefix(' ')
        .and_then(time)
        .is_some_and(str::is_empty)
}

/// Go's `base64.StdEncoding`, which passes over line ends.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut group = [0u8; 4];
    let mut filled = 0;
    let mut padding = 0;
    for byte in text.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' if filled >= 2 => {
                padding += 1;
                0
            }
            b'\r' | b'\n' => continue,
            _ => return None,
        };
        if padding > 0 && byte != b'=' {
            return None;
        }
        *group.get_mut(filled)? = six;
        filled += 1;
        if filled == 4 {
            let [a, b, c, d] = group;
            out.extend_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
            filled = if padding > 0 { 5 } else { 0 };
        }
    }
    if !matches!(filled, 0 | 5) {
        return None;
    }
    out.truncate(out.len().saturating_sub(padding));
    Some(out)
}
