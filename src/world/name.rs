//! What worlds are called in findings that do not hold everywhere.

use foldhash::HashSet;

/// Shortens places by the folders that all of them begin with; equal ones are told apart by numbers.
pub(super) fn shorten(places: Vec<String>) -> Vec<String> {
    let parts: Vec<Vec<&str>> = places
        .iter()
        .map(|place| place.split('/').collect())
        .collect();
    let shared = parts.first().map_or(0, |first| {
        // The last part of a place stays, whatever the others look like.
        let longest = parts.iter().map(|parts| parts.len() - 1).min().unwrap_or(0);
        (0..longest)
            .take_while(|&at| parts.iter().all(|parts| parts.get(at) == first.get(at)))
            .count()
    });
    let mut taken = HashSet::default();
    parts
        .into_iter()
        .map(|parts| {
            let name = parts.get(shared..).unwrap_or(&[]).join("/");
            let name = if name.is_empty() {
                ".".to_owned()
            } else {
                name
            };
            unique(&mut taken, name)
        })
        .collect()
}

/// The name itself, or with a number where it is taken.
pub(super) fn unique(taken: &mut HashSet<String>, name: String) -> String {
    let mut candidate = name.clone();
    let mut number = 2_usize;
    while !taken.insert(candidate.clone()) {
        candidate = format!("{name} ({number})");
        number += 1;
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_where_the_places_part() {
        let shorten = |places: &[&str]| shorten(places.iter().map(|&p| p.to_owned()).collect());
        assert_eq!(
            shorten(&["/r/overlays/dev", "/r/overlays/prod"]),
            ["dev", "prod"]
        );
        assert_eq!(shorten(&["a/dev", "b/dev"]), ["a/dev", "b/dev"]);
        assert_eq!(shorten(&["x/vs.yaml", "x/old"]), ["vs.yaml", "old"]);
        assert_eq!(shorten(&["x/a", "x/a/b"]), ["a", "a/b"]);
        assert_eq!(shorten(&["x", "x"]), ["x", "x (2)"]);
        assert!(shorten(&[]).is_empty());
    }
}
