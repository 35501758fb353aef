//! Workflow commands of GitHub Actions, which become annotations of the changed lines.

use std::io::{self, Write};

use super::format::Options;
use super::link;
use super::visible::{self, visible};
use crate::diag::{Report, Severity};
use crate::source::Sources;

pub(super) fn write(
    report: &Report,
    sources: &Sources,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    for finding in options.listed(report) {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Advice => "notice",
        };
        let path = visible(&sources.get(finding.span.file).path);
        let (start, end) = (sources.start(finding.span), sources.end(finding.span));
        write!(
            out,
            "::{command} file={},line={},endLine={}",
            property(&path),
            start.line,
            end.line
        )?;
        if start.line == end.line {
            // GitHub ignores columns of a range over several lines.
            write!(out, ",col={},endColumn={}", start.column, end.column)?;
        }
        // The log shows neither place nor title, so the message repeats them.
        let message = visible::sentence(&finding.message);
        let mut body = format!(
            "{path}:{}:{}: {} [{}]",
            start.line,
            start.column,
            visible(&message),
            finding.rule
        );
        for label in &finding.related {
            let place = sources.start(label.span);
            let path = &sources.get(label.span.file).path;
            let message = visible::sentence(&label.message);
            body.push_str(&format!(
                "\n{}:{}: {}",
                visible(path),
                place.line,
                visible(&message)
            ));
        }
        if let Some(help) = &finding.help {
            body.push_str(&format!("\nhelp: {}", visible(&visible::sentence(help))));
        }
        body.push_str(&format!("\n{}", link::rule_page(finding.rule)));
        writeln!(
            out,
            ",title={}::{}",
            property(&visible(finding.rule)),
            data(&body)
        )?;
    }
    Ok(())
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
