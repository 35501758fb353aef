//! Durations as Go and Istio write them: `30s`, `5m`, `1h30m`, `1.5s`, `500ms`.

/// A century: no fact of a host is longer.
const LONGEST_MS: f64 = 100.0 * 366.0 * 24.0 * 3_600_000.0;

/// Milliseconds of a duration; `None` where it is none, negative, or longer than a century.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut total = 0.0;
    if rest.is_empty() || rest.len() > 64 {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let unit_end = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let factor = match unit {
            "ms" => 1.0,
            "s" => 1000.0,
            "m" => 60_000.0,
            "h" => 3_600_000.0,
            _ => return None,
        };
        let number: f64 = number.parse().ok()?;
        total += number * factor;
        rest = tail;
    }
    #[allow(clippy::cast_possible_truncation)]
    (total <= LONGEST_MS).then_some(total as i64)
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn reads_go_durations() {
        for (text, expected) in [
            ("30s", Some(30_000)),
            ("0s", Some(0)),
            ("1h30m", Some(5_400_000)),
            ("1.5s", Some(1500)),
            ("500ms", Some(500)),
            ("", None),
            ("30", None),
            ("s", None),
            ("-1s", None),
            ("1 s", None),
            ("1d", None),
            ("1..5s", None),
            ("9e99h", None),
            ("99999999999999h", None),
        ] {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }
}
