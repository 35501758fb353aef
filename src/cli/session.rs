//! What every command that looks at manifests does first: find the configuration, read the files.

use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};

use super::arguments::Inputs;
use super::terminal::{self, Progress};
use crate::config::{self, Choice, Config, PathGlobs};
use crate::engine::{self, Loaded, Request};
use crate::fix::Texts;
use crate::istio::{IstioVersion, Namespace};
use crate::source::{
    self, Content, FileId, Problem, ReadError, Search, Sources, Span, Spanned, read_stream,
    shown_path,
};
use crate::world::World;

/// The configuration and the files of a run; what the command line says wins over the configuration.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) config: Config,
    pub(super) version: IstioVersion,
    pub(super) closed: bool,
    /// Unless it was not asked for.
    pub(super) stdin: Option<Stdin>,
    pub(super) loaded: Loaded,
}

/// Standard input, which can be read only once.
#[derive(Debug)]
pub(super) struct Stdin {
    /// As its findings name it.
    pub(super) name: String,
    /// `None`: it is no text, or could not be read.
    pub(super) text: Option<String>,
    /// All of it, where it is no text.
    pub(super) bytes: Vec<u8>,
}

impl Stdin {
    /// Reads it, unless there is a text of its name. Back come what is kept of it, and what is to be loaded.
    fn read(name: &str, texts: &Texts) -> (Self, (String, Result<Content, ReadError>)) {
        let read = match texts.get(name) {
            Some(text) => Ok((Content::Text(text.clone()), Vec::new())),
            None => read_stream(io::stdin().lock()),
        };
        let (content, bytes) = match read {
            Ok((content, bytes)) => (Ok(content), bytes),
            Err(error) => (Err(error), Vec::new()),
        };
        let kept = Self {
            name: name.to_owned(),
            text: match &content {
                Ok(Content::Text(text)) => Some(text.clone()),
                _ => None,
            },
            bytes,
        };
        (kept, (name.to_owned(), content))
    }
}

/// What becomes of fields that are misspelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// They are read as what they mean: one mistake is told once.
    AsMeant,
    /// They are not there.
    AsInTheCluster,
}

/// Reads what the command line names; if `quiet`, without a sign of life. What cannot be read is said on standard error, and
/// the rest goes on.
pub(super) fn open(inputs: &Inputs, quiet: bool, reading: Reading) -> anyhow::Result<Session> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(inputs.threads)
        .build_global()
        .context("cannot start threads")?;
    let session = read(inputs, quiet, reading, &Texts::new())?;
    for problem in &session.loaded.problems {
        terminal::say(&format!("error: {}", told(problem)));
    }
    Ok(session)
}

/// Reads it all, with `texts` in place of those of the disk.
pub(super) fn read(
    inputs: &Inputs,
    quiet: bool,
    reading: Reading,
    texts: &Texts,
) -> anyhow::Result<Session> {
    let cwd = std::env::current_dir().context("the working directory cannot be found")?;
    let mut sources = Sources::new();
    let configured = config::load(&choice(inputs), &cwd, &mut sources)
        .map_err(|problem| anyhow!(told(&problem)))?;
    let config = configured.config;
    let mut diagnostics = configured.diagnostics;
    let version = inputs
        .istio_version
        .unwrap_or_else(|| engine::istio_version(&config, &mut diagnostics));
    let left_out = left_out(&inputs.exclude)?;
    let excluded = |shown: &str| left_out.matches(shown) || config.is_excluded(shown);
    let progress = Progress::new("reading files", quiet);
    let search = Search {
        cwd: &cwd,
        excluded: &excluded,
        read: &|input, buffer| {
            progress.add(1);
            match texts.get(&input.shown) {
                Some(text) => Ok(Content::Text(text.clone())),
                None => source::read(input, buffer, inputs.no_prefilter),
            }
        },
        others: !config.worlds.is_empty(),
        threads: inputs.threads,
    };
    let mut found = search.run(&inputs.paths);
    let stdin_name = found
        .stdin
        .then(|| shown_path(&cwd, Path::new(&inputs.stdin_filename)));
    let stdin_name = stdin_name.as_deref();
    // What comes in stands in place of the file of its name, such as what an editor has not saved yet.
    let read = found.files.len();
    found
        .files
        .retain(|file| Some(file.shown.as_str()) != stdin_name);
    found.count -= read - found.files.len();
    let names = found.files.iter().map(|file| &file.shown);
    let names = names.chain(&found.others).map(String::as_str);
    // With a part left out on the command line, a glob may stand for just that.
    if inputs.exclude.is_empty() {
        let names = names.chain(stdin_name);
        diagnostics.extend(config::unmatched(&config, &found.folders, names));
    }
    let (kept, stdin) = stdin_name.map(|name| Stdin::read(name, texts)).unzip();
    let mut loaded = engine::load(Request {
        found,
        stdin,
        sources,
        cwd: &cwd,
        version,
        namespace: namespace(inputs, &config),
        parse_all: inputs.no_prefilter,
        as_meant: reading == Reading::AsMeant,
    });
    drop(progress);
    loaded.diagnostics.append(&mut diagnostics);
    let closed = config.closed_world.as_ref().is_some_and(|it| it.value);
    Ok(Session {
        stdin: kept,
        version,
        closed: inputs.closed().unwrap_or(closed),
        config,
        loaded,
    })
}

fn choice(inputs: &Inputs) -> Choice {
    match &inputs.config {
        _ if inputs.isolated => Choice::Isolated,
        Some(path) => Choice::File(path.clone()),
        None => Choice::Nearest,
    }
}

pub(super) fn told(problem: &Problem) -> String {
    format!("`{}` {}", problem.shown, problem.error)
}

/// The namespace of manifests that name none.
fn namespace(inputs: &Inputs, config: &Config) -> Option<Arc<Namespace>> {
    let option = inputs.namespace.as_deref().map(|name| (name, None));
    let setting = config.namespace.as_ref();
    let given = option.or_else(|| setting.map(|name| (name.value.as_str(), Some(name.span))));
    given.map(|(name, because)| {
        Arc::new(Namespace {
            name: Some(name.into()),
            because,
        })
    })
}

/// The globs of `--exclude`, relative to the working directory.
fn left_out(texts: &[String]) -> anyhow::Result<PathGlobs> {
    let nowhere = Span::new(FileId(0), 0, 0);
    let mut wrong = None;
    let globs = texts
        .iter()
        .map(|text| Spanned::new(text.clone(), nowhere, nowhere));
    let globs = PathGlobs::new(globs, |glob, reason| {
        wrong.get_or_insert_with(|| anyhow!("`--exclude {}`: {reason}", glob.value));
    });
    wrong.map_or(Ok(globs), Err)
}

/// The world that is asked about.
pub(super) fn choose<'w, 'a>(
    worlds: &'w [World<'a>],
    wanted: Option<&str>,
) -> anyhow::Result<&'w World<'a>> {
    let names = || {
        let names = worlds.iter().filter_map(|world| world.name.as_deref());
        names.collect::<Vec<_>>().join(", ")
    };
    match (worlds, wanted) {
        (_, Some(wanted)) => worlds
            .iter()
            .find(|world| world.name.as_deref() == Some(wanted))
            .with_context(|| match names() {
                none if none.is_empty() => format!(
                    "there is no world `{wanted}`: the files belong to one cluster, which has no name"
                ),
                names => format!("there is no world `{wanted}` but: {names}"),
            }),
        ([world], None) => Ok(world),
        _ => bail!(
            "the files belong to several clusters or revisions; choose one with --world: {}",
            names()
        ),
    }
}
