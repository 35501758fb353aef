//! `egress-lint check`.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use anyhow::{Context as _, bail};

use super::arguments::Check;
use super::exit::Exit;
use super::session::{self, Reading, Session};
use super::terminal::{self, Progress, Target};
use super::{accepted, fix};
use crate::baseline::Baseline;
use crate::config::FailOn;
use crate::diag::Report;
use crate::engine::{self, FIXED, Levels, Loaded, Settings};
use crate::fix::Seen;
use crate::output::{self, Format};
use crate::source::Sources;

pub(super) fn run(arguments: &Check, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let format = arguments.printing.format;
    if arguments.statistics && !matches!(format, Format::Text | Format::Json) {
        bail!("`--statistics` is for the formats `text` and `json`");
    }
    let mut judged = judge(
        arguments,
        session::open(&arguments.inputs, arguments.quiet, Reading::AsMeant)?,
    )?;
    let filter = fix::filters(arguments, &judged);
    let mut failed = false;
    if arguments.diff {
        let before = exit(arguments, &judged);
        fix::show(arguments, judged, out)?;
        return Ok(before);
    }
    if arguments.fix.is_some() {
        (judged, failed) = fix::apply(arguments, judged, filter, out)?;
    }
    accepted::write(arguments, &mut judged)?;
    if !arguments.quiet {
        let (report, sources) = (&judged.report, judged.sources());
        match filter {
            true => print(
                arguments,
                report,
                sources,
                Target::Stderr,
                &mut io::stderr().lock(),
            )?,
            false => print(arguments, report, sources, Target::Stdout, out)?,
        }
        accepted::remind(arguments, &judged);
    }
    let exit = exit(arguments, &judged);
    // The end of the process frees it at once, instead of piece by piece.
    std::mem::forget(judged);
    Ok(if failed { Exit::Trouble } else { exit })
}

/// The files of a run and what is found in them.
pub(super) struct Judged {
    pub(super) session: Session,
    pub(super) report: Report,
    pub(super) levels: Levels,
    pub(super) baseline: Option<Baseline>,
}

impl Seen for Judged {
    fn report(&self) -> &Report {
        &self.report
    }

    fn sources(&self) -> &Sources {
        &self.session.loaded.sources
    }
}

pub(super) fn judge(arguments: &Check, mut session: Session) -> anyhow::Result<Judged> {
    let baseline = accepted::read(arguments, &mut session)?;
    let config = &session.config;
    let known = engine::known_rules();
    let levels = Levels::new(config, &arguments.rule, &arguments.only, &known)?;
    let format = arguments.printing.format;
    let settings = Settings {
        config,
        levels: &levels,
        istio_version: session.version,
        mesh: engine::mesh(config, &session.loaded.sources),
        closed: session.closed,
        world: arguments.world.as_deref(),
        objects: baseline.is_some()
            || matches!(format, Format::Json | Format::Sarif | Format::Gitlab),
        fixes: !arguments.quiet || arguments.diff || arguments.fix.is_some(),
    };
    if arguments.world.is_some() {
        let worlds = engine::worlds(&session.loaded, &settings);
        session::choose(&worlds.list, arguments.world.as_deref())?;
    }
    let count = session.loaded.istio;
    let progress = Progress::new("judging resources", arguments.quiet);
    progress.add(count);
    let report = engine::check(&mut session.loaded, &settings);
    drop(progress);
    let mut judged = Judged {
        session,
        report,
        levels,
        baseline: None,
    };
    if let Some(baseline) = baseline {
        accepted::apply(arguments, &baseline, &mut judged);
        judged.baseline = Some(baseline);
    }
    Ok(judged)
}

fn print(
    arguments: &Check,
    report: &Report,
    sources: &Sources,
    target: Target,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let printing = &arguments.printing;
    let target = printing
        .sink
        .output
        .as_ref()
        .map_or(target, |_| Target::File);
    let options = output::Options {
        show_suppressed: arguments.show_suppressed,
        verbose: arguments.verbose,
        statistics: arguments.statistics,
        ..terminal::options(printing.sink.color, target)
    };
    let Some(path) = &printing.sink.output else {
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

fn exit(arguments: &Check, judged: &Judged) -> Exit {
    let Judged {
        session, report, ..
    } = judged;
    let configured = session.config.fail_on.as_ref().map(|level| level.value);
    let fail_on = arguments.fail_on.or(configured);
    let fail_on = fail_on.unwrap_or(FailOn::Warning);
    let loaded = &session.loaded;
    let mut counted = report
        .diagnostics
        .iter()
        .filter(|d| d.extras().suppressed.is_none());
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
        None if loaded.unjudged > 0 => {
            "the Istio resources in the inputs are of kinds that are not judged".to_owned()
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
