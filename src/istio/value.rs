//! The scalar types of the API.

use std::fmt;

use smol_str::SmolStr;

use super::decode::{Decode, Decoder, message};
use crate::yaml::{Node, Scalar};

/// An integer as written; its range is admission's to judge.
pub type Int = i64;
/// A floating-point number.
pub type Number = f64;
pub type Bool = bool;

message! {
    /// `{number: 443}`.
    PortSelector {
        number: Int = "number",
    }
}

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration {
    pub nanos: i64,
}

impl Duration {
    pub fn from_millis(millis: i64) -> Self {
        Self {
            nanos: millis.saturating_mul(1_000_000),
        }
    }

    /// Whole milliseconds, truncated.
    pub fn millis(self) -> i64 {
        self.nanos / 1_000_000
    }

    /// Reads a duration as Go does, and with it the API server's CEL and Istio: `1h30m`, `1.5s`, `-10ms`, `0`.
    ///
    /// `None` for another syntax and for more than 2^63 - 1 nanoseconds (292 years).
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, mut rest) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        if rest == "0" {
            return Some(Self::default());
        }
        if rest.is_empty() {
            return None;
        }
        let limit = i128::from(i64::MAX) + i128::from(negative);
        let mut nanos: i128 = 0;
        while !rest.is_empty() {
            let (whole, after) = digits(rest);
            let (fraction, after) = match after.strip_prefix('.') {
                Some(after) => digits(after),
                None => ("", after),
            };
            if whole.is_empty() && fraction.is_empty() {
                return None;
            }
            let end = after
                .find(|c: char| c == '.' || c.is_ascii_digit())
                .unwrap_or(after.len());
            let (unit, after) = after.split_at_checked(end)?;
            let unit = unit_nanos(unit)?;
            nanos = nanos
                .checked_add(whole_number(whole)?.checked_mul(unit)?)?
                .checked_add(fraction_nanos(fraction, unit))?;
            if nanos > limit {
                return None;
            }
            rest = after;
        }
        let nanos = if negative { -nanos } else { nanos };
        Some(Self {
            nanos: i64::try_from(nanos).ok()?,
        })
    }
}

/// As one would write it: `30s`, `1.25s`, `250ms`.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.millis();
        if millis.unsigned_abs() < 1000 && millis != 0 {
            return write!(f, "{millis}ms");
        }
        let rest = format!("{:03}", (millis % 1000).unsigned_abs());
        match rest.trim_end_matches('0') {
            "" => write!(f, "{}s", millis / 1000),
            rest => write!(f, "{}.{rest}s", millis / 1000),
        }
    }
}

fn digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// An empty text is zero, as in `.5s`.
fn whole_number(text: &str) -> Option<i128> {
    if text.is_empty() {
        return Some(0);
    }
    text.parse::<i64>().ok().map(i128::from)
}

/// Digits behind the eighteenth are worth nothing in any unit.
fn fraction_nanos(text: &str, unit: i128) -> i128 {
    let text = text.get(..18).unwrap_or(text);
    let scale = text.bytes().fold(1, |scale: i128, _| scale * 10);
    text.parse::<i128>().map_or(0, |value| value * unit / scale)
}

fn unit_nanos(unit: &str) -> Option<i128> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

impl Decode for Duration {
    fn decode(node: Node<'_>, _: &mut Decoder) -> Option<Self> {
        Self::parse(&node.as_str()?)
    }
}

/// A value that is not ours to read: only that it is there counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opaque;

impl Decode for Opaque {
    fn decode(_: Node<'_>, _: &mut Decoder) -> Option<Self> {
        Some(Self)
    }
}

/// A string that may be written as a boolean or number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub SmolStr);

impl Decode for Text {
    fn decode(node: Node<'_>, _: &mut Decoder) -> Option<Self> {
        node.written().map(|text| Self(text.into()))
    }
}

/// `targetPort` of a Kubernetes `Service`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntOrString {
    Int(i64),
    Str(String),
}

impl Default for IntOrString {
    fn default() -> Self {
        Self::Int(0)
    }
}

impl Decode for IntOrString {
    fn decode(node: Node<'_>, _: &mut Decoder) -> Option<Self> {
        match node.scalar()? {
            Scalar::Int(value) => Some(Self::Int(value)),
            Scalar::Str(text) => Some(Self::Str(text.into_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Duration;

    #[test]
    fn durations_are_written_as_one_would() {
        for (millis, text) in [
            (0, "0s"),
            (250, "250ms"),
            (1_000, "1s"),
            (1_250, "1.25s"),
            (-1_005, "-1.005s"),
            (90_000, "90s"),
        ] {
            assert_eq!(Duration::from_millis(millis).to_string(), text);
        }
    }

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, nanos) in [
            ("1s", 1_000_000_000),
            ("1h1m1s1ms", 3_661_001_000_000),
            ("1.5s", 1_500_000_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("-2ms", -2_000_000),
            ("+1us", 1_000),
            ("1µs", 1_000),
            ("0", 0),
            ("-0", 0),
            ("0s", 0),
            ("0.0000001s", 100),
            ("9223372036854775807ns", i64::MAX),
        ] {
            assert_eq!(
                Duration::parse(text).map(|it| it.nanos),
                Some(nanos),
                "{text}"
            );
        }
        for text in [
            "",
            "1",
            "s",
            "1d",
            "1 s",
            "-",
            "+",
            ".s",
            "1s ",
            "TCP",
            "1e3s",
            "9223372036854775808ns",
            "2562048h",
            "1S",
            "--1s",
        ] {
            assert_eq!(Duration::parse(text), None, "{text}");
        }
    }
}
