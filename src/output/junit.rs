//! JUnit XML: each file with findings is a suite, each finding a failed test, or a skipped one if it is advice.

use std::io::{self, Write};

use super::format::Options;
use super::link;
use super::visible::{self, visible};
use crate::diag::{Diagnostic, Report, Severity};
use crate::source::{FileId, Sources, Span};

pub(super) fn write(
    report: &Report,
    sources: &Sources,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let findings: Vec<&Diagnostic> = options.listed(report).collect();
    let failures = findings.iter().filter(|finding| fails(finding)).count();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<testsuites name="egress-lint" tests="{}" failures="{failures}">"#,
        findings.len().max(1)
    )?;
    if findings.is_empty() {
        // Readers take a report without tests for a broken one.
        writeln!(
            out,
            r#"  <testsuite name="egress-lint" tests="1" failures="0">"#
        )?;
        writeln!(
            out,
            r#"    <testcase name="no findings" classname="egress-lint"/>"#
        )?;
        writeln!(out, "  </testsuite>")?;
    }
    for suite in findings.chunk_by(|a, b| a.span.file == b.span.file) {
        let Some(first) = suite.first() else { continue };
        write_suite(suite, first.span.file, sources, out)?;
    }
    writeln!(out, "</testsuites>")
}

fn write_suite(
    suite: &[&Diagnostic],
    file: FileId,
    sources: &Sources,
    out: &mut dyn Write,
) -> io::Result<()> {
    let path = escape(&sources.get(file).path);
    let count = suite.len();
    let failures = suite.iter().filter(|finding| fails(finding)).count();
    writeln!(
        out,
        r#"  <testsuite name="{path}" tests="{count}" failures="{failures}">"#
    )?;
    for finding in suite {
        let (line, column) = place(finding.span, sources);
        let rule = escape(finding.rule);
        let level = finding.severity.name();
        let message = escape(&visible::sentence(&finding.message));
        writeln!(
            out,
            r#"    <testcase name="{rule} at line {line}, column {column}" classname="{path}" file="{path}" line="{line}">"#
        )?;
        let verdict = if fails(finding) { "failure" } else { "skipped" };
        writeln!(
            out,
            r#"      <{verdict} type="{level}" message="{message}">"#
        )?;
        write_body(finding, sources, out)?;
        writeln!(out, "      </{verdict}>")?;
        writeln!(out, "    </testcase>")?;
    }
    writeln!(out, "  </testsuite>")
}

/// Advice and what is silenced are shown, and fail nothing.
fn fails(finding: &Diagnostic) -> bool {
    finding.severity > Severity::Advice && finding.extras().suppressed.is_none()
}

fn write_body(finding: &Diagnostic, sources: &Sources, out: &mut dyn Write) -> io::Result<()> {
    let own = std::iter::once((finding.span, &*finding.message));
    let others = finding
        .related
        .iter()
        .map(|label| (label.span, &*label.message));
    for (span, message) in own.chain(others) {
        let (line, column) = place(span, sources);
        let path = escape(&visible::path(&sources.get(span.file).path));
        writeln!(
            out,
            "{path}:{line}:{column}: {}",
            escape(&visible::sentence(message))
        )?;
    }
    if let Some(help) = &finding.help {
        writeln!(out, "help: {}", escape(&visible::sentence(help)))?;
    }
    writeln!(out, "{}", escape(&link::rule_page(finding.rule)))
}

fn place(span: Span, sources: &Sources) -> (u32, u32) {
    let start = sources.start(span);
    (start.line, start.column)
}

/// Text of an attribute or an element, in one line. What XML 1.0 cannot hold at all is replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn nothing_leaves_the_text() {
        assert_eq!(
            escape("]]><a b=\"c\">&\0\x1b\u{ffff}\n한"),
            "]]&gt;&lt;a b=&quot;c&quot;&gt;&amp;\\x00\\x1b\u{fffd}\\n한"
        );
    }
}
