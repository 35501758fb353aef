//! Which files a run reads: the named ones, and what lies in the named folders. A file is read where it is found, so that
//! nothing is kept of the many that hold nothing of interest.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::{DirEntry, WalkBuilder, WalkState};
use rayon::prelude::*;

use super::{Content, ReadError};

/// Why a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Named by the user: always parsed, whatever it holds.
    Named,
    /// Found in a folder that the user named.
    Found,
}

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub path: PathBuf,
    /// Relative to the working directory, with `/`; raw, so printers must escape control characters.
    pub shown: String,
    pub role: Role,
}

impl Input {
    /// A file that is to be read whatever it holds.
    pub fn named(cwd: &Path, path: &Path) -> Self {
        let path = relative(cwd, path);
        Self {
            shown: shown(&path),
            path,
            role: Role::Named,
        }
    }
}

/// A file that was read.
#[derive(Debug)]
pub struct Found {
    pub shown: String,
    pub role: Role,
    pub content: Result<Content, ReadError>,
}

/// Something that should have been read and could not be.
#[derive(Debug)]
pub struct Problem {
    pub shown: String,
    pub error: ReadError,
}

/// The files of a run.
#[derive(Debug, Default)]
pub struct Discovery {
    /// What holds something, ordered by the bytes of the shown paths, each once.
    pub files: Vec<Found>,
    /// The shown paths of the files that hold nothing, in any order, where they were asked for.
    pub others: Vec<String>,
    /// How many files were read.
    pub count: usize,
    pub problems: Vec<Problem>,
    /// The folders that were named, as shown.
    pub folders: Vec<String>,
    /// Whether `-` was named: the manifests on standard input.
    pub stdin: bool,
}

/// Whether to leave out a path.
pub(super) type Excluded<'a> = dyn Fn(&str) -> bool + Sync + 'a;

/// Reads a file, with a buffer for what may turn out to be of no interest.
pub(super) type Reader<'a> = dyn Fn(&Input, &mut Vec<u8>) -> Result<Content, ReadError> + Sync + 'a;

/// How the files of a run are found and read.
pub struct Search<'a> {
    pub cwd: &'a Path,
    /// What it says of a shown path goes for all that lies below it. A path that is named itself is always taken.
    pub excluded: &'a Excluded<'a>,
    pub read: &'a Reader<'a>,
    /// Whether somebody asks for the names of the files that hold nothing.
    pub others: bool,
    pub threads: usize,
}

impl Search<'_> {
    /// Reads the files below `paths`. `.gitignore` and `.ignore` files are honoured and hidden files left out, as ripgrep does;
    /// links are not followed, so that nothing outside of the named folders is read.
    pub fn run(&self, paths: &[PathBuf]) -> Discovery {
        let mut out = Discovery::default();
        let mut named: BTreeMap<String, Input> = BTreeMap::new();
        let mut folders: Vec<PathBuf> = Vec::new();
        for path in paths {
            if path.as_os_str() == "-" {
                out.stdin = true;
                continue;
            }
            let input = Input::named(self.cwd, path);
            match std::fs::metadata(&input.path) {
                Ok(data) if data.is_dir() => folders.push(input.path),
                Ok(_) => {
                    named.insert(input.shown.clone(), input);
                }
                Err(error) => out.problems.push(Problem {
                    shown: input.shown,
                    error: ReadError::Io(error),
                }),
            }
        }
        folders.sort();
        folders.dedup();
        out.folders = folders.iter().map(|folder| shown(folder)).collect();
        let walk = Walk {
            search: self,
            folders: &folders,
            named: &named,
            gathered: Mutex::new(out),
            count: AtomicUsize::new(named.len()),
        };
        walk.run();
        let mut out = walk
            .gathered
            .into_inner()
            .unwrap_or_else(|it| it.into_inner());
        out.count = walk.count.into_inner();
        let read = named
            .into_par_iter()
            .map_init(Vec::new, |buffer, (_, input)| Found {
                content: (self.read)(&input, buffer),
                shown: input.shown,
                role: input.role,
            });
        out.files.par_extend(read);
        out.files.sort_unstable_by(|a, b| a.shown.cmp(&b.shown));
        out.problems.sort_by(|a, b| a.shown.cmp(&b.shown));
        out.problems.dedup_by(|a, b| a.shown == b.shown);
        out
    }
}

/// The way through the named folders.
struct Walk<'a> {
    search: &'a Search<'a>,
    folders: &'a [PathBuf],
    /// What is read for itself, by its shown path.
    named: &'a BTreeMap<String, Input>,
    gathered: Mutex<Discovery>,
    count: AtomicUsize,
}

impl Walk<'_> {
    fn run(&self) {
        let Some((first, rest)) = self.folders.split_first() else {
            return;
        };
        let mut builder = WalkBuilder::new(first);
        for folder in rest {
            builder.add(folder);
        }
        builder.follow_links(false).threads(self.search.threads);
        builder.build_parallel().run(|| {
            let mut buffer = Vec::new();
            Box::new(move |entry| match entry {
                Ok(entry) => self.visit(&entry, &mut buffer),
                Err(error) => {
                    if let Some(problem) = problem(error) {
                        self.gather(|it| it.problems.push(problem));
                    }
                    WalkState::Continue
                }
            })
        });
    }

    fn visit(&self, entry: &DirEntry, buffer: &mut Vec<u8>) -> WalkState {
        let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let file = entry.file_type().is_some_and(|kind| kind.is_file());
        if !(folder || file && is_manifest(entry.path())) {
            return WalkState::Continue;
        }
        let path = normal(entry.path());
        let shown = shown(path);
        if entry.depth() > 0 && (self.search.excluded)(&shown) {
            return WalkState::Skip;
        }
        if folder {
            // A folder that was named is walked for itself.
            let again = entry.depth() > 0
                && self
                    .folders
                    .binary_search_by(|it| it.as_path().cmp(path))
                    .is_ok();
            return if again {
                WalkState::Skip
            } else {
                WalkState::Continue
            };
        }
        if !self.named.contains_key(&shown) {
            self.read(path.to_owned(), shown, buffer);
        }
        WalkState::Continue
    }

    fn read(&self, path: PathBuf, shown: String, buffer: &mut Vec<u8>) {
        let role = Role::Found;
        let input = Input { path, shown, role };
        let content = (self.search.read)(&input, buffer);
        self.count.fetch_add(1, Ordering::Relaxed);
        let shown = input.shown;
        if !matches!(content, Ok(Content::Nothing)) {
            let found = Found {
                shown,
                role,
                content,
            };
            self.gather(|it| it.files.push(found));
        } else if self.search.others {
            self.gather(|it| it.others.push(shown));
        }
    }

    fn gather(&self, add: impl FnOnce(&mut Discovery)) {
        add(&mut self
            .gathered
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner()));
    }
}

/// What could not be read on the way. A line of a `.gitignore` that makes no sense is nobody's problem here.
fn problem(error: ignore::Error) -> Option<Problem> {
    match error {
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            problem(*err)
        }
        ignore::Error::WithPath { path, err } => {
            let error = ReadError::Io(err.into_io_error()?);
            let shown = shown(normal(&path));
            Some(Problem { shown, error })
        }
        _ => None,
    }
}

/// Whether a file found in a folder may hold manifests, by its name. Our own configuration is no manifest.
fn is_manifest(path: &Path) -> bool {
    let Some(name) = path.file_name() else {
        return false;
    };
    let extension = Path::new(name).extension().and_then(|e| e.to_str());
    let known = extension.is_some_and(|e| {
        ["yaml", "yml", "json"]
            .iter()
            .any(|x| e.eq_ignore_ascii_case(x))
    });
    (known && name != "egress-lint.yaml") || name == "Kustomization"
}

/// A path as it is shown: relative to the working directory where that is near, with `/`.
pub fn shown_path(cwd: &Path, path: &Path) -> String {
    shown(normal(&relative(cwd, path)))
}

/// Without `.` steps and detours, and relative to the working directory where that holds it or stands beside it.
fn relative(cwd: &Path, path: &Path) -> PathBuf {
    let plain = direct(path);
    if !plain.is_absolute() {
        return if plain.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            plain
        };
    }
    for (up, above) in cwd.ancestors().enumerate() {
        if above.parent().is_none() {
            break;
        }
        if let Ok(below) = plain.strip_prefix(above) {
            let mut out: PathBuf = std::iter::repeat_n(Component::ParentDir, up).collect();
            out.push(below);
            return if out.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                out
            };
        }
    }
    plain
}

/// Without `.` steps, and without `a/..` where `a` is no link.
fn direct(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        let detour = part == Component::ParentDir
            && matches!(out.components().next_back(), Some(Component::Normal(_)))
            && std::fs::symlink_metadata(&out).is_ok_and(|data| !data.is_symlink());
        match part {
            Component::CurDir => {}
            _ if detour => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

fn normal(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' {
        text.into_owned()
    } else {
        text.replace(std::path::MAIN_SEPARATOR, "/")
    }
}
