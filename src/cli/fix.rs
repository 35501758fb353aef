//! `--fix` and `--diff`.

use std::io::Write;
use std::path::Path;

use super::arguments::{Check, Fix};
use super::check::{Judged, judge};
use super::{session, terminal};
use crate::config::MeshSource;
use crate::diag::Safety;
use crate::fix::{self, Fixed, Seen as _, Texts};
use crate::output::visible;
use crate::source::Sources;

/// Fixes the files on the disk. The answer is what is left, and whether a file could not be written.
pub(super) fn apply(arguments: &Check, judged: Judged) -> anyhow::Result<(Judged, bool)> {
    let fixed = converge(arguments, judged)?;
    let mut failed = false;
    for (path, new) in &fixed.texts {
        let old = fixed.originals.get(path).map_or("", String::as_str);
        if let Err(error) = fix::write(Path::new(path), old, new) {
            terminal::say(&format!("error: `{path}` {error}"));
            failed = true;
        }
    }
    if !failed && !arguments.quiet && fixed.fixes > 0 {
        terminal::say(&format!("fixed {}", extent(&fixed)));
    }
    Ok((fixed.seen, failed))
}

/// Prints what fixing would change.
pub(super) fn show(arguments: &Check, judged: Judged, out: &mut dyn Write) -> anyhow::Result<()> {
    let fixed = converge(arguments, judged)?;
    let options = terminal::options(arguments.printing.color, false);
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

fn converge(arguments: &Check, judged: Judged) -> anyhow::Result<Fixed<Judged>> {
    let safety = match arguments.fix {
        Some(Fix::Unsafe) => Safety::Unsafe,
        Some(Fix::Safe) | None => Safety::Safe,
    };
    let untouched = untouched(arguments, &judged);
    // Standard input can be read only once.
    let read =
        |name: &String| text(judged.sources(), name).map(|text| (name.clone(), text.to_owned()));
    let stdin = read(&arguments.inputs.stdin_filename);
    let look = |texts: &Texts| {
        let mut texts = texts.clone();
        texts.extend(stdin.clone());
        judge(
            arguments,
            session::read(&arguments.inputs, arguments.quiet, &texts)?,
        )
    };
    let fixed = fix::converge(
        safety,
        judged,
        |path| untouched.iter().any(|own| own == path),
        look,
    )?;
    for path in &fixed.spoilt {
        terminal::say(&format!(
            "`{path}`: its fixes would break it, so they are left out; please report this"
        ));
    }
    Ok(fixed)
}

/// Files that are no manifests on the disk: standard input, the configuration.
fn untouched(arguments: &Check, judged: &Judged) -> Vec<String> {
    let config = &judged.session.config;
    let mesh = config.mesh.as_ref().map(MeshSource::file);
    let files = config
        .file
        .into_iter()
        .chain(mesh)
        .map(|file| judged.sources().get(file).path.clone());
    files
        .chain([arguments.inputs.stdin_filename.clone()])
        .collect()
}

fn text<'s>(sources: &'s Sources, path: &str) -> Option<&'s str> {
    sources
        .iter()
        .find(|(_, file)| file.path == path)
        .map(|(_, file)| file.text.as_str())
}

/// `3 findings in 2 files`.
fn extent(fixed: &Fixed<Judged>) -> String {
    let number =
        |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    format!(
        "{} in {}",
        number(fixed.fixes, "finding"),
        number(fixed.texts.len(), "file")
    )
}
