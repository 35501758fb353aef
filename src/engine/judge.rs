//! Runs the rules over the worlds.

use rayon::prelude::*;

use super::Settings;
use super::guard::guarded;
use crate::config::Config;
use crate::diag::{Diagnostic, Severity};
use crate::egress::{self, model::Model};
use crate::rules::{self, Check, Context, Findings, Meta, Options};
use crate::source::{FileId, Sources, Span};
use crate::world::{World, Worlds};

/// A rule that is on, built from its options.
pub(super) struct Ready {
    meta: Meta,
    level: Severity,
    check: Box<dyn Check>,
}

/// Builds the rules that are on. What is wrong with the options of any is a finding.
pub(super) fn prepare(settings: &Settings<'_>) -> (Vec<Ready>, Vec<Diagnostic>) {
    let mut ready = Vec::new();
    let mut faults = Vec::new();
    for rule in rules::all() {
        match (rule.build)(options(settings.config, rule.meta.name)) {
            Err(mut found) => faults.append(&mut found),
            Ok(check) => ready.extend(settings.levels.level(&rule.meta).map(|level| Ready {
                meta: rule.meta,
                level,
                check,
            })),
        }
    }
    (ready, faults)
}

fn options<'a>(config: &'a Config, rule: &'a str) -> Options<'a> {
    let set = config.rule(rule).and_then(|rule| rule.options.as_ref());
    Options::new(rule, set)
}

/// What the rules find in all worlds.
pub(super) fn judge(
    worlds: &Worlds<'_>,
    rules: &[Ready],
    sources: &Sources,
    settings: &Settings<'_>,
) -> Vec<Diagnostic> {
    let known = model_settings(settings);
    let models: Vec<Model<'_>> = worlds
        .list
        .par_iter()
        .map(|world| Model::new(world, &known))
        .collect();
    let contexts: Vec<Context<'_>> = worlds
        .list
        .par_iter()
        .zip(&models)
        .map(|(world, model)| Context::new(world, model, settings.config, sources))
        .collect();
    let found: Vec<Vec<(usize, Diagnostic)>> = (0..contexts.len() * rules.len())
        .into_par_iter()
        .filter_map(|job| {
            let world = job / rules.len();
            let (context, rule) = (contexts.get(world)?, rules.get(job % rules.len())?);
            let found = rule.look(context).into_iter();
            Some(found.map(|finding| (world, finding)).collect())
        })
        .collect();
    let absences: Vec<&str> = rules
        .iter()
        .filter(|rule| rule.check.says_absence())
        .map(|rule| rule.meta.name)
        .collect();
    worlds.gather(found.into_iter().flatten(), |finding| {
        absences.contains(&finding.rule)
    })
}

fn model_settings(settings: &Settings<'_>) -> egress::settings::Settings {
    let root = settings.config.root_namespace.as_ref();
    egress::settings::Settings {
        version: settings.istio_version,
        root_namespace: root.map_or_else(
            || egress::settings::Settings::default().root_namespace,
            |root| root.value.clone(),
        ),
    }
}

impl Ready {
    fn look(&self, context: &Context<'_>) -> Vec<Diagnostic> {
        let done = guarded(|| {
            let mut findings = Findings::new(self.meta, self.level);
            self.check.check(context, &mut findings);
            findings.into_list()
        });
        done.unwrap_or_else(|panic| vec![self.failed(context.world, &panic)])
    }

    /// The fault is ours; it stands at the first resource of the world that the rule could not judge.
    fn failed(&self, world: &World<'_>, panic: &str) -> Diagnostic {
        let nowhere = Span::new(FileId(0), 0, 0);
        let first = world.resources.first();
        let at = first.map_or(nowhere, |resource| resource.kind);
        let message = format!("the rule `{}` failed: {panic}", self.meta.name);
        Diagnostic::new("internal", Severity::Error, at, message)
            .help("this is a fault of egress-lint: please report it, with the manifests if you can")
    }
}
