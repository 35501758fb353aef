//! Whether a file's bytes can matter at all, found out without parsing them.
//!
//! The filter may let too much pass, never too little: what it holds back must parse to nothing that counts.
//! A test runs the program with and without it and compares the reports.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// What must follow a needle for it to count.
#[derive(Clone, Copy)]
enum After {
    Anything,
    /// The end of a word: `Service`, not `ServiceAccount`.
    EndOfWord,
    /// `mesh:` of the ConfigMap `istio`, `meshConfig` of Helm values and operators.
    Mesh,
}

/// Everything that is read has one of these in its text, unless it hides letters behind escapes.
const NEEDLES: [(&str, After); 10] = [
    ("istio.io", After::Anything), // the API groups, Istio's labels and annotations
    ("gateway.networking.k8s.io", After::Anything), // routes and Gateways of Kubernetes' own
    ("Service", After::EndOfWord), // `kind: Service`: 69 % stand in files without `istio.io`
    ("Namespace", After::EndOfWord), // `kind: Namespace`
    ("mesh", After::Mesh),         // mesh configuration
    ("egress-lint", After::Anything), // silencers and facts
    ("egress-tests", After::Anything), // egress tests
    ("!binary", After::Anything),  // base64: could hide any of them
    ("2002:binary", After::Anything), // the same tag, written out
    ("%TAG", After::Anything),     // could rename that tag
];

/// The length in bytes of the longest text that decides something, with what follows it.
pub(super) const LONGEST: usize = 26;

static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(NEEDLES.map(|(needle, _)| needle))
        .ok()
});

/// Whether a file, or a document, with these bytes must be parsed.
pub fn matters(bytes: &[u8]) -> bool {
    let Some(search) = &*SEARCH else {
        return true;
    };
    search.find_iter(bytes).any(|hit| {
        let next = bytes.get(hit.end()).copied().unwrap_or(b'\n');
        match NEEDLES
            .get(hit.pattern().as_usize())
            .map(|(_, after)| after)
        {
            Some(After::EndOfWord) => !next.is_ascii_alphanumeric(),
            Some(After::Mesh) => matches!(next, b'C' | b':' | b'"' | b'\'' | b' '),
            _ => true,
        }
    }) || hides_letters(bytes)
}

/// Whether an escape of a quoted scalar stands for a character of a needle, or joins two lines inside of a word.
fn hides_letters(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', bytes).any(|at| {
        let digits = |width: usize| {
            let hex = bytes.get(at + 2..at + 2 + width);
            let text = hex.and_then(|hex| std::str::from_utf8(hex).ok());
            text.and_then(|text| u32::from_str_radix(text, 16).ok())
        };
        let escaped = match bytes.get(at + 1) {
            Some(b'x') => digits(2),
            Some(b'u') => digits(4),
            Some(b'U') => digits(8),
            Some(b'\n' | b'\r') => {
                return at
                    .checked_sub(1)
                    .and_then(|before| bytes.get(before))
                    .is_some_and(in_word);
            }
            _ => None,
        };
        escaped
            .and_then(|code| u8::try_from(code).ok())
            .is_some_and(|byte| in_word(&byte))
    })
}

/// Whether a needle could hold the byte.
fn in_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'!' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(text: &str) -> bool {
        matters(text.as_bytes())
    }

    #[test]
    fn what_is_read_passes() {
        assert!(passes("apiVersion: networking.istio.io/v1\n"));
        assert!(passes("kind: Service"));
        assert!(passes("{\"kind\":\"Service\"}"));
        assert!(passes("kind: &k Namespace # one\n"));
        assert!(passes("meshConfig: {}\n"));
        assert!(passes("data:\n  mesh: |\n"));
        assert!(passes("# egress-lint: ignore[x]\n"));
    }

    #[test]
    fn what_is_not_read_is_held_back() {
        assert!(!passes("kind: ServiceAccount\nmetadata: {namespace: a}\n"));
        assert!(!passes(
            "kind: ServiceMonitor\n# for the service-mesh-team\n"
        ));
        assert!(!passes("{\"html\":\"\\u003cb\\u003e\"}"));
        assert!(!passes("run: |\n  curl -v \\\n    https://a.example\n"));
        assert!(!passes(""));
    }

    #[test]
    fn hidden_letters_pass() {
        assert!(passes("apiVersion: \"networking.isti\\x6f.io/v1\""));
        assert!(passes("apiVersion: \"networking.isti\\u006f.io/v1\""));
        assert!(passes("apiVersion: \"networking.isti\\U0000006f.io/v1\""));
        assert!(passes("apiVersion: \"networking.isti\\\n  o.io/v1\""));
        assert!(passes("apiVersion: !!binary bmV0\n"));
        assert!(passes("%TAG !y! tag:yaml.org,2002:\n---\n"));
    }
}
