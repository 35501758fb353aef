//! What Envoy is handed for each call, fact by fact, with the lines that each rests on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A file, and a line of it from 1.
pub type Line = (String, u64);

/// One value, as JSON, and its lines; a default has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub value: String,
    pub lines: BTreeSet<Line>,
}

/// A fact that is not the same before and after.
#[derive(Debug)]
pub struct Change {
    /// The host that is called.
    pub host: String,
    pub call: String,
    pub name: String,
    pub before: Option<Fact>,
    pub after: Option<Fact>,
}

/// The facts by call, hop and name: `clusters[0].outlier.interval_ms`.
#[derive(Debug, Default)]
pub struct Facts(BTreeMap<(String, String, String), Fact>);

impl Facts {
    /// Reads what `trace --format json` says of the ways to all destinations.
    pub fn read(trace: &Value) -> Self {
        let mut facts = Self::default();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for way in trace["results"].as_array().expect("a list of results") {
            let call = way["call"].to_string();
            let host = way["call"]["host"].as_str().expect("a host");
            // Where a route splits, there are several ways for one call.
            let ways = seen.entry(call.clone()).or_default();
            *ways += 1;
            let later = way["hops"].as_array().expect("a list of hops");
            for (number, hop) in std::iter::once(way).chain(later).enumerate() {
                facts.add(host, &format!("{call}, way {ways}, hop {number}"), hop);
            }
        }
        facts
    }

    fn add(&mut self, host: &str, call: &str, hop: &Value) {
        let mut values = BTreeMap::new();
        for field in ["outcome", "error", "status", "handler", "route", "tcp"] {
            flatten(field.to_owned(), &hop[field], &mut values);
        }
        let clusters = hop["clusters"].as_array().expect("a list of clusters");
        for (index, cluster) in clusters.iter().enumerate() {
            let path = format!("clusters[{index}]");
            flatten(path.clone(), cluster, &mut values);
            let name = cluster["name"].as_str().expect("a name");
            flatten(path, &hop["cluster_facts"][name], &mut values);
        }
        let reasons = hop["because"].as_array().expect("a list of reasons");
        for (name, value) in values {
            let reasons = reasons.iter().filter(|it| {
                let fact = it["fact"].as_str().expect("a fact");
                within(&name, fact) || within(fact, &name)
            });
            let lines = reasons.filter_map(|it| {
                let file = it["path"].as_str()?;
                Some((file.to_owned(), it["start"]["line"].as_u64()?))
            });
            let lines = lines.collect();
            let key = (host.to_owned(), call.to_owned(), name);
            self.0.insert(key, Fact { value, lines });
        }
    }

    pub fn changes(&self, after: &Self) -> Vec<Change> {
        let keys: BTreeSet<_> = self.0.keys().chain(after.0.keys()).collect();
        let value = |fact: Option<&Fact>| fact.map(|fact| fact.value.clone());
        let changed = keys
            .into_iter()
            .filter(|key| value(self.0.get(*key)) != value(after.0.get(*key)));
        let change = |key: &(String, String, String)| Change {
            host: key.0.clone(),
            call: key.1.clone(),
            name: key.2.clone(),
            before: self.0.get(key).cloned(),
            after: after.0.get(key).cloned(),
        };
        changed.map(change).collect()
    }
}

/// Each leaf below `path`. A list of plain values is one.
fn flatten(path: String, value: &Value, out: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                flatten(format!("{path}.{key}"), value, out);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, value) in items.iter().enumerate() {
                flatten(format!("{path}[{index}]"), value, out);
            }
        }
        leaf => {
            out.insert(path, leaf.to_string());
        }
    }
}

/// Whether one fact is the other or a part of it.
fn within(fact: &str, whole: &str) -> bool {
    let rest = fact.strip_prefix(whole);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
