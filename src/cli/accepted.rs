//! `--baseline` and `--write-baseline`.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};

use super::arguments::Check;
use super::check::Judged;
use super::session::{Session, told};
use super::terminal;
use crate::baseline::{self, Baseline, Entry, Fate};
use crate::config::{self, Config, Place};
use crate::diag::{Diagnostic, Severity};
use crate::engine::{Levels, known_rules};
use crate::fix::{self, WriteError};
use crate::output::{Format, number};

/// The baseline of a run. One with mistakes is none, and they join the findings.
pub(super) fn read(arguments: &Check, session: &mut Session) -> anyhow::Result<Option<Baseline>> {
    let Some(path) = file(arguments, &session.config) else {
        if arguments.write_baseline {
            bail!("name the file: with --baseline FILE, or `baseline:` in the configuration");
        }
        return Ok(None);
    };
    let cwd = std::env::current_dir().context("the working directory cannot be found")?;
    let loaded = &mut session.loaded;
    let read = baseline::load(&cwd, &path, arguments.write_baseline, &mut loaded.sources);
    let mut read = match (read, &session.config.baseline) {
        (Ok(read), _) => read,
        (Err(problem), Some(named)) if arguments.baseline.is_none() => {
            loaded.diagnostics.push(
                Diagnostic::new(config::RULE, Severity::Error, named.span, told(&problem))
                    .help("write it with `--write-baseline`"),
            );
            return Ok(None);
        }
        (Err(problem), _) => return Err(anyhow!(told(&problem))),
    };
    let sound = read.diagnostics.is_empty();
    loaded.diagnostics.append(&mut read.diagnostics);
    Ok(sound.then_some(read.baseline))
}

/// The file of the baseline; the command line wins over the configuration.
fn file(arguments: &Check, config: &Config) -> Option<PathBuf> {
    let configured = config.baseline.as_ref();
    let configured = configured.map(|named| config.place.resolve(&named.value));
    arguments.baseline.clone().or(configured)
}

/// Silences what was there before.
pub(super) fn apply(arguments: &Check, baseline: &Baseline, judged: &mut Judged) {
    let run = Run::new(arguments, baseline.place(), &judged.session, &judged.levels);
    let sources = &judged.session.loaded.sources;
    baseline.apply(&mut judged.report, sources, &|entry| run.fate(entry));
}

/// With `--write-baseline`, accepts what is left.
pub(super) fn write(arguments: &Check, judged: &mut Judged) -> anyhow::Result<()> {
    let path = file(arguments, &judged.session.config);
    let Some(path) = path.filter(|_| arguments.write_baseline) else {
        return Ok(());
    };
    let Some(old) = judged.baseline.take() else {
        terminal::say(&format!("`{}` is left as it is", path.display()));
        return Ok(());
    };
    let run = Run::new(arguments, old.place(), &judged.session, &judged.levels);
    let sources = &judged.session.loaded.sources;
    let new = old.renewed(&judged.report, sources, &|entry| run.fate(entry));
    replace(&path, &new.render()?)?;
    if !arguments.quiet {
        let count = number(new.len(), "finding", "findings");
        terminal::say(&format!("`{}` accepts {count}", path.display()));
    }
    apply(arguments, &new, judged);
    Ok(())
}

/// Says how many accepted findings are gone, where the format has no place for it.
pub(super) fn remind(arguments: &Check, judged: &Judged) {
    let stale = judged.report.summary.baseline.map_or(0, |it| it.stale);
    if stale > 0 && !matches!(arguments.printing.format, Format::Text | Format::Json) {
        let are = number(
            stale,
            "finding of the baseline is",
            "findings of the baseline are",
        );
        terminal::say(&format!(
            "{are} gone; `--write-baseline` strikes out what is"
        ));
    }
}

fn replace(path: &Path, new: &str) -> anyhow::Result<()> {
    let done = match fs::read_to_string(path) {
        Ok(old) if old == new => Ok(()),
        Ok(old) => fix::write(path, &old, new).map(|_| ()),
        Err(_) => fs::write(path, new).map_err(WriteError::Io),
    };
    done.map_err(|error| anyhow!("`{}` {error}", path.display()))
}

/// What can be told of findings that did not come up.
struct Run<'a> {
    arguments: &'a Check,
    place: &'a Place,
    /// The rules that are on.
    rules: HashSet<&'static str>,
    /// Files of which a part could not be read.
    broken: HashSet<String>,
    /// The objects that there are, by file.
    objects: HashSet<(String, String)>,
}

impl<'a> Run<'a> {
    fn new(arguments: &'a Check, place: &'a Place, session: &Session, levels: &Levels) -> Self {
        let loaded = &session.loaded;
        let path = |file| place.relative(&loaded.sources.get(file).path).into_owned();
        let rules = known_rules();
        let on = rules.iter().filter(|rule| levels.level(rule).is_some());
        let broken = loaded.manifests.iter().filter(|file| file.broken);
        let objects = loaded.resources().map(|object| {
            let name = Entry::resource(&object.reference());
            (path(object.span.file), name)
        });
        Self {
            arguments,
            place,
            rules: on.map(|rule| rule.name).collect(),
            broken: broken.map(|file| path(file.id)).collect(),
            objects: objects.collect(),
        }
    }

    fn fate(&self, entry: &Entry) -> Fate {
        let asked = self.rules.contains(entry.rule.as_str()) && self.arguments.world.is_none();
        if !asked || self.broken.contains(&entry.path) {
            return Fate::Unknown;
        }
        let here = self.looked_at(&entry.path);
        if let Some(object) = entry.resource.as_ref().filter(|_| here) {
            let object = (entry.path.clone(), object.clone());
            return match self.objects.contains(&object) {
                true => Fate::Gone,
                false => Fate::Moved,
            };
        }
        match self.place.resolve(&entry.path).try_exists() {
            Ok(false) => Fate::Moved,
            _ if here => Fate::Gone,
            _ => Fate::Unknown,
        }
    }

    /// Whether the file belongs to what the command line names, even if it is not there any more.
    fn looked_at(&self, path: &str) -> bool {
        let inputs = &self.arguments.inputs;
        inputs.paths.iter().any(|input| {
            let shown = match input.as_os_str() == "-" {
                true => inputs.stdin_filename.as_str().into(),
                false => input.to_string_lossy(),
            };
            self.place.lies_below(path, &shown)
        })
    }
}
