//! From paths to resources: each file is read once, parsed, decoded, and its tree dropped.

use std::collections::HashSet;
use std::path::Path;

use rayon::prelude::*;

use super::kustomize;
use super::parse::{Parsed, Source, mentions_istio, syntax};
use crate::diag::Diagnostic;
use crate::istio::{IstioVersion, Resource};
use crate::manifest::{Kustomizations, place, state_of_file};
use crate::source::{
    Content, Discovery, FileId, Problem, ReadError, Role, SourceFile, Sources, Span, read,
};

/// What is to be loaded, and what must be known for it.
#[derive(Debug)]
pub struct Request<'a> {
    pub found: Discovery,
    /// The name to show for standard input and what came from there.
    pub stdin: Option<(String, Result<Content, ReadError>)>,
    /// What has been read before, such as the configuration.
    pub sources: Sources,
    pub cwd: &'a Path,
    pub version: IstioVersion,
    /// Parse every file: nothing is held back by its bytes.
    pub parse_all: bool,
}

/// Everything the files of a run hold.
#[derive(Debug, Default)]
pub struct Loaded {
    pub sources: Sources,
    pub resources: Vec<Resource>,
    pub kustomizations: Kustomizations,
    /// About texts and single resources, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// How many files were looked at.
    pub files: usize,
    /// How many resources of Istio's API there are.
    pub istio: usize,
    pub templates: usize,
    pub placeholders: usize,
    pub patches: usize,
}

/// Reads and decodes, in parallel on the current rayon pool; the result does not depend on the number of threads.
pub fn load(request: Request<'_>) -> Loaded {
    let mut out = Loaded {
        files: request.found.inputs.len() + usize::from(request.stdin.is_some()),
        sources: request.sources,
        problems: request.found.problems,
        ..Loaded::default()
    };
    let inputs = &request.found.inputs;
    let contents: Vec<Result<Content, ReadError>> = inputs
        .par_iter()
        .map_init(Vec::new, |buffer, input| {
            read(input, buffer, request.parse_all)
        })
        .collect();
    let from_files = inputs.iter().map(|input| (input.shown.clone(), input.role));
    let read = from_files.zip(contents);
    let read = read.chain(
        request
            .stdin
            .map(|(name, content)| ((name, Role::Named), content)),
    );
    let cwd = request.cwd.to_string_lossy();
    let mut texts: Vec<(FileId, String)> = Vec::new();
    let mut named: HashSet<FileId> = HashSet::new();
    let mut above: Vec<String> = Vec::new();
    for ((shown, role), content) in read {
        let (text, fault) = match content {
            Ok(Content::Nothing) => continue,
            Ok(Content::Text(text)) => (text, None),
            Ok(Content::NotUtf8 { text, at, len }) => (text, Some((at, len, NOT_UTF8))),
            Ok(Content::Wide { text }) => (text, Some((0, 0, WIDE))),
            Err(error) => {
                out.problems.push(Problem { shown, error });
                continue;
            }
        };
        if role == Role::Found && fault.is_some() && !mentions_istio(&text) {
            continue;
        }
        let at = place(&cwd, &shown);
        let file = out.sources.add(SourceFile::new(shown, text));
        if role == Role::Named {
            named.insert(file);
            above.push(at.clone());
        }
        match fault {
            None => texts.push((file, at)),
            Some((at, len, (message, help))) => {
                let span = Span::new(file, at, at + len);
                out.diagnostics.push(syntax(span, message).help(help));
            }
        }
    }
    above.extend(
        request
            .found
            .folders
            .iter()
            .map(|folder| place(&cwd, &format!("{folder}/."))),
    );
    out.kustomizations = kustomize::collect(&mut out.sources, request.cwd, &texts, above);
    let parsed: Vec<Parsed> = texts
        .par_iter()
        .map(|(file, place)| {
            let state = out.kustomizations.state_of_file(place);
            let source = Source {
                file: *file,
                text: &out.sources.get(*file).text,
                state: state.or_else(|| state_of_file(place)),
                version: request.version,
            };
            source.parse()
        })
        .collect();
    for ((file, _), mut parsed) in texts.into_iter().zip(parsed) {
        let told = named.contains(&file) || mentions_istio(&out.sources.get(file).text);
        if told {
            out.diagnostics.append(&mut parsed.diagnostics);
        }
        out.istio += parsed
            .resources
            .iter()
            .filter(|r| r.spec.is_istio())
            .count();
        out.placeholders += parsed
            .resources
            .iter()
            .map(|r| r.placeholders.len())
            .sum::<usize>();
        out.templates += parsed.templates;
        out.patches += parsed.patches;
        out.resources.append(&mut parsed.resources);
    }
    out
}

const NOT_UTF8: (&str, &str) = (
    "the file is not UTF-8",
    "save it as UTF-8: what stands here is read differently by each tool, or not at all",
);

const WIDE: (&str, &str) = (
    "the file is UTF-16 or UTF-32, not UTF-8",
    "save it as UTF-8: `kubectl` reads UTF-16, `istioctl` refuses it",
);
