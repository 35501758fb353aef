//! Where the folder of the configuration is, seen from the working directory.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// The working directory and the folder of the configuration; both empty where they are the same or do not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    working: PathBuf,
    folder: PathBuf,
}

impl Place {
    /// Both absolute.
    pub fn new(working: &Path, folder: &Path) -> Self {
        if working == folder {
            return Self::default();
        }
        Self {
            working: working.to_owned(),
            folder: folder.to_owned(),
        }
    }

    /// Turns a path that is relative to the working directory into one that is relative to the folder, with `/`.
    pub fn relative<'a>(&self, shown: &'a str) -> Cow<'a, str> {
        let plain = !shown.starts_with('/')
            && !shown.split('/').any(|part| matches!(part, "." | ".." | ""));
        if self.folder.as_os_str().is_empty() && plain {
            return Cow::Borrowed(shown);
        }
        let whole = normal(&self.working.join(shown));
        let folder = normal(&self.folder);
        let shared = whole
            .iter()
            .zip(&folder)
            .take_while(|(a, b)| a == b)
            .count();
        let up = std::iter::repeat_n("..", folder.len() - shared);
        let down = whole.iter().skip(shared).map(String::as_str);
        Cow::Owned(up.chain(down).collect::<Vec<_>>().join("/"))
    }

    /// Whether what the configuration calls `named` is `shown` or lies below it; `shown` is relative to the working directory.
    pub fn lies_below(&self, named: &str, shown: &str) -> bool {
        let outer = normal(&self.working.join(shown));
        let inner = normal(&self.folder.join(named));
        let rest = inner.strip_prefix(outer.as_slice());
        rest.is_some_and(|rest| rest.first().is_none_or(|step| step != ".."))
    }

    /// A path that the configuration names, as it is reached from the working directory.
    pub fn resolve(&self, named: &str) -> PathBuf {
        self.folder.join(named)
    }
}

/// The parts of a path without `.` and `..`, without a look at the disk.
fn normal(path: &Path) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => match parts.last() {
                Some(last) if last != ".." => {
                    parts.pop();
                }
                _ if path.has_root() => {}
                _ => parts.push("..".to_owned()),
            },
            _ => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_paths_around() {
        let here = Place::default();
        assert_eq!(here.relative("a/b.yaml"), "a/b.yaml");
        assert_eq!(here.relative("./a//b.yaml"), "a/b.yaml");
        assert_eq!(here.relative("../b.yaml"), "../b.yaml");
        let above = Place::new(Path::new("/r/sub/dir"), Path::new("/r"));
        assert_eq!(above.relative("b.yaml"), "sub/dir/b.yaml");
        assert_eq!(above.relative("../b.yaml"), "sub/b.yaml");
        assert_eq!(above.relative("/r/c.yaml"), "c.yaml");
        let beside = Place::new(Path::new("/r/one"), Path::new("/r/two"));
        assert_eq!(beside.relative("b.yaml"), "../one/b.yaml");
        assert_eq!(beside.relative("../two/b.yaml"), "b.yaml");
    }

    #[test]
    fn knows_what_lies_below() {
        let here = Place::default();
        assert!(here.lies_below("a/b.yaml", "."));
        assert!(here.lies_below("a/b.yaml", "./a/"));
        assert!(here.lies_below("a/b.yaml", "a/b.yaml"));
        assert!(!here.lies_below("ab/b.yaml", "a"));
        assert!(!here.lies_below("../b.yaml", "."));
        let above = Place::new(Path::new("/r/sub"), Path::new("/r"));
        assert!(above.lies_below("sub/b.yaml", "."));
        assert!(!above.lies_below("other/b.yaml", "."));
        assert!(above.lies_below("other/b.yaml", "../other"));
    }
}
