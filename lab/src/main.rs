//! Measures on a real Envoy what egress-lint says of it: manifests go through `egress-lint trace` into the configuration
//! of an Envoy, whose addresses then move, die and fall silent.

mod address;
mod bench;
mod bootstrap;
mod certificates;
mod client;
mod cluster;
mod dns;
mod envoy;
mod experiments;
mod origination;
mod report;
mod setup;
mod tls_client;
mod tls_server;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::Context as _;
use clap::Parser;

use bench::Lab;
use certificates::Authority;
use envoy::Build;
use experiments::Experiment;
use report::Section;

/// Measures on a real Envoy what egress-lint says of it; exit code 1 where something differs
#[derive(Debug, Parser)]
struct Arguments {
    /// An Envoy; may be given several times
    #[arg(long = "envoy", value_name = "PATH", required = true)]
    envoys: Vec<PathBuf>,
    /// The egress-lint that reads the manifests [default: the one beside this program]
    #[arg(long, value_name = "PATH")]
    egress_lint: Option<PathBuf>,
    /// How many experiments run at once; they mostly wait
    #[arg(long, default_value_t = 6)]
    at_once: usize,
    /// What to measure, such as E1 [default: everything]
    experiments: Vec<String>,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let experiments = chosen(&arguments.experiments)?;
    let linter = match arguments.egress_lint {
        Some(path) => path,
        None => std::env::current_exe()?.with_file_name("egress-lint"),
    };
    let public = Arc::new(Authority::new("a public authority")?);
    let labs: anyhow::Result<Vec<Lab>> = arguments
        .envoys
        .iter()
        .map(|path| {
            let build = Build::new(path)?;
            let (linter, public) = (linter.clone(), Arc::clone(&public));
            Ok(Lab {
                build,
                linter,
                public,
            })
        })
        .collect();
    let labs = labs?;
    let jobs = experiments
        .iter()
        .flat_map(|experiment| labs.iter().map(move |lab| (*experiment, lab)));
    let sections = measure(jobs.collect(), arguments.at_once);
    for section in &sections {
        println!("{section}");
    }
    let differ = sections.iter().filter(|section| !section.holds()).count();
    println!(
        "{} of {} experiments hold",
        sections.len() - differ,
        sections.len()
    );
    Ok(ExitCode::from(u8::from(differ > 0)))
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Experiment>> {
    let all = experiments::ALL.iter();
    if names.is_empty() {
        return Ok(all.collect());
    }
    let named = names.iter().map(|name| {
        let found = all
            .clone()
            .find(|experiment| experiment.name.eq_ignore_ascii_case(name));
        found.with_context(|| format!("there is no experiment `{name}`"))
    });
    named.collect()
}

/// Makes the experiments, so many side by side; the sections come in the order of the jobs.
fn measure(jobs: Vec<(&Experiment, &Lab)>, at_once: usize) -> Vec<Section> {
    let ahead = Mutex::new(jobs.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once.max(1) {
            scope.spawn(|| {
                loop {
                    let next = ahead.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((number, (experiment, lab))) = next else {
                        break;
                    };
                    let section = Section {
                        title: format!("{}: {}", experiment.name, experiment.title),
                        envoy: lab.build.version.clone(),
                        rows: (experiment.run)(lab),
                    };
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((number, section));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, section)| section).collect()
}
