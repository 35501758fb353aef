//! What the files of a run turn out to be: texts to parse, or what no tool reads.

use std::path::Path;

use super::load::Loaded;
use super::parse::{mentions_istio, syntax};
use crate::manifest::{Kinds, place};
use crate::source::{
    Content, Discovery, FileId, Found, Problem, ReadError, Role, SourceFile, Span,
};
use crate::world::File;

/// A text to parse.
pub(super) struct Text {
    pub(super) file: FileId,
    pub(super) place: String,
    /// Its syntax errors are ours to tell: the user named it, or it is about Istio.
    pub(super) ours: bool,
    /// The user named the file.
    pub(super) named: bool,
}

/// Takes in all files. Back come the texts to parse, and the places where the user has us look.
pub(super) fn take_in(
    out: &mut Loaded,
    found: Discovery,
    stdin: Option<(String, Result<Content, ReadError>)>,
    cwd: &Path,
) -> (Vec<Text>, Vec<String>) {
    let cwd = cwd.to_string_lossy();
    let folders = found.folders.iter();
    let mut starts: Vec<String> = folders.map(|it| place(&cwd, it) + "/").collect();
    let mut texts = Vec::new();
    out.files = found.count + usize::from(stdin.is_some());
    out.problems = found.problems;
    out.sources.reserve(found.files.len());
    let stdin = stdin.map(|(shown, content)| Found {
        shown,
        role: Role::Named,
        content,
    });
    for file in found.files.into_iter().chain(stdin) {
        let at = place(&cwd, &file.shown);
        if file.role == Role::Named {
            starts.push(at.clone());
        }
        texts.extend(take(out, file, at));
    }
    (texts, starts)
}

/// Takes in what a file holds; a text to parse comes back.
fn take(out: &mut Loaded, file: Found, place: String) -> Option<Text> {
    let Found {
        shown,
        role,
        content,
    } = file;
    let (text, fault) = match content {
        Ok(Content::Nothing) => return None,
        Ok(Content::Text(text)) => (text, None),
        Ok(Content::NotUtf8 { text, at, len }) => (text, Some((at, len, NOT_UTF8))),
        Ok(Content::Wide { text }) => (text, Some((0, 0, WIDE))),
        Err(error) => {
            let file = out.sources.add(SourceFile::new(shown.as_str(), ""));
            out.manifests.push(broken(file, place));
            out.problems.push(Problem { shown, error });
            out.files = out.files.saturating_sub(1);
            return None;
        }
    };
    let named = role == Role::Named;
    let ours = named || mentions_istio(&text);
    let file = out.sources.add(SourceFile::new(shown, text));
    let Some((at, len, (message, help))) = fault else {
        return Some(Text {
            file,
            place,
            ours,
            named,
        });
    };
    out.manifests.push(broken(file, place));
    if ours {
        let span = Span::new(file, at, at + len);
        out.diagnostics.push(syntax(span, message).help(help));
    }
    None
}

/// A file of which nothing is known but that it is there.
fn broken(id: FileId, place: String) -> File {
    File {
        id,
        place,
        resources: Vec::new(),
        meshes: Vec::new(),
        templates: Kinds::default(),
        broken: true,
    }
}

const NOT_UTF8: (&str, &str) = (
    "the file is not UTF-8",
    "save it as UTF-8: what stands here is read differently by each tool, or not at all",
);

const WIDE: (&str, &str) = (
    "the file is UTF-16 or UTF-32, not UTF-8",
    "save it as UTF-8: `kubectl` reads UTF-16, `istioctl` refuses it",
);
