//! `egress-lint check`.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use anyhow::{Context as _, anyhow};

use super::arguments::{Check, Inputs};
use super::exit::Exit;
use super::terminal;
use crate::config::{Config, FailOn, PathGlobs};
use crate::diag::Report;
use crate::engine::{self, FIXED, Levels, Loaded, Request, Settings};
use crate::output::{self, Format};
use crate::source::{FileId, Sources, Span, Spanned, discover, read_stream};
use crate::world::Fallback;

pub(super) fn run(arguments: &Check, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let loaded = load(&arguments.inputs)?;
    for problem in &loaded.problems {
        terminal::say(&format!("error: `{}` {}", problem.shown, problem.error));
    }
    let config = Config::default();
    let levels = Levels::new(
        &config,
        &arguments.rule,
        &arguments.only,
        &engine::known_rules(),
    )?;
    let settings = Settings {
        config: &config,
        levels: &levels,
        closed: arguments.inputs.closed_world,
        fields: matches!(
            arguments.printing.format,
            Format::Json | Format::Sarif | Format::Gitlab
        ),
        istio_version: arguments.inputs.istio_version.unwrap_or_default(),
    };
    let report = engine::check(&loaded, &settings);
    if !arguments.quiet {
        print(arguments, &report, &loaded.sources, out)?;
    }
    let fail_on = arguments.fail_on.unwrap_or(FailOn::Warning);
    Ok(exit(arguments, &loaded, &report, fail_on))
}

/// Finds, reads and decodes the inputs.
pub(super) fn load(inputs: &Inputs) -> anyhow::Result<Loaded> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(inputs.threads)
        .build_global()
        .context("cannot start threads")?;
    let cwd = std::env::current_dir().context("the working directory cannot be found")?;
    let left_out = globs(&inputs.exclude)?;
    let excluded = |shown: &str| left_out.matches(shown);
    let found = discover(&cwd, &inputs.paths, &excluded, inputs.threads);
    let stdin = found.stdin.then(|| {
        let content = read_stream(io::stdin().lock());
        (inputs.stdin_filename.clone(), content)
    });
    Ok(engine::load(Request {
        found,
        stdin,
        sources: Sources::new(),
        cwd: &cwd,
        version: inputs.istio_version.unwrap_or_default(),
        namespace: inputs.namespace.as_deref().map(|name| Fallback {
            name: name.into(),
            because: None,
        }),
        parse_all: inputs.no_prefilter,
    }))
}

/// The globs of `--exclude`, relative to the working directory.
fn globs(texts: &[String]) -> anyhow::Result<PathGlobs> {
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

fn print(
    arguments: &Check,
    report: &Report,
    sources: &Sources,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let printing = &arguments.printing;
    let options = output::Options {
        show_suppressed: arguments.show_suppressed,
        ..terminal::options(printing.color, printing.output.is_some())
    };
    let Some(path) = &printing.output else {
        return Ok(output::write(
            printing.format,
            report,
            sources,
            &options,
            out,
        )?);
    };
    let file = File::create(path).with_context(|| format!("cannot write `{}`", path.display()))?;
    let mut file = BufWriter::new(file);
    output::write(printing.format, report, sources, &options, &mut file)?;
    Ok(file.flush()?)
}

fn exit(arguments: &Check, loaded: &Loaded, report: &Report, fail_on: FailOn) -> Exit {
    let mut counted = report.diagnostics.iter().filter(|d| d.suppressed.is_none());
    if !loaded.problems.is_empty() || counted.clone().any(|d| FIXED.contains(&d.rule)) {
        Exit::Trouble
    } else if counted.any(|finding| fail_on.fails(finding.severity)) {
        Exit::Findings
    } else if loaded.istio == 0 && !arguments.allow_empty {
        nothing(arguments, loaded)
    } else {
        Exit::Clean
    }
}

/// There is no resource of Istio's: nothing to check, or nothing that is whole.
fn nothing(arguments: &Check, loaded: &Loaded) -> Exit {
    let only = match (loaded.templates, loaded.patches) {
        (0, 0) => None,
        (_, 0) => Some("templates"),
        (0, _) => Some("patches"),
        _ => Some("templates and patches"),
    };
    let note = match only {
        Some(parts) => {
            format!("only {parts} of Istio resources in the inputs: nothing whole to check")
        }
        None => "no Istio resource in the inputs".to_owned(),
    };
    if !arguments.quiet {
        terminal::say(&note);
    }
    if only.is_some() {
        Exit::Clean
    } else {
        Exit::Nothing
    }
}
