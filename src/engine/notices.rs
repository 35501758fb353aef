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
    /// What is to be said of these.
    pub(super) fn findings<'n>(
        &self,
        notices: impl Iterator<Item = &'n Notice>,
    ) -> Vec<Diagnostic> {
        let (mut doubled, others): (Vec<_>, Vec<_>) =
            notices.partition(|it| it.kind == NoticeKind::DuplicateKey);
        doubled.sort_unstable_by_key(|it| it.span);
        let mut all: Vec<Diagnostic> = others.iter().filter_map(|it| self.finding(it)).collect();
        let mut doubled = doubled.as_slice();
        // Where the last object of a document begins that had one before it.
        let mut began = None;
        while let Some((notice, rest)) = doubled.split_first() {
            let lost = self.lost(notice, rest, began);
            all.extend(match lost {
                0 => self.finding(notice),
                _ => self.without_separator(notice),
            });
            if lost > 0 {
                began = notice.other;
            }
            doubled = rest.get(lost..).unwrap_or_default();
        }
        all
    }

    /// How many of the notices behind this one are about the object that it begins, where another begins below.
    fn lost(&self, notice: &Notice, rest: &[&Notice], began: Option<Span>) -> usize {
        const BEGINNINGS: [&str; 2] = ["apiVersion", "kind"];
        const CONTENTS: [&str; 2] = ["metadata", "spec"];
        let is_first = began == Some(notice.span) || self.begins(notice.span);
        let Some(next) = notice
            .other
            .filter(|_| is_first && BEGINNINGS.contains(&self.at(notice.span)))
        else {
            return 0;
        };
        // Of these, both keys are in one map: one stands before the other object, one in it.
        let is_about_both = |it: &Notice| {
            it.span.start < next.start && it.other.is_some_and(|other| other.start > next.start)
        };
        let same = rest.iter().take_while(|it| it.span.start < next.start);
        let same: Vec<&&Notice> = same.collect();
        let mut about = same.iter().filter(|it| is_about_both(it));
        match about.any(|it| CONTENTS.contains(&self.at(it.span))) {
            true => same.len(),
            false => 0,
        }
    }

    /// Of an object that is lost, as the `---` behind it is missing.
    fn without_separator(&self, notice: &Notice) -> Option<Diagnostic> {
        let next = notice.other.filter(|_| self.touches(notice.span))?;
        let message = "this object is lost: another begins below without `---`, and of doubled keys only the last ones count";
        let severity = Severity::Warning;
        let finding = Diagnostic::new("duplicate-key", severity, notice.span, message);
        Some(
            finding
                .because(next, "the other begins here")
                .help("put `---` between them"),
        )
    }

    /// Whether an object begins there.
    fn begins(&self, span: Span) -> bool {
        let found = self
            .objects
            .binary_search_by_key(&span.start, |it| it.start);
        found.is_ok()
    }

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
