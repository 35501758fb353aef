//! The kustomizations that say what the files of a run are: those among them, those above them, and what these lead to.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::load::Text;
use crate::manifest::{
    KUSTOMIZATION_NAMES, Kustomization, Kustomizations, folder, folders_up, name, place,
};
use crate::source::{Content, FileId, Input, SourceFile, Sources, read};
use crate::yaml::Tree;

/// Collects the kustomizations. `files` are those of the run; `above` are the places whose folders, and the
/// folders above these, are looked into on the disk: up to the top of the repository, or to the working directory outside of one.
pub(super) fn collect(
    sources: &mut Sources,
    cwd: &Path,
    files: &[Text],
    above: impl IntoIterator<Item = String>,
) -> Kustomizations {
    let known: HashMap<&str, FileId> = files
        .iter()
        .filter(|text| KUSTOMIZATION_NAMES.contains(&name(&text.place)))
        .map(|text| (text.place.as_str(), text.file))
        .collect();
    let top = top(cwd);
    let mut starts: BTreeSet<String> = known.keys().map(|at| folder(at).to_owned()).collect();
    for at in above {
        starts.extend(folders_up(&at, &top));
    }
    Kustomizations::collect(starts, |at| {
        let file = match known.get(at) {
            Some(&file) => file,
            // What lies outside of the repository is nobody's business here.
            None if is_below(at, &top) => from_disk(sources, cwd, at)?,
            None => return None,
        };
        let text = &sources.get(file).text;
        let tree = Tree::parse(file, text);
        let root = tree.documents(text).next()?.root;
        Kustomization::read(file, at, root)
    })
}

/// The top of the repository around the working directory, as a place.
fn top(cwd: &Path) -> String {
    let top = cwd.ancestors().find(|above| above.join(".git").exists());
    place("", &top.unwrap_or(cwd).to_string_lossy())
}

fn is_below(at: &str, top: &str) -> bool {
    let rest = at.strip_prefix(top);
    rest.is_some_and(|rest| rest.starts_with('/') || top.ends_with('/'))
}

fn from_disk(sources: &mut Sources, cwd: &Path, at: &str) -> Option<FileId> {
    if !std::fs::symlink_metadata(at).is_ok_and(|data| data.is_file()) {
        return None;
    }
    let input = Input::named(cwd, Path::new(at));
    match read(&input, &mut Vec::new(), true) {
        Ok(Content::Text(text)) => Some(sources.add(SourceFile::new(input.shown, text))),
        _ => None,
    }
}
