//! From the text of one file to what it holds.

use rayon::prelude::*;

use crate::diag::{Diagnostic, Severity};
use crate::source::{FileId, SourceFile, Span};
use crate::yaml::{Chunk, SyntaxError, Tree, split};

/// What one file holds; its trees are gone.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Documents of a large file are read in parallel, so many bytes at a time.
const BATCH: usize = 128 * 1024;

/// Reads a file, its documents in parallel when there is much of it.
pub(super) fn parse(file: FileId, source: &SourceFile) -> Parsed {
    let text = source.text.as_str();
    let chunks = split(file, text);
    if text.len() <= BATCH {
        return batch(file, text, &chunks);
    }
    let bytes = text.len() / chunks.len().max(1) + 1;
    let parts: Vec<Parsed> = chunks
        .par_chunks(BATCH / bytes + 1)
        .map(|chunks| batch(file, text, chunks))
        .collect();
    parts.into_iter().fold(Parsed::default(), Parsed::and)
}

fn batch(file: FileId, text: &str, chunks: &[Chunk]) -> Parsed {
    let mut out = Parsed::default();
    for chunk in chunks {
        let tree = Tree::parse_chunks(file, text, std::slice::from_ref(chunk));
        out.diagnostics
            .extend(tree.errors().iter().map(syntax_error));
    }
    out
}

impl Parsed {
    /// Both, in their order.
    fn and(mut self, mut later: Self) -> Self {
        self.diagnostics.append(&mut later.diagnostics);
        self
    }
}

fn syntax_error(error: &SyntaxError) -> Diagnostic {
    let mut finding = syntax(error.span, error.message.as_str());
    finding.help.clone_from(&error.help);
    finding.fix.clone_from(&error.fix);
    finding
}

/// A finding that the text is not what Kubernetes reads as YAML.
pub(super) fn syntax(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new("yaml-syntax", Severity::Error, span, message)
}
