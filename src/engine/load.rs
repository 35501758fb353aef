//! From texts to resources: each file is parsed, decoded, and its tree dropped.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use memchr::memmem;
use rayon::prelude::*;

use super::intake::{Text, take_in};
use super::kustomize;
use super::parse::{Parsed, Source};
use crate::diag::Diagnostic;
use crate::istio::{INJECT, IstioVersion, Namespace, Resource};
use crate::manifest::{Change, Kustomizations, state_of_file};
use crate::source::{Content, Discovery, FileId, Problem, ReadError, SourceFile, Sources};
use crate::suppress::Comments;
use crate::world::{File, assign_namespaces, assign_revisions};

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
    pub namespace: Option<Arc<Namespace>>,
    /// Parse every file: nothing is held back by its bytes.
    pub parse_all: bool,
    /// Read fields that are misspelt as what they mean, to judge all else. Otherwise they are not there, as in the cluster.
    pub as_meant: bool,
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
    /// How many resources Istio refuses: for the rules they do not exist.
    pub refused: usize,
    /// How many objects are of Istio's kinds of which nothing is said.
    pub unjudged: usize,
    /// A file says of single pods whether they have a sidecar. Only noted where a namespace is ambient.
    pub pods_differ: bool,
}

/// Parses and decodes, in parallel on the current rayon pool; the result does not depend on the number of threads.
pub fn load(request: Request<'_>) -> Loaded {
    let mut out = Loaded {
        sources: request.sources,
        ..Loaded::default()
    };
    let (texts, starts) = take_in(&mut out, request.found, request.stdin, request.cwd);
    out.kustomizations = kustomize::collect(&mut out.sources, request.cwd, &texts, starts);
    let patches = out.kustomizations.iter();
    out.changes = patches.flat_map(|it| it.changes.iter().cloned()).collect();
    out.manifests.reserve(texts.len());
    let parsing = Parsing {
        version: request.version,
        namespace: request.namespace,
        as_meant: request.as_meant,
        all: request.parse_all,
    };
    parsing.run(texts, &mut out);
    out.manifests.sort_by_key(|file| file.id);
    out
}

/// So many texts are parsed before what they hold is kept: all of it lying in two places would take memory.
const TOGETHER: usize = 4096;

/// At most so many are parsed one after the other by one pair of hands: then nobody waits long for another at the end.
const SHARE: usize = 64;

/// How the texts of a run are parsed.
struct Parsing {
    version: IstioVersion,
    namespace: Option<Arc<Namespace>>,
    /// Fields that are misspelt are read as what they mean.
    as_meant: bool,
    /// Nothing is held back by its bytes.
    all: bool,
}

impl Parsing {
    /// Parses the texts and keeps what they hold. A text to which nothing will point is forgotten.
    fn run(&self, texts: Vec<Text>, out: &mut Loaded) {
        let referred = out.referred();
        let sidecars = Sidecars::new();
        let mut told = false;
        let mut texts = texts.into_iter().peekable();
        while texts.peek().is_some() {
            let some: Vec<Text> = texts.by_ref().take(TOGETHER).collect();
            let parsed = some.par_iter().with_max_len(SHARE);
            let parsed: Vec<Parsed> = parsed.map(|text| self.text(text, out)).collect();
            for (text, parsed) in some.into_iter().zip(parsed) {
                out.unjudged += parsed.unjudged;
                if parsed.is_empty() && !referred.contains(&text.file) {
                    told = told || sidecars.are_told_of(out.sources.get(text.file));
                    out.sources.forget(text.file);
                } else {
                    out.keep(text, parsed);
                }
            }
        }
        if out.resources().any(|it| it.ambient().is_some()) {
            let mut kept = out.sources.iter();
            out.pods_differ = told || kept.any(|(_, file)| sidecars.are_told_of(file));
        }
    }

    fn text(&self, text: &Text, out: &Loaded) -> Parsed {
        let state = out.kustomizations.state_of_file(&text.place);
        let source = Source {
            file: text.file,
            source: out.sources.get(text.file),
            state: state.or_else(|| state_of_file(&text.place)),
            version: self.version,
            as_meant: self.as_meant,
            whole: self.all || text.ours,
            named: text.named,
        };
        let mut parsed = source.parse();
        let (resources, namespace) = (&mut parsed.resources, self.namespace.as_ref());
        assign_namespaces(resources, &text.place, &out.kustomizations, namespace);
        assign_revisions(resources, &text.place, &out.kustomizations);
        parsed
    }
}

/// Asks texts whether single pods have a sidecar, which is all that pods are read for.
struct Sidecars(memmem::Finder<'static>);

impl Sidecars {
    fn new() -> Self {
        Self(memmem::Finder::new(INJECT))
    }

    fn are_told_of(&self, file: &SourceFile) -> bool {
        self.0.find(file.text.as_bytes()).is_some()
    }
}

impl Loaded {
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.manifests.iter().flat_map(|file| &file.resources)
    }

    /// The kustomizations and their patches: findings may point into these also where they hold no resource.
    fn referred(&self) -> HashSet<FileId> {
        let kustomizations = self.kustomizations.iter().map(|it| it.file);
        let patches = self.changes.iter().map(|change| change.span.file);
        kustomizations.chain(patches).collect()
    }

    fn keep(&mut self, text: Text, mut parsed: Parsed) {
        let Text {
            file, place, ours, ..
        } = text;
        for resource in &parsed.resources {
            self.istio += usize::from(resource.spec.is_istio());
            self.placeholders += resource.placeholders().len();
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
