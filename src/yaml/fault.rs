//! What is wrong with a text, and what is only surprising about it.

use crate::diag::{Edit, Fix, Safety};
use crate::source::Span;

/// Why Kubernetes refuses a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub span: Span,
    /// *What*: lower case, no full stop.
    pub message: String,
    /// *What to do*, imperative.
    pub help: Option<String>,
    pub fix: Option<Fix>,
}

impl SyntaxError {
    pub(super) fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: None,
            fix: None,
        }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }

    /// Offers to put what stands at the span into double quotes.
    pub(super) fn quote(self) -> Self {
        let at = |offset| Edit {
            span: Span::new(self.span.file, offset, offset),
            text: "\"".to_owned(),
        };
        let edits = vec![at(self.span.start), at(self.span.end)];
        Self {
            fix: Some(Fix {
                safety: Safety::Safe,
                message: "put it in quotes".to_owned(),
                edits,
            }),
            ..self
        }
    }
}

/// A text that is read otherwise than it looks, or not by all readers alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub kind: NoticeKind,
    pub span: Span,
    /// The other place that matters: the key that wins.
    pub other: Option<Span>,
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
