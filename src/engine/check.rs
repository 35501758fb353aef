//! From what the files hold to the report.

use super::judge::{judge, prepare};
use super::levels::unknown_rules;
use super::{BUILT_IN, Levels, Loaded, about, report, unknown_values};
use crate::config::Config;
use crate::diag::{Report, RuleInfo};
use crate::istio::IstioVersion;
use crate::rules;
use crate::source::Sources;
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
    /// Whether the report's format tells the paths of fields, which cost a second look at the documents with findings.
    pub fields: bool,
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
    };
    world::split(&loaded.manifests, &loaded.kustomizations, &options)
}

/// Judges what was loaded.
pub fn check(loaded: &Loaded, settings: &Settings<'_>) -> Report {
    let worlds = worlds(loaded, settings);
    let mut findings = loaded.diagnostics.clone();
    findings.extend(unknown_rules(settings.config, &known_rules()));
    let (rules, faults) = prepare(settings);
    findings.extend(faults);
    findings.extend(worlds.duplicates.iter().cloned());
    findings.retain_mut(|finding| settings.levels.adjust(finding));
    findings.append(&mut judge(&worlds, &rules, &loaded.sources, settings));
    unknown_values::drop(&mut findings, loaded.resources());
    about::resources(&mut findings, loaded.resources());
    if settings.fields {
        about::fields(&mut findings, &loaded.sources, loaded.resources());
    }
    report::report(loaded, findings, settings.istio_version)
}
