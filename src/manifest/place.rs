//! Places of files in a tree.

/// `path`, seen from the folder `base`, with neither `.` nor `..` nor doubled `/`: equal places are equal texts.
///
/// Lexical: links are not followed. `..` above the top of a relative `base` stays.
pub fn place(base: &str, path: &str) -> String {
    let path = path.replace('\\', "/");
    let rooted = path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
    let mut parts: Vec<&str> = Vec::new();
    let bases = if rooted { "" } else { base };
    for part in bases.split(['/', '\\']).chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let top = if rooted { path.as_str() } else { base };
    let mut out = String::with_capacity(base.len() + path.len() + 1);
    if top.starts_with('/') {
        out.push('/');
        // Above the root is the root.
        let first = parts.iter().position(|part| *part != "..");
        parts.drain(..first.unwrap_or(parts.len()));
    }
    out.push_str(&parts.join("/"));
    out
}

/// The folder of a place; empty for a relative one without a folder.
pub fn folder(place: &str) -> &str {
    match place.rfind('/') {
        Some(0) => "/",
        Some(at) => place.get(..at).unwrap_or(""),
        None => "",
    }
}

/// The folders from that of `place` up to `top`, both included; only its own where it does not lie below `top`.
pub fn folders_up(place: &str, top: &str) -> Vec<String> {
    let mut at = folder(place);
    let mut out = vec![at.to_owned()];
    let below = at == top
        || top.is_empty()
        || at
            .strip_prefix(top)
            .is_some_and(|rest| rest.starts_with('/') || top == "/");
    while below && at != top {
        let up = folder(at);
        if up == at {
            break;
        }
        at = up;
        out.push(at.to_owned());
    }
    out
}

/// The last part of a place.
pub fn name(place: &str) -> &str {
    place.rsplit('/').next().unwrap_or(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lexical() {
        for (base, path, expected) in [
            ("", "a/b.yaml", "a/b.yaml"),
            ("", "./a//b.yaml", "a/b.yaml"),
            ("x/y", "../z", "x/z"),
            ("x", "../../z", "../z"),
            ("/x", "../../z", "/z"),
            ("/x", "/a/../b", "/b"),
            ("x", "/b", "/b"),
            ("x\\y", "z\\w", "x/y/z/w"),
            ("/", ".", "/"),
            ("", ".", ""),
        ] {
            assert_eq!(place(base, path), expected, "{base} {path}");
        }
        assert_eq!(folder("/a"), "/");
        assert_eq!(folder("a/b"), "a");
        assert_eq!(folder("a"), "");
        assert_eq!(name("a/b"), "b");
    }
}
