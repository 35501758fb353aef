//! Cases that are a small tree of files in one text: each behind a `-- path --` line, the expected answer last.

// Each driver uses what it needs.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use egress_lint::manifest::{Kustomization, Kustomizations, folder};
use egress_lint::source::{FileId, SourceFile, Sources};
use egress_lint::yaml::Tree;
use libtest_mimic::{Arguments, Failed, Trial};

/// The files of a case, as a run has them.
pub(crate) struct Case {
    pub(crate) sources: Sources,
    pub(crate) ids: BTreeMap<String, FileId>,
    pub(crate) kustomizations: Kustomizations,
}

/// Runs the cases of `testdata/<topic>`: what `answer` says must be what stands behind `-- <section> --`, in whatever
/// order the files are given. `BLESS=1` writes the answers anew.
pub(crate) fn run(topic: &str, section: &'static str, answer: fn(&Case) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(topic);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of the cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let trials = paths
        .into_iter()
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy();
            Trial::test(name.into_owned(), move || check(&path, section, answer))
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn check(path: &Path, section: &str, answer: fn(&Case) -> String) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let (comment, mut files) = parse(&text);
    let expected = files.remove(section).unwrap_or_default();
    let pairs = || files.iter().map(|(path, text)| (*path, text.as_str()));
    let found = answer(&Case::new(pairs()));
    let reversed = answer(&Case::new(pairs().rev()));
    if found != reversed {
        return Err(format!("in another order:\n{reversed}\ninstead of\n{found}").into());
    }
    if found == expected {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_none() {
        return Err(format!("expected\n{expected}\nfound\n{found}").into());
    }
    let mut out = comment.to_owned();
    for (path, text) in files.iter().chain([(&section, &found)]) {
        let _ = write!(out, "-- {path} --\n{text}");
    }
    std::fs::write(path, out)?;
    Ok(())
}

/// The text before the first section, and the sections by name.
fn parse(case: &str) -> (&str, BTreeMap<&str, String>) {
    let mut sections = BTreeMap::new();
    let mut comment = 0;
    let mut current: Option<&str> = None;
    for line in case.split_inclusive('\n') {
        let name = line.trim_end().strip_prefix("-- ");
        if let Some(name) = name.and_then(|name| name.strip_suffix(" --")) {
            sections.insert(name, String::new());
            current = Some(name);
        } else if let Some(name) = current {
            sections.get_mut(name).expect("inserted").push_str(line);
        } else {
            comment += line.len();
        }
    }
    (&case[..comment], sections)
}

impl Case {
    fn new<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut sources = Sources::new();
        let ids: BTreeMap<String, FileId> = files
            .map(|(path, text)| (path.to_owned(), sources.add(SourceFile::new(path, text))))
            .collect();
        let folders = ids.keys().map(|path| folder(path).to_owned());
        let kustomizations = Kustomizations::collect(folders, |place| {
            let file = *ids.get(place)?;
            let text = &sources.get(file).text;
            let tree = Tree::parse(file, text);
            let root = tree.documents(text).next()?.root;
            Kustomization::read(file, place, root)
        });
        Self {
            sources,
            ids,
            kustomizations,
        }
    }

    /// The files by path, with their texts.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, FileId, &str)> {
        self.ids
            .iter()
            .map(|(path, &file)| (path.as_str(), file, self.sources.get(file).text.as_str()))
    }
}
