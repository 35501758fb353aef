//! One statement of a forecast and what it rests on.

use smallvec::SmallVec;

use crate::source::Span;

/// Why a sentence may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Measured on Envoy; the experiment's name.
    Measured(&'static str),
    /// Read from Istio's or Envoy's source.
    Source,
    /// Follows from what is measured or read, but was not observed itself.
    Inferred,
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Evidence::Measured(experiment) => write!(f, "measured {experiment}"),
            Evidence::Source => f.write_str("source"),
            Evidence::Inferred => f.write_str("inferred"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    pub text: String,
    pub evidence: Evidence,
    /// The lines whose values it was computed from.
    pub because: SmallVec<[Span; 2]>,
}

impl Sentence {
    pub(super) fn measured(experiment: &'static str, text: impl Into<String>) -> Self {
        Self::new(Evidence::Measured(experiment), text)
    }

    pub(super) fn source(text: impl Into<String>) -> Self {
        Self::new(Evidence::Source, text)
    }

    pub(super) fn inferred(text: impl Into<String>) -> Self {
        Self::new(Evidence::Inferred, text)
    }

    fn new(evidence: Evidence, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            evidence,
            because: SmallVec::new(),
        }
    }

    /// Adds the lines that it was computed from.
    #[must_use]
    pub(super) fn because(mut self, spans: impl IntoIterator<Item = Span>) -> Self {
        for span in spans {
            if !self.because.contains(&span) {
                self.because.push(span);
            }
        }
        self
    }
}

/// `1 retry`, `2 retries`.
pub(super) fn plural(n: u32, one: &str, many: &str) -> String {
    if n == 1 {
        format!("1 {one}")
    } else {
        format!("{n} {many}")
    }
}

/// A duration for reading: `30 s`, `0.3 s`, `250 ms`, `5 min`.
pub fn span_of_time(millis: i64) -> String {
    if millis < 100 || (millis < 1000 && millis % 100 != 0) {
        return format!("{millis} ms");
    }
    if millis >= 120_000 && millis % 60_000 == 0 {
        return format!("{} min", millis / 60_000);
    }
    let (whole, rest) = (millis / 1000, millis % 1000);
    if rest == 0 {
        return format!("{whole} s");
    }
    let fraction = format!("{rest:03}");
    format!("{whole}.{} s", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::span_of_time;

    #[test]
    fn durations_read_as_people_write_them() {
        for (millis, text) in [
            (0, "0 ms"),
            (50, "50 ms"),
            (250, "250 ms"),
            (300, "0.3 s"),
            (1_000, "1 s"),
            (30_250, "30.25 s"),
            (60_000, "60 s"),
            (90_000, "90 s"),
            (300_000, "5 min"),
        ] {
            assert_eq!(span_of_time(millis), text);
        }
    }
}
