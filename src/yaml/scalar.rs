//! What a scalar means to Kubernetes: the rules of go-yaml v2, which follow YAML 1.1 in part.

use std::borrow::Cow;

use super::tag::{Tag, binary, resolve};

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

/// The words that are no strings. Mixed case (`yEs`) is a string.
fn word(text: &str) -> Option<Plain> {
    /// `false`, `-.inf`
    const LONGEST: usize = 5;
    if text.len() > LONGEST {
        return None;
    }
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
