//! Names and values of HTTP headers, and what a route does to them.

use smol_str::SmolStr;

use super::super::Items;
use super::super::route::{HeaderOperations, Headers, HttpRewrite};
use super::super::version::IstioVersion;
use super::{Review, refusal};
use crate::source::Spanned;

pub(super) fn check(headers: Option<&Spanned<Headers>>, review: &mut Review<'_>) {
    let Some(headers) = headers else { return };
    if let Some(request) = &headers.request {
        check_operations(request, true, review);
    }
    if let Some(response) = &headers.response {
        check_operations(response, false, review);
    }
}

fn check_operations(operations: &HeaderOperations, request: bool, review: &mut Review<'_>) {
    for (name, value) in [&operations.add, &operations.set]
        .into_iter()
        .flatten()
        .flat_map(|map| map.iter())
    {
        // Only a request has an authority, which can be written over.
        check_operation_name(name, request, review);
        if let Some(fault) = value_fault(value) {
            review.push(
                refusal(
                    value.span,
                    format!("the value of the header `{}` {fault}", name.value),
                )
                .help("write `%%` for a percent sign"),
            );
        }
    }
    for name in operations.remove.items() {
        check_operation_name(name, false, review);
    }
}

fn check_operation_name(name: &Spanned<SmolStr>, authority: bool, review: &mut Review<'_>) {
    if name.is_empty() {
        review.push(refusal(name.span, "a header needs a name"));
    } else if authority && is_authority(name) {
    } else if name.starts_with(':') || name.eq_ignore_ascii_case("host") {
        review.push(refusal(
            name.span,
            format!("the header `{}` cannot be changed here", name.value),
        ));
    }
}

fn is_authority(name: &str) -> bool {
    name.eq_ignore_ascii_case(":authority") || name.eq_ignore_ascii_case("host")
}

/// The authority can be written over once.
pub(super) fn check_authority(
    rewrite: Option<&Spanned<HttpRewrite>>,
    headers: Option<&Spanned<Headers>>,
    review: &mut Review<'_>,
) {
    let request = headers.and_then(|headers| headers.request.as_ref());
    let operations = request
        .into_iter()
        .flat_map(|request| [&request.set, &request.add]);
    let written = operations
        .flatten()
        .flat_map(|map| map.iter())
        .filter(|(name, _)| is_authority(name));
    let rewritten = rewrite
        .and_then(|rewrite| rewrite.authority.as_ref())
        .filter(|authority| !authority.is_empty());
    let mut all = rewritten
        .map(|it| it.span)
        .into_iter()
        .chain(written.map(|(_, value)| value.span));
    if let (Some(first), Some(second)) = (all.next(), all.next()) {
        review.push(
            refusal(second, "the authority is written over twice")
                .because(first, "the first time")
                .help("keep one of them"),
        );
    }
}

/// A name as a match has it: a header, a pseudo header, or a claim of a token.
pub(super) fn check_match_name(name: &Spanned<SmolStr>, review: &mut Review<'_>) {
    let pseudo = matches!(
        name.as_str(),
        ":method" | ":scheme" | ":authority" | ":path" | ":status"
    ) && review.version >= IstioVersion(25);
    if !(pseudo || is_claim(name) || is_name(name, review.version)) {
        review.push(refusal(
            name.span,
            format!("`{}` is no header name", name.value),
        ));
    }
}

pub(super) fn is_name(name: &str, version: IstioVersion) -> bool {
    let right = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_')
            || (version >= IstioVersion(25) && b"!#$%&'*+,.^`|~".contains(&byte))
    };
    !name.is_empty() && name.bytes().all(right)
}

/// `@request.auth.claims.NAME` or `@request.auth.claims[NAME]`.
pub(super) fn is_claim(name: &str) -> bool {
    const PREFIX: &str = "@request.auth.claims";
    let Some((prefix, rest)) = name.split_at_checked(PREFIX.len()) else {
        return false;
    };
    let dotted = rest.starts_with('.') && rest.len() > 1;
    let bracketed = rest.starts_with('[') && rest.ends_with(']') && rest.len() > 2;
    prefix.eq_ignore_ascii_case(PREFIX) && (dotted || bracketed)
}

/// What Envoy would not read: control characters, and a `%` that begins no command such as `%REQ(name)%`.
fn value_fault(value: &str) -> Option<&'static str> {
    if value.chars().any(|c| c.is_ascii_control() && c != '\t') {
        return Some("has a control character");
    }
    let mut rest = value;
    while let Some((_, after)) = rest.split_once('%') {
        rest = match after.strip_prefix('%') {
            Some(escaped) => escaped,
            None => match command(after) {
                Ok(end) => end,
                Err(fault) => return Some(fault),
            },
        };
    }
    None
}

/// Reads `NAME%`, `NAME(text)%` or `NAME(["a", "b"])%`, and gives what comes behind.
fn command(text: &str) -> Result<&str, &'static str> {
    const OPEN: &str = "has a `%` that is not closed";
    let end = text.find(['%', '(']).ok_or(OPEN)?;
    let (name, rest) = text.split_at_checked(end).ok_or(OPEN)?;
    let _ = name;
    if let Some(rest) = rest.strip_prefix('%') {
        return Ok(rest);
    }
    let inner = rest.get(1..).unwrap_or("").trim_start_matches(' ');
    let rest = match inner.strip_prefix('[') {
        Some(list) => strings(list)?,
        // The first character always belongs to the text.
        None => string(skip(inner, 1).ok_or(OPEN)?)?,
    };
    let rest = rest.trim_start_matches(' ');
    if rest.is_empty() {
        return Err(OPEN);
    }
    rest.strip_prefix('%')
        .ok_or("has a command without a `%` at its end")
}

fn skip(text: &str, count: usize) -> Option<&str> {
    let mut chars = text.chars();
    for _ in 0..count {
        chars.next()?;
    }
    Some(chars.as_str())
}

/// Up to the `)` that ends the argument, or the `"` of a list that was opened within it.
fn string(text: &str) -> Result<&str, &'static str> {
    const OPEN: &str = "has a `%` that is not closed";
    let mut rest = text;
    loop {
        let end = rest.find(['\\', ')', '"']).ok_or(OPEN)?;
        let after = rest.get(end + 1..).unwrap_or("");
        match rest.as_bytes().get(end) {
            Some(b'\\') => rest = skip(after, 1).ok_or("ends with a `\\`")?,
            Some(b')') => return Ok(after),
            _ => return list_end(after),
        }
    }
}

/// The strings of a list, from before their first quote.
fn strings(text: &str) -> Result<&str, &'static str> {
    let text = text.trim_start_matches(' ');
    if text.is_empty() {
        return Err("has a `%` that is not closed");
    }
    string(
        text.strip_prefix('"')
            .ok_or("has a list whose items are not in quotes")?,
    )
}

fn list_end(text: &str) -> Result<&str, &'static str> {
    let text = text.trim_start_matches(' ');
    if let Some(more) = text.strip_prefix(',') {
        return strings(more);
    }
    let Some(rest) = text.strip_prefix(']') else {
        return Err("has a list that is not closed");
    };
    rest.trim_start_matches(' ')
        .strip_prefix(')')
        .ok_or("has a command whose `(` is not closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for value in [
            "",
            "foo",
            "100%%",
            "%HOSTNAME%",
            "a %REQ(x)% b",
            "%DYNAMIC_METADATA([\"a\", \"b\"])%",
            "%X( y )%",
            "a\tb",
            "%X(a\\))%",
        ] {
            assert_eq!(value_fault(value), None, "{value}");
        }
        for value in [
            "%",
            "abc%123",
            "%START_TIME%%",
            "%X(",
            "%X(a)",
            "%X(a)b%",
            "%X([a])%",
            "%X([\"a\" b])%",
            "a\nb",
            "%X(\\",
        ] {
            assert!(value_fault(value).is_some(), "{value}");
        }
    }

    #[test]
    fn claims() {
        for name in ["@request.auth.claims.iss", "@Request.auth.claims[iss][a]"] {
            assert!(is_claim(name), "{name}");
        }
        for name in [
            "@request.auth.claims",
            "@request.auth.claims.",
            "@request.auth.claims[]",
            "x",
        ] {
            assert!(!is_claim(name), "{name}");
        }
    }
}
