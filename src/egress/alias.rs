//! `ExternalName` Services: other names of other services.

use foldhash::{HashMap, HashSet};

use super::registry::Registry;
use super::service::Resolution;

/// What the aliases of a world stand for.
#[derive(Debug, Default)]
pub struct Aliases {
    concrete: HashMap<String, String>,
    of: HashMap<String, Vec<String>>,
}

impl Aliases {
    /// Follows aliases of aliases to their ends. Those that lead in a circle stand for nothing.
    pub fn new(registry: &Registry<'_>) -> Self {
        let mut next: HashMap<&str, &str> = HashMap::default();
        let mut names: Vec<&str> = Vec::new();
        for definition in registry.definitions() {
            let alias = definition
                .alias_of
                .filter(|_| definition.resolution == Resolution::Alias);
            if let (Some(alias), Some(host)) = (alias, definition.hosts.first()) {
                next.insert(&host.name, &alias.value);
                names.push(&host.name);
            }
        }
        let mut ends: HashMap<&str, Option<&str>> = HashMap::default();
        for name in &names {
            let mut path = Vec::new();
            let mut seen = HashSet::default();
            let mut at = *name;
            let end = loop {
                if let Some(known) = ends.get(at) {
                    break *known;
                }
                let Some(further) = next.get(at) else {
                    break Some(at);
                };
                if !seen.insert(at) {
                    break None;
                }
                path.push(at);
                at = further;
            };
            ends.extend(path.into_iter().map(|name| (name, end)));
        }
        let mut out = Self::default();
        for name in names {
            if let Some(Some(end)) = ends.get(name) {
                out.concrete.insert(name.to_owned(), (*end).to_owned());
                let others = out.of.entry((*end).to_owned()).or_default();
                others.push(name.to_owned());
            }
        }
        out
    }

    /// The name that an alias stands for in the end.
    pub fn concrete(&self, alias: &str) -> Option<&str> {
        self.concrete.get(alias).map(String::as_str)
    }

    /// The aliases of a name.
    pub fn of(&self, concrete: &str) -> &[String] {
        self.of.get(concrete).map_or(&[], Vec::as_slice)
    }
}
