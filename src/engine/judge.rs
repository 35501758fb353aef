//! Runs the rules over the worlds.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::Settings;
use super::guard::guarded;
use super::precedence::{self, Yields};
use crate::config::Config;
use crate::diag::{Diagnostic, Severity};
use crate::egress::{self, model::Model, path::Parts};
use crate::rules::{self, Check, Context, Findings, Meta, Options, Survey, Traffic};
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

/// So many worlds are looked at before what was found in them is joined, for each thread: what several worlds share is
/// found in each.
const TOGETHER: usize = 4;

/// At most so many rules are asked by one pair of hands: some have more to do than all others.
const SHARE: usize = 8;

/// What the rules find in all worlds. Those of one size are looked at together, the largest first: then no thread waits
/// long for another.
pub(super) fn judge(
    worlds: &Worlds<'_>,
    rules: &[Ready],
    sources: &Sources,
    settings: &Settings<'_>,
) -> Vec<Diagnostic> {
    let known = model_settings(settings);
    let mut numbered: Vec<(usize, &World<'_>)> = worlds.list.iter().enumerate().collect();
    numbered.sort_by_key(|(_, world)| Reverse(world.resources.len()));
    let found = numbered
        .chunks(TOGETHER * rayon::current_num_threads())
        .map(|together| {
            let one_each = together.par_iter().with_max_len(1);
            let found = one_each.flat_map_iter(|&(number, world)| {
                let found = look(world, rules, sources, settings, &known);
                found.into_iter().map(move |finding| (number, finding))
            });
            found.collect::<Vec<_>>()
        });
    let absences: Vec<&str> = rules
        .iter()
        .filter(|rule| rule.check.says_absence())
        .map(|rule| rule.meta.name)
        .collect();
    worlds.gather(found, |finding| absences.contains(&finding.rule))
}

/// What the rules find in one world.
fn look(
    world: &World<'_>,
    rules: &[Ready],
    sources: &Sources,
    settings: &Settings<'_>,
    known: &egress::settings::Settings,
) -> Vec<Diagnostic> {
    let done = guarded(|| {
        let model = Model::new(world, known);
        let (cx, parts) = rayon::join(
            || Context::new(world, &model, settings.config, sources, settings.fixes),
            || Parts::new(&model),
        );
        let mut found = ask(&cx, parts, rules);
        precedence::settle(&mut found, &yields(rules));
        found
    });
    done.unwrap_or_else(|panic| vec![failed("the model", world, &panic)])
}

/// Has every rule look at the traffic, part by part, and then at the whole.
fn ask(cx: &Context<'_>, parts: Parts<'_>, rules: &[Ready]) -> Vec<Diagnostic> {
    let mut judges: Vec<Judge<'_>> = rules.iter().map(Judge::new).collect();
    let mut survey = Survey::default();
    for paths in parts {
        show(&survey.part(cx, paths), cx, &mut judges);
    }
    let (rest, ways) = survey.rest(cx);
    show(&rest, cx, &mut judges);
    drop(rest);
    let some = judges.into_par_iter().with_max_len(SHARE);
    let found = some.flat_map_iter(|mut judge| {
        judge.look(|rule, out| {
            rule.check_ways(cx, &ways, out);
            rule.check(cx, out);
        });
        judge.into_findings(cx.world)
    });
    found.collect()
}

fn show(traffic: &Traffic<'_>, cx: &Context<'_>, judges: &mut [Judge<'_>]) {
    let some = judges.par_iter_mut().with_max_len(SHARE);
    some.for_each(|judge| {
        judge.look(|rule, out| rule.check_traffic(cx, traffic, out));
    });
}

/// A rule and what it has found so far.
struct Judge<'r> {
    rule: &'r Ready,
    findings: Findings,
    /// It panicked with this.
    panic: Option<String>,
}

impl<'r> Judge<'r> {
    fn new(rule: &'r Ready) -> Self {
        Self {
            rule,
            findings: Findings::new(rule.meta, rule.level),
            panic: None,
        }
    }

    /// A rule that has failed is not asked again.
    fn look(&mut self, at: impl FnOnce(&dyn Check, &mut Findings)) {
        if self.panic.is_none() {
            let done = guarded(|| at(&*self.rule.check, &mut self.findings));
            self.panic = done.err();
        }
    }

    fn into_findings(self, world: &World<'_>) -> Vec<Diagnostic> {
        let name = || format!("the rule `{}`", self.rule.meta.name);
        match &self.panic {
            Some(panic) => vec![failed(&name(), world, panic)],
            None => self.findings.into_list(),
        }
    }
}

fn yields(rules: &[Ready]) -> Yields {
    let yields = rules
        .iter()
        .map(|rule| (rule.meta.name, rule.check.yields_to()));
    yields.collect()
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

/// The fault is ours; it stands at the first resource of the world that could not be judged.
fn failed(what: &str, world: &World<'_>, panic: &str) -> Diagnostic {
    let nowhere = Span::new(FileId(0), 0, 0);
    let first = world.resources.first();
    let at = first.map_or(nowhere, |resource| resource.kind);
    Diagnostic::new(
        "internal",
        Severity::Error,
        at,
        format!("{what} failed: {panic}"),
    )
    .help("this is a fault of egress-lint: please report it, with the manifests if you can")
}
