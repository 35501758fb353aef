//! One line per finding: `path:line:col: level [rule] message`.

use std::io::{self, Write};

use super::format::Options;
use super::visible::{self, visible};
use crate::diag::Report;
use crate::source::Sources;

pub(super) fn write(
    report: &Report,
    sources: &Sources,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    for finding in options.listed(report) {
        let start = sources.start(finding.span);
        writeln!(
            out,
            "{}:{}:{}: {} [{}] {}",
            visible::path(&sources.get(finding.span.file).path),
            start.line,
            start.column,
            finding.severity.name(),
            visible(finding.rule),
            visible(&visible::sentence(&finding.message)),
        )?;
    }
    Ok(())
}
