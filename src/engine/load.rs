//! From texts to resources: each file is parsed, decoded, and its tree dropped.

use std::collections::HashSet;
use std::path::Path;

use memchr::memmem;
use rayon::prelude::*;

use super::kustomize;
use super::parse::{Parsed, Source, mentions_istio, syntax};
use crate::diag::Diagnostic;
use crate::istio::{INJECT, IstioVersion, Resource};
use crate::manifest::{Change, Kinds, Kustomizations, place, state_of_file};
use crate::source::{
    Content, Discovery, FileId, Found, Problem, ReadError, Role, SourceFile, Sources, Span,
};
use crate::suppress::Comments;
use crate::world::{Fallback, File, assign_namespaces};

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
    /// The namespace of manifests that name none.
    pub namespace: Option<Fallback>,
    /// Parse every file: nothing is held back by its bytes.
    pub parse_all: bool,
}

/// Everything the files of a run hold.
#[derive(Debug, Default)]
pub struct Loaded {
    pub sources: Sources,
    /// What the files bring into a cluster, in the order of the files.
    pub manifests: Vec<File>,
    pub kustomizations: Kustomizations,
    /// About texts and single resources, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
    /// The silencers among the comments.
    pub comments: Comments,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// How many files were read.
    pub files: usize,
    /// How many resources of Istio's API there are.
    pub istio: usize,
    pub templates: usize,
    pub placeholders: usize,
    pub patches: usize,
    /// What the patches change.
    pub changes: Vec<Change>,
    /// How many resources Istio refuses.
    pub refused: usize,
    /// How many objects are of Istio's kinds of which nothing is said.
    pub unjudged: usize,
    /// A file says of single pods whether they have a sidecar. Only noted where a namespace is ambient.
    pub pods_differ: bool,
}

/// A text to parse.
pub(super) struct Text {
    pub(super) file: FileId,
    pub(super) place: String,
    /// Its syntax errors are ours to tell: the user named it, or it is about Istio.
    ours: bool,
    named: bool,
}

/// So many texts are parsed before what they hold is kept: all of it lying in two places would take memory.
const TOGETHER: usize = 4096;

/// At most so many are parsed one after the other by one pair of hands: then nobody waits long for another at the end.
const SHARE: usize = 64;

/// Parses and decodes, in parallel on the current rayon pool; the result does not depend on the number of threads.
pub fn load(request: Request<'_>) -> Loaded {
    let cwd = request.cwd.to_string_lossy();
    let found = request.found;
    let mut out = Loaded {
        files: found.count + usize::from(request.stdin.is_some()),
        sources: request.sources,
        problems: found.problems,
        ..Loaded::default()
    };
    let mut texts = Vec::new();
    let mut starts: Vec<String> = found
        .folders
        .iter()
        .map(|it| place(&cwd, it) + "/")
        .collect();
    let stdin = request.stdin.map(|(shown, content)| Found {
        shown,
        role: Role::Named,
        content,
    });
    out.sources.reserve(found.files.len());
    for file in found.files.into_iter().chain(stdin) {
        let at = place(&cwd, &file.shown);
        if file.role == Role::Named {
            starts.push(at.clone());
        }
        texts.extend(out.take(file, at));
    }
    out.kustomizations = kustomize::collect(&mut out.sources, request.cwd, &texts, starts);
    let patches = out.kustomizations.iter();
    out.changes = patches.flat_map(|it| it.changes.iter().cloned()).collect();
    let kustomizations = out.kustomizations.iter().map(|it| it.file);
    let patches = out.changes.iter().map(|change| change.span.file);
    let named: HashSet<FileId> = kustomizations.chain(patches).collect();
    out.manifests.reserve(texts.len());
    // Whether pods say if they have a sidecar is asked of the texts.
    let inject = memmem::Finder::new(INJECT);
    let injects = |file: &SourceFile| inject.find(file.text.as_bytes()).is_some();
    let mut told = false;
    let mut texts = texts.into_iter().peekable();
    while texts.peek().is_some() {
        let some: Vec<Text> = texts.by_ref().take(TOGETHER).collect();
        let parsed = some.par_iter().with_max_len(SHARE).map(|text| {
            let mut parsed = out.parse(text, request.version, request.parse_all);
            let (resources, namespace) = (&mut parsed.resources, request.namespace.as_ref());
            assign_namespaces(resources, &text.place, &out.kustomizations, namespace);
            parsed
        });
        let parsed: Vec<Parsed> = parsed.collect();
        for (text, parsed) in some.into_iter().zip(parsed) {
            out.unjudged += parsed.unjudged;
            if parsed.is_empty() && !named.contains(&text.file) {
                told = told || injects(out.sources.get(text.file));
                out.sources.forget(text.file);
            } else {
                out.keep(text, parsed);
            }
        }
    }
    if out.resources().any(|it| it.ambient().is_some()) {
        out.pods_differ = told || out.sources.iter().any(|(_, file)| injects(file));
    }
    out.manifests.sort_by_key(|file| file.id);
    out
}

impl Loaded {
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.manifests.iter().flat_map(|file| &file.resources)
    }

    /// Takes in what a file holds; a text to parse comes back.
    fn take(&mut self, file: Found, place: String) -> Option<Text> {
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
                let file = self.sources.add(SourceFile::new(shown.as_str(), ""));
                self.manifests.push(broken(file, place));
                self.problems.push(Problem { shown, error });
                self.files = self.files.saturating_sub(1);
                return None;
            }
        };
        let named = role == Role::Named;
        let ours = named || mentions_istio(&text);
        let file = self.sources.add(SourceFile::new(shown, text));
        let Some((at, len, (message, help))) = fault else {
            return Some(Text {
                file,
                place,
                ours,
                named,
            });
        };
        self.manifests.push(broken(file, place));
        if ours {
            let span = Span::new(file, at, at + len);
            self.diagnostics.push(syntax(span, message).help(help));
        }
        None
    }

    fn parse(&self, text: &Text, version: IstioVersion, all: bool) -> Parsed {
        let state = self.kustomizations.state_of_file(&text.place);
        let source = Source {
            file: text.file,
            source: self.sources.get(text.file),
            state: state.or_else(|| state_of_file(&text.place)),
            version,
            whole: all || text.ours,
            named: text.named,
        };
        source.parse()
    }

    fn keep(&mut self, text: Text, mut parsed: Parsed) {
        let Text {
            file, place, ours, ..
        } = text;
        for resource in &parsed.resources {
            self.istio += usize::from(resource.spec.is_istio());
            self.placeholders += resource.placeholders.len();
            self.refused += usize::from(resource.refused);
        }
        self.templates += parsed.templates;
        self.patches += parsed.patches;
        self.changes.append(&mut parsed.changes);
        // A mesh configuration need not hold the name of an API of Istio's.
        if ours || !parsed.meshes.is_empty() {
            if self.diagnostics.is_empty() {
                // One file may have so many that they should not stand here twice.
                self.diagnostics = parsed.diagnostics;
            } else {
                self.diagnostics.append(&mut parsed.diagnostics);
            }
        }
        self.comments = std::mem::take(&mut self.comments).and(parsed.comments);
        self.manifests.push(File {
            id: file,
            place,
            resources: parsed.resources,
            meshes: parsed.meshes,
            templates: parsed.kinds,
            broken: parsed.broken,
        });
    }
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
