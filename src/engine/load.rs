//! From paths to resources: each file is read once, parsed, decoded, and its tree dropped.

use rayon::prelude::*;

use super::parse::{Parsed, parse, syntax};
use crate::diag::Diagnostic;
use crate::source::{Content, Input, Problem, ReadError, SourceFile, Sources, Span, read};

/// Everything the files of a run hold.
#[derive(Debug, Default)]
pub struct Loaded {
    pub sources: Sources,
    /// About texts and single resources, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// How many files were looked at.
    pub files: usize,
    pub resources: usize,
    pub templates: usize,
    pub placeholders: usize,
    pub patches: usize,
}

/// Reads and decodes `inputs`, in parallel on the current rayon pool; the result does not depend on the number of threads.
/// `stdin` is the content of standard input and the name to show for it. With `all`, no file is passed over unparsed.
pub fn load(
    inputs: &[Input],
    stdin: Option<(String, Result<Content, ReadError>)>,
    all: bool,
) -> Loaded {
    let mut out = Loaded {
        files: inputs.len() + usize::from(stdin.is_some()),
        ..Loaded::default()
    };
    let contents: Vec<Result<Content, ReadError>> = inputs
        .par_iter()
        .map_init(Vec::new, |buffer, input| read(input, buffer, all))
        .collect();
    let mut broken = Vec::new();
    let mut whole = Vec::new();
    let named = inputs.iter().map(|input| input.shown.clone()).zip(contents);
    for (shown, content) in named.chain(stdin) {
        match content {
            Ok(Content::Nothing) => {}
            Ok(Content::Text(text)) => whole.push(out.sources.add(SourceFile::new(shown, text))),
            Ok(Content::NotUtf8 { text, at, len }) => {
                let file = out.sources.add(SourceFile::new(shown, text));
                let span = Span::new(file, at, at + len);
                broken.push(syntax(span, "the file is not UTF-8").help(
                    "save it as UTF-8: what stands here is read differently by each tool, or not at all",
                ));
            }
            Ok(Content::Wide { text }) => {
                let file = out.sources.add(SourceFile::new(shown, text));
                let span = Span::new(file, 0, 0);
                broken.push(
                    syntax(span, "the file is UTF-16 or UTF-32, not UTF-8")
                        .help("save it as UTF-8: `kubectl` reads UTF-16, `istioctl` refuses it"),
                );
            }
            Err(error) => out.problems.push(Problem { shown, error }),
        }
    }
    let parsed: Vec<Parsed> = whole
        .par_iter()
        .map(|&file| parse(file, out.sources.get(file)))
        .collect();
    out.diagnostics.extend(broken);
    for file in parsed {
        out.diagnostics.extend(file.diagnostics);
    }
    out
}
