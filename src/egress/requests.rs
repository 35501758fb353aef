//! Which requests a condition takes, in words.

use super::facts::Traced;
use super::http_match::{HttpMatch, Path};
use crate::istio::Rare;
use crate::istio::decode::Map;
use crate::istio::route::StringMatch;

/// More headers or parameters than this are counted.
const NAMED: usize = 2;

/// What the condition asks of a request; `None` where that is nothing and no route stands before it.
pub(super) fn in_words(condition: &HttpMatch<'_>, is_first: bool) -> Option<Traced<String>> {
    let mut asked: Vec<String> = Vec::new();
    let written = || condition.halves().map(|half| &half.written.value);
    match condition.path() {
        Path::Prefix("/") => {}
        Path::Exact(exact) => asked.push(format!("the path is `{exact}`")),
        Path::Prefix(prefix) => asked.push(format!("the path begins with `{prefix}`")),
        Path::Regex(regex) => asked.push(format!("the path matches `{regex}`")),
    }
    for half in written() {
        let texts = [
            ("the method", &half.method),
            ("the host", &half.authority),
            ("the scheme", &half.scheme),
        ];
        asked.extend(texts.into_iter().filter_map(|(what, text)| {
            let text = text.as_ref()?;
            Some(format!("{what} {}", is(&text.value)))
        }));
        several(&mut asked, "the header", &half.headers);
        several(&mut asked, "not: the header", &half.without_headers);
        several(&mut asked, "the parameter", &half.query_params);
    }
    let lines = condition.halves().map(|half| half.written.key);
    match asked.is_empty() {
        true if is_first => None,
        true => Some(Traced::default("all others".to_owned(), "it comes last")),
        false => Some(Traced::lines(asked.join(", "), lines)),
    }
}

/// `is `GET``, `begins with `/a``, `matches `.*``, or that there is one at all.
fn is(text: &StringMatch) -> String {
    match (&text.exact, &text.prefix, &text.regex) {
        (Some(exact), _, _) => format!("is `{}`", exact.value),
        (_, Some(prefix), _) => format!("begins with `{}`", prefix.value),
        (_, _, Some(regex)) => format!("matches `{}`", regex.value),
        _ => "is there".to_owned(),
    }
}

fn several(asked: &mut Vec<String>, what: &str, map: &Rare<Map<StringMatch>>) {
    let Some(map) = map else { return };
    for (name, text) in map.value.iter().take(NAMED) {
        asked.push(format!("{what} `{}` {}", name.value, is(&text.value)));
    }
    if map.value.len() > NAMED {
        asked.push(format!("{} more", map.value.len() - NAMED));
    }
}
