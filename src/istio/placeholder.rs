//! Values that something else will put in later: `${HOST}`, `$(HOST)`, `<host>`, `__HOST__`, …

use std::borrow::Cow;

use super::schema;
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::yaml::{Kind, Node};

/// Whether the value of the node is unknown.
pub fn is_placeholder(node: Node<'_>) -> bool {
    match node.kind() {
        Kind::Scalar => {
            suspect(node).is_some_and(|text| holds_mark(&text) || is_spelt_in_capitals(&text))
        }
        _ => is_marked(node),
    }
}

/// The same where values are words in capitals by themselves, as those of enumerations.
///
/// An unquoted `{name}` is a map in flow style with one entry that has no value.
pub fn is_marked(node: Node<'_>) -> bool {
    match node.kind() {
        Kind::Scalar => suspect(node).is_some_and(|text| holds_mark(&text)),
        Kind::Map => {
            let mut entries = node.entries();
            let only = entries
                .next()
                .filter(|only| only.value.is_null() && node.span().start < only.key.span().start);
            only.is_some() && entries.next().is_none()
        }
        Kind::List => false,
    }
}

/// The string that needs a look: most are written without any of the bytes that placeholders hold.
fn suspect(node: Node<'_>) -> Option<Cow<'_, str>> {
    let mut bytes = node.written()?.bytes();
    if bytes.any(|byte| MARKS[usize::from(byte)]) {
        node.as_str()
    } else {
        None
    }
}

/// Those bytes.
static MARKS: [bool; 256] = {
    let mut marks = [false; 256];
    let mut rest: &[u8] = b"$<{_#%@";
    while let [mark, more @ ..] = rest {
        marks[*mark as usize] = true;
        rest = more;
    }
    marks
};

/// `${…}`, `$(…)`, `$NAME`, `<…>`, `{name}`, `__NAME__`, `###NAME###`, `%NAME%` or `@NAME@` anywhere in the text.
fn holds_mark(text: &str) -> bool {
    brackets(text, "${", '}', |_| true)
        || brackets(text, "$(", ')', |_| true)
        || brackets(text, "<", '>', |_| true)
        || brackets(text, "{", '}', is_name)
        || dollar_name(text)
        || between(text, "__", is_name)
        || between(text, "###", is_name)
        || between(text, "%", is_capitals)
        || between(text, "@", is_capitals)
}

/// A DNS label with a word of capitals and an underscore (`DB_HOST`), which no host name has, unless it is a word that Istio or
/// Envoy knows: then it is one in the wrong place.
fn is_spelt_in_capitals(text: &str) -> bool {
    text.contains('_')
        && text
            .split(['.', '/', ':', '-'])
            .any(|word| word.contains('_') && is_capitals(word))
        && !WORDS.contains(&text)
        && !schema::is_word(text)
}

const WORDS: [&str; 5] = [
    "HTTP_PROXY",
    "LOGICAL_DNS",
    "STRICT_DNS",
    "ORIGINAL_DST",
    // A value of the annotation `istio.io/connect-strategy`.
    "RACE_FIRST_TCP_CONNECT",
];

fn brackets(text: &str, open: &str, close: char, right: impl Fn(&str) -> bool) -> bool {
    let Some((text, _)) = text.rsplit_once(close) else {
        return false;
    };
    text.split(close)
        .filter_map(|piece| piece.rsplit_once(open))
        .any(|(_, inner)| is_short(inner) && right(inner))
}

fn between(text: &str, mark: &str, right: impl Fn(&str) -> bool) -> bool {
    let Some((text, _)) = text.rsplit_once(mark) else {
        return false;
    };
    text.split(mark)
        .skip(1)
        .any(|inner| is_short(inner) && right(inner))
}

fn is_short(text: &str) -> bool {
    !text.is_empty() && !text.contains('\n')
}

fn dollar_name(text: &str) -> bool {
    text.split('$')
        .skip(1)
        .any(|after| after.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
}

fn is_name(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

fn is_capitals(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_uppercase())
        && text.bytes().all(|byte| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
        })
}

/// Whether a finding rests on a value that is unknown. `places` are sorted, and may be those of several files.
pub fn touches(finding: &Diagnostic, places: &[Span]) -> bool {
    finding.spans().any(|span| {
        let before = |place: &Span| (place.file, place.end) <= (span.file, span.start);
        let next = places.get(places.partition_point(before));
        next.is_some_and(|place| place.file == span.file && place.start < span.end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_anywhere_in_the_text() {
        for text in [
            "${HOST}",
            "api.${ENV:-dev}.example",
            "$(HOST)",
            "$HOST",
            "<your-host>",
            "api.{env}.example",
            "__HOST__",
            "###HOST###",
            "%HOST%",
            "@HOST@",
            "a.@DB-HOST@.b",
        ] {
            assert!(holds_mark(text), "{text}");
        }
        for text in [
            "api.example.com",
            "*.example.com",
            "^/api/v1$",
            "[0-9]{2,3}",
            "a_b",
            "a__b",
            "100% of 50%",
            "me@example.com",
            "a@b@c",
            "{}",
            "${}",
            "DB_HOST",
            "",
        ] {
            assert!(!holds_mark(text), "{text}");
        }
    }

    #[test]
    fn what_stands_at_the_same_bytes_of_another_file_is_not_touched() {
        let span = |file, start, end| Span::new(crate::source::FileId(file), start, end);
        let touched = |at: Span| {
            let finding = Diagnostic::new("some", crate::diag::Severity::Warning, at, "");
            touches(
                &finding,
                &[span(1, 20, 30), span(1, 40, 50), span(3, 5, 10)],
            )
        };
        for at in [span(1, 29, 45), span(1, 40, 41), span(3, 0, 6)] {
            assert!(touched(at), "{at:?}");
        }
        for at in [
            span(0, 20, 30),
            span(1, 30, 40),
            span(2, 5, 45),
            span(3, 20, 30),
            span(4, 5, 10),
        ] {
            assert!(!touched(at), "{at:?}");
        }
    }

    #[test]
    fn capitals_with_an_underscore_are_no_host() {
        for text in [
            "DB_HOST",
            "APP_NAMESPACE_PLACEHOLDER",
            "DB_HOST.svc",
            "NS_NAME/api.example",
            "ratings.USER_NAME-lab.svc.cluster.local",
        ] {
            assert!(is_spelt_in_capitals(text), "{text}");
        }
        for text in ["HTTP", "db_host", "API.EXAMPLE", "HTTP_PROXY", "Db_HOST"] {
            assert!(!is_spelt_in_capitals(text), "{text}");
        }
    }
}
