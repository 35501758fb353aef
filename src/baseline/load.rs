//! Reads a baseline from its file, and writes one there.

use std::io;
use std::path::{Path, PathBuf};

use super::{Baseline, file};
use crate::config::{self, Place};
use crate::diag::{Diagnostic, Severity};
use crate::source::{
    self, Content, Input, Problem, ReadError, SourceFile, Sources, Span, shown_path,
};

/// A baseline, and what is wrong with it. One with mistakes accepts nothing.
#[derive(Debug)]
pub struct Loaded {
    pub baseline: Baseline,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the file into `sources`. With `may_be_absent` a file that is not there accepts nothing.
///
/// # Errors
/// The file cannot be read.
pub fn load(
    cwd: &Path,
    path: &Path,
    may_be_absent: bool,
    sources: &mut Sources,
) -> Result<Loaded, Problem> {
    let mut out = Loaded {
        baseline: Baseline {
            place: place(cwd, path),
            ..Baseline::default()
        },
        diagnostics: Vec::new(),
    };
    let shown = shown_path(cwd, path);
    let content = match source::read(&Input::named(cwd, path), &mut Vec::new(), true) {
        Ok(content) => content,
        Err(ReadError::Io(error)) if may_be_absent && error.kind() == io::ErrorKind::NotFound => {
            return Ok(out);
        }
        Err(error) => return Err(Problem { shown, error }),
    };
    let (text, fault) = match content {
        Content::Text(text) if text.trim().is_empty() && !may_be_absent => {
            (text, Some("the baseline is empty"))
        }
        Content::Text(text) => (text, None),
        Content::Nothing => (String::new(), None),
        Content::NotUtf8 { text, .. } | Content::Wide { text } => {
            (text, Some("the baseline is not UTF-8"))
        }
    };
    let id = sources.add(SourceFile::new(shown, text));
    if let Some(message) = fault {
        let start = Span::new(id, 0, 0);
        let finding = Diagnostic::new(config::RULE, Severity::Error, start, message);
        out.diagnostics.push(finding);
        return Ok(out);
    }
    match file::parse(id, &sources.get(id).text) {
        Ok(entries) => out.baseline.entries = entries,
        Err(findings) => out.diagnostics = findings,
    }
    Ok(out)
}

fn place(cwd: &Path, path: &Path) -> Place {
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let folder = path
        .parent()
        .map_or_else(|| cwd.to_owned(), |folder| cwd.join(folder));
    Place::new(&real(cwd.to_owned()), &real(folder))
}

impl Baseline {
    /// The text of its file.
    ///
    /// # Errors
    /// None that is known of.
    pub fn render(&self) -> serde_json::Result<String> {
        file::render(&self.entries)
    }
}
