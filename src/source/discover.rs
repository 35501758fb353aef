//! Which files a run reads: the named ones, and what lies in the named folders.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use ignore::{WalkBuilder, WalkState};

use super::ReadError;

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

/// Something that should have been read and could not be.
#[derive(Debug)]
pub struct Problem {
    pub shown: String,
    pub error: ReadError,
}

/// The files of a run, ordered by the bytes of their shown paths, each once.
#[derive(Debug, Default)]
pub struct Discovery {
    pub inputs: Vec<Input>,
    pub problems: Vec<Problem>,
    /// The folders that were named, as shown.
    pub folders: Vec<String>,
    /// Whether `-` was named: the manifests on standard input.
    pub stdin: bool,
}

/// Whether to leave out a path.
pub type Excluded<'a> = dyn Fn(&str) -> bool + Sync + 'a;

/// Finds the files below `paths`. `.gitignore` and `.ignore` files are honoured and hidden files left out, as ripgrep does;
/// links are not followed, so that nothing outside of the named folders is read. What `excluded` says of a shown path goes for
/// all that lies below it. A path that is named itself is always taken.
pub fn discover(cwd: &Path, paths: &[PathBuf], excluded: &Excluded, threads: usize) -> Discovery {
    let mut out = Discovery::default();
    let mut named: BTreeMap<String, Input> = BTreeMap::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            out.stdin = true;
            continue;
        }
        let input = Input::named(cwd, path);
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
    let (walked, problems) = walk(&folders, excluded, threads);
    out.problems.extend(problems);
    out.inputs = walked;
    out.inputs.extend(named.into_values());
    out.inputs
        .sort_unstable_by(|a, b| (&a.shown, a.role).cmp(&(&b.shown, b.role)));
    out.inputs
        .dedup_by(|later, first| later.shown == first.shown);
    out.problems
        .sort_by(|a, b| a.shown.as_bytes().cmp(b.shown.as_bytes()));
    out.problems.dedup_by(|a, b| a.shown == b.shown);
    out
}

fn walk(folders: &[PathBuf], excluded: &Excluded, threads: usize) -> (Vec<Input>, Vec<Problem>) {
    let Some((first, rest)) = folders.split_first() else {
        return Default::default();
    };
    let mut builder = WalkBuilder::new(first);
    for folder in rest {
        builder.add(folder);
    }
    builder.follow_links(false).threads(threads);
    let found = Mutex::new((Vec::new(), Vec::new()));
    let hold = || {
        found
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    };
    builder.build_parallel().run(|| {
        Box::new(|entry| {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    if let Some(problem) = problem(error) {
                        hold().1.push(problem);
                    }
                    return WalkState::Continue;
                }
            };
            let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let file = entry.file_type().is_some_and(|kind| kind.is_file());
            if !(folder || file && is_manifest(entry.path())) {
                return WalkState::Continue;
            }
            let path = normal(entry.path());
            let shown = shown(path);
            if entry.depth() > 0 && excluded(&shown) {
                return WalkState::Skip;
            }
            if file {
                let path = path.to_owned();
                let role = Role::Found;
                hold().0.push(Input { path, shown, role });
            }
            WalkState::Continue
        })
    });
    found
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
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
