//! What a scalar means to Kubernetes: the rules of go-yaml v2, which follow YAML 1.1 in part.

use std::borrow::Cow;

/// A scalar's value. `Null` is also what an absent value and `~` are.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'t> {
    Null,
    Bool(bool),
    Int(i64),
    /// Every number that does not fit `i64`. Infinite values only as keys: Kubernetes refuses them elsewhere.
    Float(f64),
    Str(Cow<'t, str>),
}

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

/// A value as go-yaml holds it, before JSON turns its numbers into `i64` or `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Merge,
    Str,
}

/// Reads an untagged plain scalar.
pub(super) fn plain(text: &str) -> Plain {
    let Some(&first) = text.as_bytes().first() else {
        return Plain::Null;
    };
    match first {
        b'0'..=b'9' | b'+' | b'-' => {
            if first != b'+' && first != b'-' || text.len() > 5 {
                return number(text);
            }
            word(text).unwrap_or_else(|| number(text))
        }
        b'.' => word(text).unwrap_or_else(|| dotted(text)),
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' | b'<' => {
            word(text).unwrap_or(Plain::Str)
        }
        _ => Plain::Str,
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

/// The words that are no strings. Mixed case (`yEs`) is a string.
fn word(text: &str) -> Option<Plain> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Plain::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Plain::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Plain::Null,
        ".nan" | ".NaN" | ".NAN" => Plain::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Plain::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Plain::Float(f64::NEG_INFINITY),
        "<<" => Plain::Merge,
        _ => return None,
    })
}

/// A scalar that begins with a dot: go-yaml hands it to Go's `ParseFloat`, which lets `_` stand between digits.
fn dotted(text: &str) -> Plain {
    let bytes = text.as_bytes();
    let between = |at: usize| {
        let digit = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at))
                .is_some_and(u8::is_ascii_digit)
        };
        digit(at.checked_sub(1)) && digit(at.checked_add(1))
    };
    if bytes
        .iter()
        .enumerate()
        .any(|(at, &byte)| byte == b'_' && !between(at))
    {
        return Plain::Str;
    }
    let plain = text.replace('_', "");
    match plain.parse::<f64>() {
        Ok(value) if value.is_finite() && decimal(&plain) => Plain::Float(value),
        _ => Plain::Str,
    }
}

fn number(text: &str) -> Plain {
    let without: Cow<'_, str> = if text.contains('_') {
        Cow::Owned(text.replace('_', ""))
    } else {
        Cow::Borrowed(text)
    };
    let (negative, digits) = match without.as_bytes().first() {
        Some(b'-') => (true, &without[1..]),
        Some(b'+') => (false, &without[1..]),
        _ => (false, &*without),
    };
    if let Some(magnitude) = integer(digits) {
        if negative {
            if magnitude <= i64::MIN.unsigned_abs() {
                return Plain::Int(0i64.wrapping_sub_unsigned(magnitude));
            }
        } else if let Ok(value) = i64::try_from(magnitude) {
            return Plain::Int(value);
        } else if !without.starts_with('+') {
            return Plain::Unsigned(magnitude);
        }
    }
    if decimal(&without)
        && let Ok(value) = without.parse::<f64>()
        && value.is_finite()
    {
        return Plain::Float(value);
    }
    Plain::Str
}

/// Go's `ParseUint(digits, 0, 64)`: `0x`, `0o`, `0b` and a leading `0` choose the base.
fn integer(digits: &str) -> Option<u64> {
    let bytes = digits.as_bytes();
    let (base, rest) = match bytes {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if rest.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(rest, base).ok()
}

/// `^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`
fn decimal(text: &str) -> bool {
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let whole = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_whole = whole.len() < rest.len();
    let after = match whole.strip_prefix('.') {
        Some(fraction) => {
            let tail = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if !has_whole && tail.len() == fraction.len() {
                return false;
            }
            tail
        }
        None if has_whole => whole,
        None => return false,
    };
    match after.strip_prefix(['e', 'E']) {
        None => after.is_empty(),
        Some(exponent) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
        }
    }
}

/// The number as it arrives: Go writes `443.0` as `443` into JSON, and reads that back as an integer.
pub(super) fn json_number(value: f64) -> Scalar<'static> {
    if value.fract() == 0.0
        && let Ok(int) = value.to_string().parse()
    {
        return Scalar::Int(int);
    }
    Scalar::Float(value)
}

/// What a key is called in JSON. The error says why Kubernetes refuses it.
pub(super) fn key(tag: Tag, quoted: bool, text: &str) -> Result<Cow<'_, str>, String> {
    if tag == Tag::None && (quoted || !may_be_special(text)) {
        return Ok(Cow::Borrowed(text));
    }
    Ok(match resolve(tag, quoted, text)? {
        Plain::Null => return Err("a key must not be null".to_owned()),
        Plain::Unsigned(_) => return Err(format!("the key `{text}` is too large for an integer")),
        Plain::Bool(true) => Cow::Borrowed("true"),
        Plain::Bool(false) => Cow::Borrowed("false"),
        Plain::Int(value) => Cow::Owned(value.to_string()),
        Plain::Float(value) => Cow::Owned(float_key(value)),
        Plain::Str | Plain::Merge if tag == Tag::Binary => {
            Cow::Owned(binary(text).unwrap_or_default())
        }
        Plain::Str | Plain::Merge => Cow::Borrowed(text),
    })
}

/// The cheap first look: most keys are plain words longer than `false`.
fn may_be_special(text: &str) -> bool {
    match text.as_bytes() {
        [] => true,
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] => true,
        bytes => bytes.len() <= 5,
    }
}

/// The text of a key that is a float: Go's `FormatFloat(value, 'g', -1, 32)`, with YAML's names of the infinite ones.
fn float_key(value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "Kubernetes itself rounds keys to 32 bits"
    )]
    let value = value as f32;
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    match scientific.split_once('e') {
        Some((mantissa, exponent)) => match exponent.parse::<i32>() {
            Ok(exponent) if !(-4..6).contains(&exponent) => {
                let sign = if exponent < 0 { '-' } else { '+' };
                format!("{mantissa}e{sign}{:02}", exponent.abs())
            }
            _ => value.to_string(),
        },
        None => value.to_string(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_go() {
        for (text, want) in [
            ("443", Plain::Int(443)),
            ("0443", Plain::Int(0o443)),
            ("0x1BB", Plain::Int(443)),
            ("0o17", Plain::Int(15)),
            ("0b101", Plain::Int(5)),
            ("090", Plain::Float(90.0)),
            ("1_000", Plain::Int(1000)),
            ("1:30", Plain::Str),
            ("1.10", Plain::Float(1.1)),
            ("-9223372036854775808", Plain::Int(i64::MIN)),
            ("18446744073709551615", Plain::Unsigned(u64::MAX)),
            ("2026-11-30", Plain::Str),
            ("1e3", Plain::Float(1000.0)),
            ("-", Plain::Str),
            ("+", Plain::Str),
            (".", Plain::Str),
            ("on", Plain::Bool(true)),
            ("oN", Plain::Str),
            ("~", Plain::Null),
            ("<<", Plain::Merge),
        ] {
            assert_eq!(plain(text), want, "{text}");
        }
    }

    #[test]
    fn floats_without_a_fraction_are_integers() {
        assert_eq!(json_number(443.0), Scalar::Int(443));
        assert_eq!(json_number(1.5), Scalar::Float(1.5));
        assert_eq!(json_number(1e20), Scalar::Float(1e20));
        assert_eq!(json_number(-0.0), Scalar::Int(0));
    }
}
