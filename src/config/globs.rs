//! Globs over paths, relative to the folder of the configuration.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::source::Spanned;

/// No path is longer; longer globs cost more to compile than they can be worth.
pub(super) const LONGEST: usize = 1024;

/// A list of globs. A glob that names a folder matches all that lies in it.
#[derive(Clone, Debug, Default)]
pub struct PathGlobs {
    set: GlobSet,
    globs: Vec<Spanned<String>>,
}

impl PathGlobs {
    /// The globs that can be compiled; `refused` is told of each that cannot, and why.
    pub fn new(
        globs: impl IntoIterator<Item = Spanned<String>>,
        mut refused: impl FnMut(&Spanned<String>, String),
    ) -> Self {
        let mut builder = GlobSetBuilder::new();
        let mut kept = Vec::new();
        for glob in globs {
            match compile(&glob.value) {
                Ok(compiled) => {
                    for one in compiled {
                        builder.add(one);
                    }
                    kept.push(glob);
                }
                Err(reason) => refused(&glob, reason),
            }
        }
        match builder.build() {
            Ok(set) => Self { set, globs: kept },
            Err(error) => {
                if let Some(glob) = kept.first() {
                    refused(glob, error.kind().to_string());
                }
                Self::default()
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// The globs as they are written.
    pub fn iter(&self) -> impl Iterator<Item = &Spanned<String>> {
        self.globs.iter()
    }

    /// Whether one of them matches `path`, which is relative to the folder of the configuration and uses `/`.
    pub fn matches(&self, path: &str) -> bool {
        self.set.is_match(path)
    }

    /// Those that match none of the paths.
    pub(super) fn unmatched<T: AsRef<str>>(
        &self,
        paths: impl Iterator<Item = T>,
    ) -> impl Iterator<Item = &Spanned<String>> {
        let mut idle = vec![true; self.globs.len()];
        for path in paths {
            for at in self.set.matches(path.as_ref()) {
                if let Some(idle) = idle.get_mut(at / FORMS) {
                    *idle = false;
                }
            }
        }
        let globs = self.globs.iter().zip(idle);
        globs.filter_map(|(glob, idle)| idle.then_some(glob))
    }
}

/// A glob is compiled as what it matches itself, and as all that lies in it.
const FORMS: usize = 2;

fn compile(glob: &str) -> Result<[globset::Glob; FORMS], String> {
    if glob.len() > LONGEST {
        return Err(format!("longer than {LONGEST} bytes"));
    }
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    let folder = glob.strip_suffix('/').unwrap_or(glob);
    let build = |text: &str| {
        GlobBuilder::new(text)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| error.kind().to_string())
    };
    Ok([build(folder)?, build(&format!("{folder}/**"))?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Span};

    fn globs(texts: &[&str]) -> (PathGlobs, Vec<String>) {
        let span = Span::new(FileId(0), 0, 0);
        let mut refused = Vec::new();
        let made = PathGlobs::new(
            texts
                .iter()
                .map(|text| Spanned::new((*text).to_owned(), span, span)),
            |glob, reason| refused.push(format!("{}: {reason}", glob.value)),
        );
        (made, refused)
    }

    #[test]
    fn matches_files_and_all_that_is_in_a_folder() {
        let (globs, refused) = globs(&["vendor/**", "./legacy/", "*.tmp.yaml", "a/*/c.yaml"]);
        assert!(refused.is_empty());
        for path in [
            "vendor/x/y.yaml",
            "legacy/a.yaml",
            "x.tmp.yaml",
            "a/b/c.yaml",
        ] {
            assert!(globs.matches(path), "{path}");
        }
        for path in ["vendored/x.yaml", "d/x.tmp.yaml", "a/b/b/c.yaml"] {
            assert!(!globs.matches(path), "{path}");
        }
    }

    #[test]
    fn refuses_what_is_no_glob() {
        let (globs, refused) = globs(&["[", "ok", &"a".repeat(2000)]);
        assert_eq!(refused.len(), 2);
        assert_eq!(globs.iter().count(), 1);
    }
}
