//! From what the files hold to the report.

use std::collections::HashSet;

use super::judge::{judge, prepare};
use super::levels::unknown_rules;
use super::{BUILT_IN, FIXED, Levels, Loaded, about, misspelt, patched, report, unknown_values};
use crate::config::{Config, annotations};
use crate::diag::{Diagnostic, Report, RuleInfo};
use crate::istio::{IstioVersion, Spec};
use crate::rules;
use crate::source::{FileId, Sources};
use crate::suppress::{self, Comments, Silencers};
use crate::world::{self, FoundMesh, NamedWorld, Worlds};

/// What a check needs to know beside the files.
#[derive(Debug)]
pub struct Settings<'a> {
    pub config: &'a Config,
    pub levels: &'a Levels,
    pub istio_version: IstioVersion,
    /// The mesh configuration of the configuration, which holds in all worlds.
    pub mesh: Option<FoundMesh>,
    /// These files are all there is in the cluster.
    pub closed: bool,
    /// The world that is asked about; without it all are.
    pub world: Option<&'a str>,
    /// Whether it is asked which objects findings are about and the paths of fields there, which cost a second look at the
    /// documents with findings.
    pub objects: bool,
    /// Fixes are wanted, which cost a second look at the documents as well.
    pub fixes: bool,
}

/// The mesh configuration that the configuration names or holds.
pub fn mesh(config: &Config, sources: &Sources) -> Option<FoundMesh> {
    let source = config.mesh.as_ref()?;
    source.read(sources, FoundMesh::read).flatten()
}

/// Every rule that exists, by name.
pub fn known_rules() -> Vec<RuleInfo> {
    let own = rules::all().iter().map(|rule| rule.meta);
    let mut all: Vec<RuleInfo> = own.chain(BUILT_IN.iter().copied()).collect();
    all.sort_by_key(|rule| rule.name);
    all
}

/// Says which resources share a cluster.
pub fn worlds<'a>(loaded: &'a Loaded, settings: &'a Settings<'a>) -> Worlds<'a> {
    let config = settings.config;
    let named = config.worlds.iter().map(|world| NamedWorld {
        name: &world.name.value,
        holds: Box::new(|file| {
            let path = &loaded.sources.get(file).path;
            world.files.matches(&config.relative(path))
        }),
    });
    let options = world::Options {
        named: named.collect(),
        mesh: settings.mesh.as_ref(),
        closed: settings.closed,
        pods_differ: loaded.pods_differ,
    };
    world::split(&loaded.manifests, &loaded.kustomizations, &options)
}

/// Judges what was loaded, whose diagnostics and comments go into the report.
pub fn check(loaded: &mut Loaded, settings: &Settings<'_>) -> Report {
    let mut findings = std::mem::take(&mut loaded.diagnostics);
    let comments = std::mem::take(&mut loaded.comments);
    let loaded = &*loaded;
    let known = known_rules();
    let worlds = worlds(loaded, settings);
    let (rules, faults) = prepare(settings);
    findings.extend(unknown_rules(settings.config, &known));
    findings.extend(faults);
    findings.extend(worlds.duplicates.iter().cloned());
    findings.extend(
        settings
            .mesh
            .iter()
            .flat_map(|mesh| mesh.diagnostics.iter().cloned()),
    );
    findings.append(&mut judge(&worlds, &rules, &loaded.sources, settings));
    findings.extend(annotations(loaded));
    unknown_values::drop(&mut findings, loaded.resources());
    misspelt::drop(&mut findings, loaded.resources());
    patched::soften(&mut findings, loaded);
    settings.levels.adjust(&known, &mut findings);
    silence(&mut findings, comments, loaded, settings, &known);
    if let Some(name) = settings.world {
        keep_world(&mut findings, loaded, &worlds, name);
    }
    report::sort(&loaded.sources, &mut findings);
    if settings.objects {
        about::resources(&mut findings, loaded.resources());
        about::fields(&mut findings, &loaded.sources, loaded.resources());
    }
    report::report(loaded, findings, known, settings.istio_version)
}

/// Leaves out what does not concern a world: findings that hold in others only, and those in files it does not hold.
fn keep_world(findings: &mut Vec<Diagnostic>, loaded: &Loaded, worlds: &Worlds<'_>, name: &str) {
    let manifests: HashSet<FileId> = loaded.manifests.iter().map(|file| file.id).collect();
    let mut all = worlds.list.iter();
    let Some(world) = all.find(|world| world.name.as_deref() == Some(name)) else {
        return;
    };
    findings.retain(|finding| {
        let here = !manifests.contains(&finding.span.file) || world.sees(finding.span);
        let holds = finding.extras().worlds.as_ref();
        here && holds.is_none_or(|worlds| worlds.iter().any(|it| **it == *name))
    });
}

/// What is wrong with the facts in annotations.
fn annotations(loaded: &Loaded) -> impl Iterator<Item = Diagnostic> {
    loaded.resources().flat_map(|resource| {
        let annotations = resource.meta.annotations.iter();
        match resource.spec {
            Spec::ServiceEntry(_) => {
                annotations::read(annotations.map(|(name, value)| (name, value))).1
            }
            _ => annotations::misplaced(resource.spec.kind(), annotations.map(|(name, _)| name)),
        }
    })
}

fn silence(
    findings: &mut Vec<Diagnostic>,
    comments: Comments,
    loaded: &Loaded,
    settings: &Settings<'_>,
    known: &[RuleInfo],
) {
    let mut silencers = Silencers::default();
    silencers.comments(comments);
    for resource in loaded.resources() {
        if let Some(names) = resource.meta.annotations.get(annotations::IGNORE) {
            silencers.annotation(resource.span, names, &loaded.sources);
        }
    }
    // Where a part of a file is broken, a value unknown or a field misspelt, findings are missing that a silencer may be for.
    let unsure: HashSet<FileId> = loaded
        .manifests
        .iter()
        .filter(|file| {
            let mut resources = file.resources.iter();
            file.broken
                || resources.any(|it| !it.placeholders().is_empty() || !it.meant().is_empty())
        })
        .map(|file| file.id)
        .collect();
    let names: Vec<&'static str> = known.iter().map(|rule| rule.name).collect();
    let rules = suppress::Rules {
        known: &names,
        fixed: &FIXED,
        asked: &|name| {
            let rule = known.iter().find(|rule| rule.name == name);
            rule.is_some_and(|rule| settings.levels.level(rule).is_some())
        },
        unsure: &|file| unsure.contains(&file),
    };
    let mut about_silencers = silencers.apply(findings, settings.config, &rules, &loaded.sources);
    settings.levels.adjust(known, &mut about_silencers);
    findings.append(&mut about_silencers);
}
