//! One finding.

use std::fmt;

use miette::{LabeledSpan, SourceCode};

use super::fix;
use super::snippet::Snippets;
use super::theme::{Paint, Painter};
use super::wrap::{width, wrap};
use crate::diag::{Diagnostic, RefusedBy, Severity, Silencer};
use crate::output::link;
use crate::output::visible::{self, visible};
use crate::source::Sources;

pub(super) fn draw(
    finding: &Diagnostic,
    sources: &Sources,
    painter: &Painter,
    hyperlinks: bool,
    out: &mut String,
) {
    headline(finding, painter, hyperlinks, out);
    snippets(finding, sources, painter, out);
    if let Some(by) = finding.refused_by {
        let by = match by {
            RefusedBy::Schema => "the API server, when it is applied",
            RefusedBy::Webhook => "Istio's webhook, when it is applied",
        };
        note("refused by", by, painter, out);
    }
    if let Some(help) = &finding.help {
        note("help", help, painter, out);
    }
    if let Some(fix) = &finding.extras().fix {
        fix::draw(fix, sources, painter, out);
    }
    if let Some(worlds) = &finding.extras().worlds {
        note("in", &in_words(worlds), painter, out);
    }
    if let Some(suppressed) = &finding.extras().suppressed {
        let by = match suppressed.by {
            Silencer::Comment => "a comment",
            Silencer::Annotation => "an annotation",
            Silencer::Config => "the configuration",
            Silencer::Baseline => "the baseline",
        };
        let why = suppressed
            .reason
            .as_ref()
            .map_or(String::new(), |reason| format!(": {reason}"));
        note("silenced", &format!("by {by}{why}"), painter, out);
    }
}

/// So many worlds are named: a tree may have dozens.
const WORLDS: usize = 4;

fn in_words(worlds: &[String]) -> String {
    let (named, rest) = worlds.split_at(worlds.len().min(WORLDS));
    let noun = match worlds {
        [_] => "world",
        _ => "the worlds",
    };
    let more = match rest.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{noun} `{}`{more}", named.join("`, `"))
}

/// `level[rule]: message`.
fn headline(finding: &Diagnostic, painter: &Painter, hyperlinks: bool, out: &mut String) {
    let level = finding.severity.name();
    let rule = visible(finding.rule);
    let start = width(level) + width(&rule) + 4;
    let message = visible::sentence(&finding.message);
    let lines = wrap(
        &visible(&message),
        painter.width().saturating_sub(start),
        painter.width().saturating_sub(2),
    );
    let tag = format!("{level}[{rule}]");
    if hyperlinks {
        let url = link::rule_page(finding.rule);
        out.push_str("\x1b]8;;");
        out.push_str(&url);
        out.push_str("\x1b\\");
    }
    painter.paint(out, Paint::Level(finding.severity), &tag);
    if hyperlinks {
        out.push_str("\x1b]8;;\x1b\\");
    }
    for (index, line) in lines.iter().enumerate() {
        out.push_str(if index == 0 { ": " } else { "  " });
        painter.paint(out, Paint::Bold, line);
        out.push('\n');
    }
}

/// `  word: text`, wrapped beside the word.
pub(super) fn note(word: &str, text: &str, painter: &Painter, out: &mut String) {
    let indent = width(word) + 4;
    let columns = painter.width().saturating_sub(indent).max(20);
    let text = visible::sentence(text);
    out.push_str("  ");
    painter.paint(out, Paint::Help, word);
    for (index, line) in wrap(&visible(&text), columns, columns).iter().enumerate() {
        match index {
            0 => out.push_str(": "),
            _ => out.extend(std::iter::repeat_n(' ', indent)),
        }
        out.push_str(line);
        out.push('\n');
    }
}

fn snippets(finding: &Diagnostic, sources: &Sources, painter: &Painter, out: &mut String) {
    let drawing = Drawing {
        snippets: Snippets::new(finding, sources, painter.width()),
        severity: finding.severity,
    };
    let labels = &drawing.snippets.labels;
    let primary = labels
        .iter()
        .find(|label| label.primary())
        .map_or(0, LabeledSpan::offset);
    let place = labels
        .iter()
        .filter(|label| label.offset() < primary)
        .count();
    let drawer = painter.drawer(finding.severity, labels.len(), place);
    let mut drawn = String::new();
    if drawer.render_report(&mut drawn, &drawing).is_ok() {
        // The first line is miette's headline, which ours stands for.
        join_frames(drawn.split_once('\n').map_or("", |(_, rest)| rest), out);
    }
    if drawing.snippets.more > 0 {
        note(
            "and",
            &format!("{} more places", drawing.snippets.more),
            painter,
            out,
        );
    }
}

/// Draws the frames of several windows as one: under each other, the end of one and the beginning of the next as a branch.
fn join_frames(drawn: &str, out: &mut String) {
    let top = |line: &str| {
        let frame = line.trim_start();
        frame.starts_with('╭').then(|| line.len() - frame.len())
    };
    let widest = drawn.lines().filter_map(top).max().unwrap_or(0);
    let mut pad = 0;
    let mut open = false;
    let mut lines = drawn.lines().peekable();
    while let Some(line) = lines.next() {
        let top = top(line);
        if let Some(top) = top {
            pad = widest - top;
        }
        if line.trim_start() == "╰────" && lines.peek().is_some() {
            open = true;
            continue;
        }
        out.extend(std::iter::repeat_n(' ', pad));
        match top.filter(|_| open) {
            Some(_) => out.push_str(&line.replacen('╭', "├", 1)),
            None => out.push_str(line),
        }
        out.push('\n');
    }
}

/// The part of a finding that miette draws.
struct Drawing {
    snippets: Snippets,
    severity: Severity,
}

impl fmt::Debug for Drawing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Drawing")
    }
}

impl fmt::Display for Drawing {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for Drawing {}

impl miette::Diagnostic for Drawing {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Advice => miette::Severity::Advice,
        })
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.snippets)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.snippets.labels.iter().cloned()))
    }
}
