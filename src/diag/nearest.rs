//! "Did you mean": the known name that a mistyped one is nearest to.

/// Longer words are not compared: no name is that long, and the comparison costs the product of the lengths.
const LONGEST: usize = 64;

/// The candidate that `word` most likely stood for; `None` where nothing is near.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let (folded, length) = (fold(word), letters(word));
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = letters(candidate);
        let most = length.max(other) / 3;
        if length.abs_diff(other) > most {
            continue;
        }
        let distance = strsim::osa_distance(&folded, &fold(candidate));
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// So many names that hold a part are told; with more the part says too little.
const HOLDING: usize = 8;

/// Which of the names may have been meant, as the end of a message: the nearest one, or those that hold the word.
pub fn meant<'a>(word: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(near) = nearest(word, names.clone()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let holding: Vec<_> = names.filter(|name| name.contains(word)).collect();
    match holding.len() {
        0 => None,
        1..=HOLDING => Some(format!("there is `{}`", holding.join("`, `"))),
        _ => None,
    }
}

/// Spelling habits that are not mistakes of their own: case, `-` and `_`.
fn fold(word: &str) -> String {
    let letters = word.chars().filter(|c| !matches!(c, '-' | '_'));
    letters.flat_map(char::to_lowercase).collect()
}

/// How many letters are left of it then.
fn letters(word: &str) -> usize {
    word.chars().filter(|c| !matches!(c, '-' | '_')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_name_that_was_meant() {
        let names = ["maxEjectionPercent", "minHealthPercent", "interval"];
        assert_eq!(
            nearest("max_ejection_percent", names),
            Some("maxEjectionPercent")
        );
        assert_eq!(nearest("intervall", names), Some("interval"));
        assert_eq!(nearest("hosts", names), None);
        assert_eq!(nearest(&"x".repeat(100_000), names), None);
    }
}
