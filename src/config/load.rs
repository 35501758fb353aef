//! Finds the configuration of a run and reads it, with the mesh configuration that it names.

use std::path::{Component, Path, PathBuf};

use super::RULE;
use super::mesh::MeshSource;
use super::place::Place;
use super::read;
use super::settings::Config;
use crate::diag::{Diagnostic, Severity};
use crate::source::shown_path;
use crate::source::{
    self, Content, Input, Problem, ReadError, Role, SourceFile, Sources, Span, Spanned,
};
use crate::yaml::Tree;

/// The names of a configuration, the first that is there counts.
const NAMES: [&str; 2] = ["egress-lint.yaml", ".egress-lint.yaml"];

/// Which configuration a run uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The nearest from the working directory upwards, if there is one.
    #[default]
    Nearest,
    /// This file.
    File(PathBuf),
    /// None.
    Isolated,
}

/// A configuration, and what is wrong with it, which sets nothing.
#[derive(Debug, Default)]
pub struct Loaded {
    pub config: Config,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the configuration of a run into `sources`.
///
/// # Errors
/// The file that was chosen or found cannot be read.
pub fn load(choice: &Choice, cwd: &Path, sources: &mut Sources) -> Result<Loaded, Problem> {
    let found = match choice {
        Choice::Isolated => None,
        Choice::File(path) => Some(cwd.join(path)),
        Choice::Nearest => nearest(cwd),
    };
    match found {
        None => Ok(Loaded::default()),
        Some(path) => file(cwd, &path, sources),
    }
}

/// The nearest configuration. A folder or a pipe of that name is none.
fn nearest(cwd: &Path) -> Option<PathBuf> {
    let mut candidates = cwd
        .ancestors()
        .flat_map(|folder| NAMES.map(|name| folder.join(name)));
    candidates.find(|path| path.is_file())
}

fn file(cwd: &Path, path: &Path, sources: &mut Sources) -> Result<Loaded, Problem> {
    let shown = &shown_path(cwd, path);
    let problem = |error| Problem {
        shown: shown.clone(),
        error,
    };
    let text = match text(path).map_err(problem)? {
        Ok(text) => text,
        Err(text) => {
            let file = sources.add(SourceFile::new(shown, text));
            let start = Span::new(file, 0, 0);
            return Ok(Loaded {
                config: Config {
                    file: Some(file),
                    ..Config::default()
                },
                diagnostics: vec![error(start, "the configuration is not UTF-8")],
            });
        }
    };
    let file = sources.add(SourceFile::new(shown, text));
    let mut parsed = read::parse(file, &sources.get(file).text);
    let folder = path
        .parent()
        .map_or_else(|| cwd.to_owned(), |folder| cwd.join(folder));
    let folder = folder.canonicalize().unwrap_or(folder);
    let working = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    if let Some(mesh) = parsed.mesh_path {
        match mesh_file(&mesh, &folder, shown, sources) {
            Ok(source) => parsed.config.mesh = Some(source),
            Err(finding) => parsed.diagnostics.push(*finding),
        }
    }
    if let Some(baseline) = &parsed.config.baseline
        && let Err(finding) = below(baseline, &folder)
    {
        parsed.diagnostics.push(*finding);
        parsed.config.baseline = None;
    }
    parsed.config.place = Place::new(&working, &folder);
    Ok(Loaded {
        config: parsed.config,
        diagnostics: parsed.diagnostics,
    })
}

fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(RULE, Severity::Error, span, message)
}

/// The text, or what can be read of it if it is not UTF-8.
fn text(path: &Path) -> Result<Result<String, String>, ReadError> {
    let input = Input {
        path: path.to_owned(),
        shown: String::new(),
        role: Role::Named,
    };
    Ok(match source::read(&input, &mut Vec::new(), true)? {
        Content::Text(text) => Ok(text),
        Content::Nothing => Ok(String::new()),
        Content::NotUtf8 { text, .. } | Content::Wide { text } => Err(text),
    })
}

/// Where a file is that the configuration names. It lies below the folder of the configuration: one that somebody else wrote
/// must not show what else is on this machine.
fn below(named: &Spanned<String>, folder: &Path) -> Result<PathBuf, Box<Diagnostic>> {
    let relative = Path::new(&named.value);
    let below = relative
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let path = folder.join(relative);
    let real = path.canonicalize();
    if !below || real.as_ref().is_ok_and(|real| !real.starts_with(folder)) {
        return Err(refuse(named, "does not lie below the folder of this file"));
    }
    Ok(path)
}

fn refuse(named: &Spanned<String>, reason: &str) -> Box<Diagnostic> {
    Box::new(error(named.span, format!("`{}` {reason}", named.value)))
}

/// Reads the file that `mesh-config` names.
fn mesh_file(
    named: &Spanned<String>,
    folder: &Path,
    config: &str,
    sources: &mut Sources,
) -> Result<MeshSource, Box<Diagnostic>> {
    let path = below(named, folder)?;
    let text = text(&path).map_err(|error| refuse(named, &error.to_string()))?;
    let text = text.map_err(|_| refuse(named, "is not UTF-8"))?;
    let shown = match config.rsplit_once('/') {
        Some((above, _)) => format!("{above}/{}", named.value),
        None => named.value.clone(),
    };
    let file = sources.add(SourceFile::new(shown, text));
    let text = &sources.get(file).text;
    let tree = Tree::parse(file, text);
    if let Some(fault) = tree.errors().first() {
        let finding = refuse(named, "is not YAML").because(fault.span, fault.message.clone());
        return Err(Box::new(finding));
    }
    Ok(MeshSource::File {
        path: named.clone(),
        file,
    })
}
