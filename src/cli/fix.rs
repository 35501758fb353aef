//! `--fix` and `--diff`.

use std::io::Write;
use std::path::Path;

use super::arguments::{Check, Fix};
use super::check::{Judged, judge};
use super::session::{self, Reading};
use super::terminal::{self, Target};
use crate::config::{self, MeshSource};
use crate::diag::Safety;
use crate::fix::{self, Fixed, Seen as _, Texts};
use crate::output::{Format, number, visible};

/// Whether the fixed text of standard input goes to standard output, and the report makes room for it. The reports for
/// programs do so only if they are told where else to go.
pub(super) fn filters(arguments: &Check, judged: &Judged) -> bool {
    let printing = &arguments.printing;
    let gives_way =
        printing.sink.output.is_some() || matches!(printing.format, Format::Text | Format::Concise);
    let fixes = arguments.fix.is_some() && !arguments.diff;
    fixes && judged.session.stdin.is_some() && gives_way
}

/// Fixes the files on the disk; if it `filters`, writes standard input to `out` as it is then. The answer is what is left, and
/// whether a file could not be written.
pub(super) fn apply(
    arguments: &Check,
    judged: Judged,
    filter: bool,
    out: &mut dyn Write,
) -> anyhow::Result<(Judged, bool)> {
    if !filter && judged.session.stdin.is_some() {
        terminal::say(
            "standard input is not fixed: standard output is taken by the report; give that a file with `--output`",
        );
    }
    let mut fixed = converge(arguments, judged, filter)?;
    let extent = extent(&fixed);
    let mut failed = false;
    if let Some(stdin) = &fixed.seen.session.stdin {
        let new = fixed.texts.remove(&stdin.name);
        let text = new.as_ref().or(stdin.text.as_ref());
        if filter {
            out.write_all(text.map_or(&stdin.bytes, |text| text.as_bytes()))?;
        }
    }
    for (path, new) in &fixed.texts {
        let old = fixed.originals.get(path).map_or("", String::as_str);
        match fix::write(Path::new(path), old, new) {
            Ok(0) => {}
            Ok(others) => terminal::say(&format!(
                "note: `{path}` is a hard link: its {} the old text",
                number(others, "other name keeps", "other names keep")
            )),
            Err(error) => {
                terminal::say(&format!("error: `{path}` {error}"));
                failed = true;
            }
        }
    }
    if !failed && !arguments.quiet && fixed.fixes > 0 {
        terminal::say(&format!("fixed {extent}"));
    }
    Ok((fixed.seen, failed))
}

/// Prints what fixing would change.
pub(super) fn show(arguments: &Check, judged: Judged, out: &mut dyn Write) -> anyhow::Result<()> {
    let fixed = converge(arguments, judged, true)?;
    let options = terminal::options(arguments.printing.sink.color, Target::Stdout);
    for (path, new) in &fixed.texts {
        let old = fixed.originals.get(path).map_or("", String::as_str);
        out.write_all(
            fix::diff(path, old, new, options.color, |text| {
                visible(text).into_owned()
            })
            .as_bytes(),
        )?;
    }
    if !arguments.quiet {
        terminal::say(&format!("would fix {}", extent(&fixed)));
    }
    Ok(())
}

/// Applies the fixes to texts in memory; to that of standard input only `with_stdin`.
fn converge(arguments: &Check, judged: Judged, with_stdin: bool) -> anyhow::Result<Fixed<Judged>> {
    let safety = match arguments.fix {
        Some(Fix::Unsafe) => Safety::Unsafe,
        Some(Fix::Safe) | None => Safety::Safe,
    };
    let hindrance = hindrance(&judged);
    if let Some(reason) = hindrance {
        terminal::say(&format!("nothing is fixed: {reason}"));
    }
    let untouched = untouched(&judged, with_stdin);
    let stdin = judged.session.stdin.as_ref();
    let stdin = stdin.and_then(|stdin| Some((stdin.name.clone(), stdin.text.clone()?)));
    let look = |texts: &Texts| {
        let mut texts = texts.clone();
        if let Some((name, text)) = stdin.clone() {
            texts.entry(name).or_insert(text);
        }
        judge(
            arguments,
            session::read(&arguments.inputs, arguments.quiet, Reading::AsMeant, &texts)?,
        )
    };
    let fixed = fix::converge(
        safety,
        judged,
        |path| hindrance.is_some() || untouched.iter().any(|own| own == path),
        look,
    )?;
    for path in &fixed.spoilt {
        terminal::say(&format!(
            "`{path}`: its fixes would break it, so they are left out; please report this"
        ));
    }
    Ok(fixed)
}

/// Why nothing may be fixed: what was found may not be what was asked for.
fn hindrance(judged: &Judged) -> Option<&'static str> {
    let session = &judged.session;
    let own = session.config.file;
    let mut findings = judged.report.diagnostics.iter();
    if findings.any(|it| it.rule == config::RULE && Some(it.span.file) == own) {
        return Some("the configuration has mistakes");
    }
    let stdin = session.stdin.as_ref();
    stdin
        .is_some_and(|stdin| stdin.text.is_none())
        .then_some("standard input cannot be read")
}

/// What is not to be fixed: the configuration, and standard input unless it goes `with_stdin`.
fn untouched(judged: &Judged, with_stdin: bool) -> Vec<String> {
    let config = &judged.session.config;
    let mesh = config.mesh.as_ref().map(MeshSource::file);
    let files = config
        .file
        .into_iter()
        .chain(mesh)
        .map(|file| judged.sources().get(file).path.clone());
    let stdin = judged.session.stdin.iter().filter(|_| !with_stdin);
    files.chain(stdin.map(|stdin| stdin.name.clone())).collect()
}

/// `3 findings in 2 files`.
fn extent(fixed: &Fixed<Judged>) -> String {
    format!(
        "{} in {}",
        number(fixed.fixes, "finding", "findings"),
        number(fixed.texts.len(), "file", "files")
    )
}
