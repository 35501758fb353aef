//! Findings about the text of manifests: what is read otherwise than it looks, or not by all readers alike.

use super::parse::mentions_istio;
use crate::diag::{Diagnostic, Edit, Fix, Safety, Severity};
use crate::source::Span;
use crate::yaml::{Notice, NoticeKind};

/// The bytes of `---`.
const DASHES: u32 = 3;

/// The part of a file in which something was noticed.
pub(super) struct Noticed<'a> {
    /// The text of the file.
    pub(super) text: &'a str,
    /// Where Istio's objects stand, in the order of the text.
    pub(super) objects: &'a [Span],
    /// The number of the document around a place.
    pub(super) document: &'a dyn Fn(Span) -> usize,
}

impl Noticed<'_> {
    /// The finding that a notice is, if it concerns an object of Istio's.
    pub(super) fn finding(&self, notice: &Notice) -> Option<Diagnostic> {
        let span = notice.span;
        let (rule, severity, concerns) = match notice.kind {
            NoticeKind::DuplicateKey => ("duplicate-key", Severity::Warning, self.touches(span)),
            NoticeKind::OverriddenByMerge => (
                "key-overridden-by-merge",
                Severity::Warning,
                self.touches(span),
            ),
            NoticeKind::HiddenByEnd
            | NoticeKind::HiddenByRoot
            | NoticeKind::HiddenByCarriageReturn => (
                "text-never-read",
                Severity::Warning,
                // The end of a template's block is read before the manifest is.
                (self.shares_document(span) || mentions_istio(self.at(span)))
                    && !self.at(span).contains("{{"),
            ),
            NoticeKind::SeparatorWithComment => (
                "document-lost-by-istioctl",
                Severity::Advice,
                self.shares_document(span),
            ),
            NoticeKind::WithoutSeparator => (
                "document-lost-by-istioctl",
                Severity::Advice,
                self.touches(span),
            ),
        };
        if !concerns {
            return None;
        }
        let message = notice.message(self.at(span));
        let mut finding =
            Diagnostic::new(rule, severity, self.first_line(span), message).help(notice.help());
        if let Some(other) = notice.other {
            finding = finding.because(other, notice.label());
        }
        Some(match self.fix(notice) {
            Some(fix) => finding.fix(fix),
            None => finding,
        })
    }

    fn at(&self, span: Span) -> &str {
        let range = span.start as usize..span.end as usize;
        self.text.get(range).unwrap_or_default()
    }

    /// Of what may be long, the beginning.
    fn first_line(&self, span: Span) -> Span {
        let line = self.at(span).lines().next().unwrap_or_default();
        let length = u32::try_from(line.trim_end().len()).unwrap_or_default();
        Span::new(span.file, span.start, span.start + length)
    }

    /// Whether an object lies there, or the place in an object.
    fn touches(&self, span: Span) -> bool {
        let next = self.objects.partition_point(|it| it.end <= span.start);
        self.objects.get(next).is_some_and(|it| it.start < span.end)
    }

    /// Whether an object stands in the same document.
    fn shares_document(&self, span: Span) -> bool {
        let document = (self.document)(span);
        let next = self
            .objects
            .partition_point(|it| (self.document)(*it) < document);
        let object = self.objects.get(next);
        object.is_some_and(|it| (self.document)(*it) == document)
    }

    /// The comment of a separator goes to the next line.
    fn fix(&self, notice: &Notice) -> Option<Fix> {
        if notice.kind != NoticeKind::SeparatorWithComment {
            return None;
        }
        let span = notice.span;
        let comment = self.at(span).find('#')?;
        let comment = span.start + u32::try_from(comment).ok()?;
        let rest = self.text.get(span.end as usize..)?;
        let line_end = if rest.starts_with('\r') { "\r\n" } else { "\n" };
        Some(Fix {
            safety: Safety::Safe,
            message: "put the comment on the next line".to_owned(),
            edits: vec![Edit {
                span: Span::new(span.file, span.start + DASHES, comment),
                text: line_end.to_owned(),
            }],
        })
    }
}
