//! What people read: each finding with the lines that make it so.

mod finding;
mod fix;
mod fold;
mod line;
mod snippet;
mod summary;
mod theme;
pub(in crate::output) mod wrap;

use std::io::{self, Write};

use rayon::prelude::*;

use self::fold::Folds;
use self::theme::Painter;
use super::format::Options;
use super::statistics;
use crate::diag::{Diagnostic, Report};
use crate::source::Sources;

/// Findings that are drawn before any of them is written: enough to keep all processors busy.
const BATCH: usize = 2048;

/// Findings that one processor draws at a time.
const CHUNK: usize = 64;

pub(super) fn write(
    report: &Report,
    sources: &Sources,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let painter = Painter::new(options.color, options.width);
    if options.statistics {
        out.write_all(statistics::table(report).as_bytes())?;
        return out.write_all(summary::draw(report, &painter).as_bytes());
    }
    let mut findings: Vec<&Diagnostic> = options.listed(report).collect();
    let folds = match options.verbose {
        true => Folds::new(),
        false => fold::fold(&mut findings),
    };
    for batch in findings.chunks(BATCH) {
        let drawn: Vec<String> = batch
            .par_chunks(CHUNK)
            .map(|chunk| {
                let mut text = String::new();
                for finding in chunk {
                    finding::draw(finding, sources, &painter, options.hyperlinks, &mut text);
                    text.push('\n');
                }
                text
            })
            .collect();
        for text in drawn {
            out.write_all(text.as_bytes())?;
        }
    }
    out.write_all(fold::draw(&folds, &painter).as_bytes())?;
    out.write_all(summary::draw(report, &painter).as_bytes())
}
