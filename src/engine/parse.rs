//! From the text of one file to what it holds.

use std::collections::HashSet;

use memchr::memmem;
use rayon::prelude::*;

use super::notices::Noticed;
use crate::diag::{Diagnostic, Severity};
use crate::istio::{self, IstioVersion, Resource};
use crate::manifest::{Change, Kinds, State, classify, is_foreign, is_whole};
use crate::source::{FileId, SourceFile, Span, matters};
use crate::suppress::{Comments, read_comments};
use crate::world::{FoundMesh, find_mesh};
use crate::yaml::{Chunk, Node, SyntaxError, Tree, split};

/// What one file holds; its trees are gone.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) resources: Vec<Resource>,
    pub(super) meshes: Vec<FoundMesh>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The syntax errors of documents that nobody here reads. They matter if the file also holds what is read: `kubectl`
    /// stops at them.
    foreign: Vec<Diagnostic>,
    /// What its templates would make.
    pub(super) kinds: Kinds,
    /// A part of it could not be read.
    pub(super) broken: bool,
    /// The silencers among its comments.
    pub(super) comments: Comments,
    pub(super) templates: usize,
    pub(super) patches: usize,
    /// How many objects are of Istio's kinds of which nothing is said.
    pub(super) unjudged: usize,
    /// What they change.
    pub(super) changes: Vec<Change>,
}

/// A file to parse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) file: FileId,
    pub(super) source: &'a SourceFile,
    /// What its name or a kustomization says that its documents are.
    pub(super) state: Option<State>,
    pub(super) version: IstioVersion,
    /// Fields that are misspelt are read as what they mean.
    pub(super) as_meant: bool,
    /// Every document is looked at, not only those that may matter.
    pub(super) whole: bool,
    /// The user named the file: what cannot be read in it counts, whatever it is.
    pub(super) named: bool,
}

/// Documents of a large file are read in parallel, so many bytes at a time.
const BATCH: usize = 128 * 1024;

impl Source<'_> {
    /// Reads the file, its documents in parallel when there is much of it.
    pub(super) fn parse(self) -> Parsed {
        let text = self.source.text.as_str();
        let mut chunks = split(text);
        if !self.whole {
            chunks.retain(|chunk| matters(chunk.text(text).as_bytes()));
        }
        if text.len() <= BATCH {
            return self.batch(&chunks).with_foreign_errors();
        }
        let bytes = text.len() / chunks.len().max(1) + 1;
        let parts: Vec<Parsed> = chunks
            .par_chunks(BATCH / bytes + 1)
            .map(|chunks| self.batch(chunks))
            .collect();
        let mut all = Parsed::default();
        let size = |of: fn(&Parsed) -> usize| parts.iter().map(of).sum();
        all.resources.reserve_exact(size(|it| it.resources.len()));
        all.diagnostics
            .reserve_exact(size(|it| it.diagnostics.len()));
        parts
            .into_iter()
            .fold(all, Parsed::and)
            .with_foreign_errors()
    }

    fn batch(self, chunks: &[Chunk]) -> Parsed {
        let mut out = Parsed::default();
        let whole = self.source.text.as_str();
        let tree = Tree::parse_chunks(self.file, whole, chunks);
        let chunk_at = |span: Span| chunks.partition_point(|chunk| chunk.end() <= span.start);
        let text_at = |at: usize| chunks.get(at).map_or("", |chunk| chunk.text(whole));
        // The chunks about which not all can be said.
        let mut parts: HashSet<usize> = tree
            .errors()
            .iter()
            .map(|error| chunk_at(error.span))
            .collect();
        let mut reader = istio::Reader::new(self.version, self.as_meant);
        for document in tree.documents(whole) {
            let at = chunk_at(document.span);
            if !self.document(text_at(at), document.root, &mut reader, &mut out) {
                parts.insert(at);
            }
        }
        // Most files hold one, in room for four.
        out.resources.shrink_to_fit();
        let istio = out.resources.iter().filter(|it| it.spec.is_istio());
        let mut objects: Vec<Span> = istio.map(|it| it.span).collect();
        objects.sort_unstable();
        let noticed = Noticed {
            text: whole,
            objects: &objects,
            document: &chunk_at,
        };
        let notices = tree.notices().iter();
        let notices = notices.filter(|notice| !parts.contains(&chunk_at(notice.span)));
        out.diagnostics.extend(noticed.findings(notices));
        out.comments = read_comments(tree.comments(), self.source, |span| {
            !parts.contains(&chunk_at(span))
        });
        for errors in tree
            .errors()
            .chunk_by(|a, b| chunk_at(a.span) == chunk_at(b.span))
        {
            let text = errors
                .first()
                .map_or("", |error| text_at(chunk_at(error.span)));
            if classify(text, None) == State::Template {
                out.template(text);
            } else if !self.named && is_foreign(text) {
                out.foreign.extend(errors.iter().map(syntax_error));
            } else {
                out.broken = true;
                out.diagnostics.extend(errors.iter().map(syntax_error));
            }
        }
        out
    }

    /// Takes in a document; `false` if it is a part of something, about which not all can be said.
    fn document(
        self,
        text: &str,
        root: Node<'_>,
        reader: &mut istio::Reader,
        out: &mut Parsed,
    ) -> bool {
        let state = match (classify(text, Some(root)), self.state) {
            (State::Resource, Some(State::Fragment)) if is_whole(&self.source.path, root) => {
                State::Resource
            }
            (State::Resource, Some(state)) => state,
            (state, _) => state,
        };
        if matches!(state, State::Resource | State::Other)
            && let Some(mut mesh) = find_mesh(root)
        {
            out.diagnostics.append(&mut mesh.diagnostics);
            out.meshes.push(mesh);
        }
        match state {
            State::Resource => {
                let mut decoded = reader.read(root);
                if out.resources.is_empty() {
                    // A list may hold so many that they should not stand here twice.
                    out.resources = decoded.resources;
                } else {
                    out.resources.append(&mut decoded.resources);
                }
                out.diagnostics.append(&mut decoded.diagnostics);
                out.unjudged += decoded.unjudged;
            }
            State::Template => out.template(text),
            State::Patch | State::Fragment => {
                out.patches += usize::from(mentions_istio(text));
                if state == State::Patch && (mentions_istio(text) || is_service(root)) {
                    out.changes.append(&mut Change::of_patch(root, None));
                }
                out.diagnostics
                    .extend(istio::check_patch(root, self.version));
            }
            State::Other => {}
        }
        matches!(state, State::Resource | State::Other)
    }
}

/// Whether it is for a Kubernetes Service, from which a rule may conclude.
fn is_service(root: Node<'_>) -> bool {
    let kind = root.get("kind");
    kind.is_some_and(|it| it.value.as_str().as_deref() == Some("Service"))
}

/// Whether the text is about Istio: what is only let pass for its Services is others' to judge.
pub(super) fn mentions_istio(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"istio.io").is_some()
}

impl Parsed {
    /// Whether nothing in the text will be pointed at.
    pub(super) fn is_empty(&self) -> bool {
        self.resources.is_empty()
            && self.meshes.is_empty()
            && self.diagnostics.is_empty()
            && self.kinds.is_empty()
            && self.comments.is_empty()
            && !self.broken
            && self.patches == 0
            && self.changes.is_empty()
    }

    fn template(&mut self, text: &str) {
        self.kinds.extend(&Kinds::of_template(text));
        self.templates += usize::from(mentions_istio(text));
    }

    /// Reports the errors of foreign documents where they keep what is read from the cluster.
    fn with_foreign_errors(mut self) -> Self {
        let mut foreign = std::mem::take(&mut self.foreign);
        let holds_istio = self.resources.iter().any(|it| it.spec.is_of_mesh());
        if holds_istio
            || !self.meshes.is_empty()
            || self.broken
            || self.templates + self.patches > 0
        {
            self.broken |= !foreign.is_empty();
            self.diagnostics.append(&mut foreign);
        }
        self
    }

    /// Both, in their order.
    fn and(mut self, mut later: Self) -> Self {
        self.resources.append(&mut later.resources);
        self.meshes.append(&mut later.meshes);
        self.diagnostics.append(&mut later.diagnostics);
        self.foreign.append(&mut later.foreign);
        self.comments = self.comments.and(later.comments);
        self.kinds.extend(&later.kinds);
        self.broken |= later.broken;
        self.templates += later.templates;
        self.patches += later.patches;
        self.unjudged += later.unjudged;
        self.changes.append(&mut later.changes);
        self
    }
}

fn syntax_error(error: &SyntaxError) -> Diagnostic {
    let mut finding = syntax(error.span, error.message.as_str());
    finding.help.clone_from(&error.help);
    finding = finding.fix(error.fix.as_deref().cloned());
    for (span, message) in &error.because {
        finding = finding.because(*span, message.clone());
    }
    finding
}

/// A finding that the text is not what Kubernetes reads as YAML.
pub(super) fn syntax(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new("yaml-syntax", Severity::Error, span, message)
}
