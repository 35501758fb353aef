//! Globs of `worlds:` that stand for no file.

use super::RULE;
use super::settings::Config;
use crate::diag::{Diagnostic, Severity};

/// What globs of the worlds match none of `files`. Only those are judged whose files all lie in the `folders` of the run: to be
/// handed a part of the tree is no mistake. Both are relative to the working directory.
pub fn unmatched<'a>(
    config: &Config,
    folders: &[String],
    files: impl Iterator<Item = &'a str> + Clone,
) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for world in &config.worlds {
        let paths = files.clone().map(|file| config.relative(file));
        for glob in world.files.unmatched(paths) {
            let start = start(&glob.value);
            if !folders
                .iter()
                .any(|folder| config.place.lies_below(start, folder))
            {
                continue;
            }
            let message = format!(
                "`{}` matches no file, so the world `{}` gets nothing from it",
                glob.value, world.name.value
            );
            out.push(
                Diagnostic::new(RULE, Severity::Error, glob.span, message).help(
                    "correct or remove it: globs begin at the folder of this file, and `*` does not cross `/`",
                ),
            );
        }
    }
    out
}

/// The folder that all lies in that the glob can match.
fn start(glob: &str) -> &str {
    let special = glob.find(['*', '?', '[', '{', '\\']).unwrap_or(glob.len());
    let plain = glob.get(..special).unwrap_or(glob);
    if special == glob.len() {
        return plain;
    }
    plain.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use crate::source::FileId;

    fn said(globs: &str, folders: &[&str], files: &[&str]) -> Vec<String> {
        let text = format!("worlds: {{prod: {globs}}}");
        let config = parse(FileId(0), &text).config;
        let folders: Vec<String> = folders.iter().map(|&it| it.to_owned()).collect();
        let found = unmatched(&config, &folders, files.iter().copied());
        let glob = |it: &Diagnostic| {
            text.get(it.span.start as usize..it.span.end as usize)
                .map(str::to_owned)
        };
        found.iter().filter_map(glob).collect()
    }

    #[test]
    fn a_glob_without_a_file_is_told() {
        let files = ["base/a.yaml", "prod/b/c.yaml"];
        let globs = "[base/**, ./prod/, prd/**, prod/*.yaml]";
        assert_eq!(said(globs, &["."], &files), ["prd/**", "prod/*.yaml"]);
    }

    #[test]
    fn a_part_of_the_tree_tells_nothing_about_the_rest() {
        let globs = "[base/**, '{a,b}/*', prod/x/**]";
        assert_eq!(said(globs, &["prod"], &["prod/b/c.yaml"]), ["prod/x/**"]);
        assert_eq!(said(globs, &[], &["prod/b/c.yaml"]), [""; 0]);
    }
}
