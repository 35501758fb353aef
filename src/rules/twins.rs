//! Two ServiceEntries of one host that clients can meet.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::context::{Context, Defined};
use crate::egress::namespace::{Same, same};
use crate::egress::service::{Definition, Origin, Port};

/// Two definitions of one host, in the order of the files; which object is older they do not tell.
#[derive(Debug)]
pub(super) struct Twins<'c> {
    pub(super) earlier: Defined<'c>,
    pub(super) later: Defined<'c>,
    /// Whether both stand in one namespace, where Istio merges them or ignores one.
    pub(super) one_namespace: bool,
}

/// Each ServiceEntry's host beside an earlier definition of it: the first of the namespace, else the first of all.
pub(super) fn twins<'c>(cx: &'c Context<'_>) -> Vec<Twins<'c>> {
    let mut by_host: BTreeMap<&str, Vec<Defined<'c>>> = BTreeMap::new();
    for definition in cx.definitions() {
        if definition.origin == Origin::ServiceEntry {
            for host in &definition.hosts {
                let defined = Defined {
                    definition,
                    host: &host.name,
                    line: host.line,
                };
                by_host.entry(&host.name).or_default().push(defined);
            }
        }
    }
    let mut found = Vec::new();
    for definitions in by_host.into_values() {
        let mut first_of: HashMap<Option<&str>, Defined<'c>> = HashMap::default();
        for later in &definitions {
            let namespace = later.definition.namespace();
            let earlier = first_of.get(&namespace).or(definitions.first()).copied();
            first_of.entry(namespace).or_insert(*later);
            found.extend(earlier.and_then(|earlier| pair(cx, earlier, *later)));
        }
    }
    found
}

fn pair<'c>(cx: &Context<'_>, earlier: Defined<'c>, later: Defined<'c>) -> Option<Twins<'c>> {
    let (one, other) = (earlier.definition, later.definition);
    let perhaps_one_object = one.resource.name() == other.resource.name()
        && same(one.namespace(), other.namespace()) != Same::No;
    if perhaps_one_object || !meet(cx, one, other) {
        return None;
    }
    Some(Twins {
        earlier,
        later,
        one_namespace: one.namespace() == other.namespace(),
    })
}

/// Whether some client certainly sees both.
fn meet(cx: &Context<'_>, one: &Definition<'_>, other: &Definition<'_>) -> bool {
    let (one, other) = (audience(cx, one), audience(cx, other));
    let all = Some("*");
    match (one.contains(&all), other.contains(&all)) {
        (true, _) => !other.is_empty(),
        (_, true) => !one.is_empty(),
        _ => !one.is_disjoint(&other),
    }
}

/// Whether one is for its own namespace alone, and the other is of another: Istio's way to have a mock or a sandbox there.
pub(super) fn is_private(cx: &Context<'_>, twins: &Twins<'_>) -> bool {
    let mut both = [twins.earlier.definition, twins.later.definition].into_iter();
    let own = |it: &Definition<'_>| audience(cx, it) == BTreeSet::from([it.namespace()]);
    !twins.one_namespace && both.any(own)
}

/// The namespaces that see a definition, `*` for all.
fn audience<'d>(cx: &'d Context<'_>, definition: &'d Definition<'_>) -> BTreeSet<Option<&'d str>> {
    let own = definition.namespace();
    let resolve = |entry: &'d str| match entry {
        "." => Some(own),
        "~" => None,
        name => Some(Some(name)),
    };
    if definition.export_to.is_empty() {
        return cx.default_export_to().filter_map(resolve).collect();
    }
    let declared = definition.export_to.iter();
    declared.filter_map(|entry| resolve(entry)).collect()
}

/// `namespace/name` of the object.
pub(super) fn full_name(definition: &Definition<'_>) -> String {
    let name = definition.resource.name();
    match definition.namespace() {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

/// The first port of each number.
pub(super) fn by_number<'d, 'a>(definition: &'d Definition<'a>) -> BTreeMap<u32, &'d Port<'a>> {
    let mut ports = BTreeMap::new();
    for port in &definition.ports {
        ports.entry(port.number).or_insert(port);
    }
    ports
}
