//! The kustomizations that say what the files of a run are: those among them, those above them, and what these lead to.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::intake::Text;
use crate::manifest::{
    Change, KUSTOMIZATION_NAMES, Kustomization, Kustomizations, Target, folder, folders_up, name,
    place,
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
        .map(|text| (text.place.as_str(), text.file))
        .collect();
    let top = top(cwd);
    let own = files.iter().map(|text| text.place.as_str());
    let own = own.filter(|at| KUSTOMIZATION_NAMES.contains(&name(at)));
    let mut starts: BTreeSet<String> = own.map(|at| folder(at).to_owned()).collect();
    for at in above {
        starts.extend(folders_up(&at, &top));
    }
    let find = |sources: &mut Sources, at: &str| match known.get(at) {
        Some(&file) => Some(file),
        // What lies outside of the repository is nobody's business here.
        None if is_below(at, &top) => from_disk(sources, cwd, at),
        None => None,
    };
    let is_short = |sources: &Sources, at: &str| match known.get(at) {
        Some(&file) => sources.get(file).text.len() as u64 <= LONGEST,
        None => std::fs::symlink_metadata(at).is_ok_and(|data| data.len() <= LONGEST),
    };
    Kustomizations::collect(starts, |at| {
        let file = find(sources, at)?;
        let text = &sources.get(file).text;
        let tree = Tree::parse(file, text);
        let root = tree.documents(text).next()?.root;
        let mut found = Kustomization::read(file, at, root)?;
        for (place, target) in found.targeted.iter().take(PATCHES) {
            if is_short(sources, place)
                && let Some(patch) = find(sources, place)
            {
                found.changes.extend(changes(sources, patch, target));
            }
        }
        Some(found)
    })
}

/// So many files of patches of one kustomization are read for what they change, if they are no longer than that:
/// what a patch changes is little.
const PATCHES: usize = 100;
const LONGEST: u64 = 64 * 1024;

/// What a file of patches changes.
fn changes(sources: &Sources, patch: FileId, target: &Target) -> Vec<Change> {
    let text = &sources.get(patch).text;
    let tree = Tree::parse(patch, text);
    let documents = tree.documents(text);
    documents
        .flat_map(|document| Change::of_patch(document.root, Some(target)))
        .collect()
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
