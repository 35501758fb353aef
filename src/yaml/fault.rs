//! What is wrong with a text, and what is only surprising about it.

use std::borrow::Cow;

use crate::diag::{Edit, Fix, Safety};
use crate::source::Span;

/// Why Kubernetes refuses a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub span: Span,
    /// *What*: lower case, no full stop.
    pub message: String,
    /// *What to do*, imperative.
    pub help: Option<Cow<'static, str>>,
    /// Other places that made it so.
    pub because: Vec<(Span, Cow<'static, str>)>,
    pub fix: Option<Box<Fix>>,
}

impl SyntaxError {
    pub(super) fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: None,
            because: Vec::new(),
            fix: None,
        }
    }

    pub(super) fn help(self, help: impl Into<Cow<'static, str>>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }

    pub(super) fn because(mut self, span: Span, message: impl Into<Cow<'static, str>>) -> Self {
        self.because.push((span, message.into()));
        self
    }

    /// Offers to put what stands at the span into double quotes.
    pub(super) fn quote(self) -> Self {
        let at = |offset| Edit {
            span: Span::new(self.span.file, offset, offset),
            text: "\"".to_owned(),
        };
        let edits = vec![at(self.span.start), at(self.span.end)];
        Self {
            fix: Some(Box::new(Fix {
                safety: Safety::Safe,
                message: "put it in quotes".to_owned(),
                edits,
            })),
            ..self
        }
    }
}

/// The bytes of the longest key that a message repeats.
const LONGEST_KEY: usize = 60;

/// A text that is read otherwise than it looks, or not by all readers alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub kind: NoticeKind,
    pub span: Span,
    /// The other place that matters: the key that wins.
    pub other: Option<Span>,
}

impl Notice {
    /// *What*, about [`Notice::span`], at which `text` stands.
    pub fn message(&self, text: &str) -> String {
        let key = || match text.len() {
            0..=LONGEST_KEY => format!("`{text}`"),
            _ => "this key".to_owned(),
        };
        match self.kind {
            NoticeKind::HiddenByEnd => "what stands behind `...` is never read".to_owned(),
            NoticeKind::HiddenByRoot => {
                "what stands behind the end of the document is never read".to_owned()
            }
            NoticeKind::HiddenByCarriageReturn => {
                "`kubectl` never reads this: it sees no `---` where lines end with CR alone"
                    .to_owned()
            }
            NoticeKind::SeparatorWithComment => {
                "`istioctl analyze` takes `---` with a comment for no separator, and loses the document below"
                    .to_owned()
            }
            NoticeKind::DuplicateKey => format!(
                "{} is written again in the same map: only the last one counts, this one is lost",
                key()
            ),
            NoticeKind::OverriddenByMerge => format!(
                "the merge below overrides {}: what is written here is lost",
                key()
            ),
            NoticeKind::WithoutSeparator => {
                "`istioctl validate` reads only the first of several objects without `---` between them"
                    .to_owned()
            }
        }
    }

    /// *Because*, about [`Notice::other`].
    pub fn label(&self) -> &'static str {
        match self.kind {
            NoticeKind::OverriddenByMerge => "a merge overrides the keys before it",
            _ => "this one counts",
        }
    }

    /// *What to do*, imperative.
    pub fn help(&self) -> &'static str {
        match self.kind {
            NoticeKind::HiddenByEnd => "write `---` in place of `...`, or remove the text",
            NoticeKind::HiddenByRoot => {
                "put `---` before it, or indent it as the document above is indented"
            }
            NoticeKind::HiddenByCarriageReturn => "end the lines with LF",
            NoticeKind::SeparatorWithComment => "put the comment on the next line",
            NoticeKind::DuplicateKey => "remove one of them",
            NoticeKind::OverriddenByMerge => "write `<<` first",
            NoticeKind::WithoutSeparator => "put `---` between them",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoticeKind {
    /// Text behind an end marker (`...`) is never read.
    HiddenByEnd,
    /// Text behind a document that is one scalar or one pair of brackets is never read.
    HiddenByRoot,
    /// In a text whose lines end with CR alone, `kubectl` sees no separator: all but the first document is never read.
    HiddenByCarriageReturn,
    /// `--- # comment`: `kubectl` cuts here, `istioctl analyze` does not and loses the next document.
    SeparatorWithComment,
    /// A key that is written again below: `kubectl` takes the last, `istioctl validate` refuses the file.
    DuplicateKey,
    /// A key that a merge below it overrides.
    OverriddenByMerge,
    /// Objects without a separator between them: `kubectl` reads all, `istioctl` only the first.
    WithoutSeparator,
}
