//! "Did you mean", and messages that stay readable.

/// So many letters of a long name may differ.
const MOST: usize = 3;

/// The name that was probably meant: the closest one, if it is close enough.
pub(super) fn nearest<'n>(text: &str, names: &[&'n str]) -> Option<&'n str> {
    // Longer texts are no misspelling of a field.
    let length = text.chars().count();
    if !(3..=64).contains(&length) {
        return None;
    }
    let folded = fold(text);
    let allowed = match length {
        3..=4 => 1,
        5..=9 => 2,
        _ => MOST,
    };
    names
        .iter()
        .filter(|name| name.len().abs_diff(length) <= (allowed + 2).max(length / 2))
        .map(|name| (distance(&folded, &fold(name)), *name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// How many letters differ. A beginning or an ending that is missing counts as one.
fn distance(text: &str, name: &str) -> usize {
    let missing = name
        .strip_prefix(text)
        .or_else(|| name.strip_suffix(text))
        .filter(|rest| text.len() >= 5 && rest.len() <= (text.len() / 2).max(3));
    let apart = text.chars().count().abs_diff(name.chars().count());
    match missing {
        Some(_) => 1,
        // At least so many letters differ.
        None if apart > MOST => apart,
        None => strsim::damerau_levenshtein(text, name),
    }
}

fn fold(text: &str) -> String {
    text.replace(['_', '-'], "").to_lowercase()
}

/// `a Gateway`, `an EnvoyFilter`.
pub(super) fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['A', 'E', 'I', 'O']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {kind}")
}

/// `a`, `b` and `c`; of many names the first ones.
pub(super) fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const MOST: usize = 6;
    let mut names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(MOST);
    if more > 0 {
        names.truncate(MOST);
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// A message that quotes the input, cut where the input is longer than anybody reads.
pub(super) fn bounded(mut message: String) -> String {
    const MOST: usize = 400;
    if message.len() > MOST {
        message.truncate(message.floor_char_boundary(MOST));
        message.push('…');
    }
    message
}

#[cfg(test)]
mod tests {
    use super::{listed, nearest};

    #[test]
    fn names_are_listed_as_in_a_sentence() {
        let of = |names: &[&'static str]| listed(names.iter().copied());
        assert_eq!(of(&["a"]), "`a`");
        assert_eq!(of(&["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(of(&["a"; 8]), "`a`, `a`, `a`, `a`, `a`, `a` and 2 more");
    }

    #[test]
    fn only_near_names_are_meant() {
        let names = ["perTryTimeout", "retryOn", "attempts", "backoff"];
        assert_eq!(nearest("per_try_timeout", &names), Some("perTryTimeout"));
        assert_eq!(nearest("retriesOn", &names), None);
        assert_eq!(nearest("retyrOn", &names), Some("retryOn"));
        assert_eq!(nearest("attempt", &names), Some("attempts"));
        assert_eq!(
            nearest("addres", &["addresses", "hosts"]),
            Some("addresses")
        );
        assert_eq!(nearest("timeout", &names), None);
        assert_eq!(nearest("x", &names), None);
    }
}
