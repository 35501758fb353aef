//! One host in two ServiceEntries that do not say the same.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::twins::{Twins, by_number, full_name, is_private, twins};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::protocol::Protocol;
use crate::egress::service::{Definition, Port};
use crate::istio::decode::Items;
use crate::istio::resource::Spec;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "duplicate-host",
        summary: "two ServiceEntries define one host with different settings",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/duplicate-host.md"),
    },
    build: super::plain::<DuplicateHost>,
};

#[derive(Debug, Default)]
pub(super) struct DuplicateHost;

impl Check for DuplicateHost {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        // Objects with many hosts in common are compared once.
        let mut compared: HashMap<(Span, Span), Option<Difference>> = HashMap::default();
        for twins in twins(cx) {
            let (one, other) = (twins.earlier.definition, twins.later.definition);
            let difference = compared
                .entry((one.resource.span, other.resource.span))
                .or_insert_with(|| difference(&twins, one, other));
            let Some((setting, lines)) = *difference else {
                continue;
            };
            let (kept, help) = match twins.one_namespace {
                true => (
                    "Istio uses the older of them",
                    "make one entry of them; which object is older the files do not tell",
                ),
                false => (
                    "not all clients use the same one",
                    "make one entry of them, or limit each to its own clients with `exportTo`",
                ),
            };
            let message = format!(
                "`{}` is also defined in `{}` with another {setting}: {kept}",
                twins.later.host,
                full_name(one),
            );
            let files = (one.resource.span.file, other.resource.span.file);
            let is_known = one.namespace().is_some() && other.namespace().is_some();
            // Whoever applies a file applies what has no namespace to one.
            let mut both = [one, other].into_iter();
            let is_one = files.0 == files.1 && both.all(|it| it.resource.meta.namespace.is_none());
            let basis = match (is_private(cx, &twins), twins.one_namespace) {
                (true, _) => {
                    Basis::assuming("the one for a single namespace is not its mock or sandbox")
                }
                _ if is_known || is_one => {
                    Basis::together(cx.world.is_one_folder(files.0, files.1))
                }
                (_, true) => Basis::assuming("both are applied to one namespace"),
                (_, false) => Basis::assuming("they are applied to different namespaces"),
            };
            out.add(basis, twins.later.line, message, |finding| {
                let finding = finding
                    .because(twins.earlier.line, "the other definition")
                    .help(help);
                lines.into_iter().flatten().fold(finding, |finding, line| {
                    finding.because(line, format!("the {setting} differs"))
                })
            });
        }
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["dns-round-robin-endpoints"]
    }
}

/// A setting, and its lines.
type Difference = (&'static str, [Option<Span>; 2]);

/// The first setting in which the two differ so that it matters.
fn difference(
    twins: &Twins<'_>,
    one: &Definition<'_>,
    other: &Definition<'_>,
) -> Option<Difference> {
    if one.resolution != other.resolution {
        return Some(("resolution", [one.resolution_line, other.resolution_line]));
    }
    if let Some(lines) = protocols(one, other) {
        return Some(("protocol", lines));
    }
    let unlike = match twins.one_namespace {
        // What makes them unlike enough for Istio not to merge them.
        true => [
            ("label", !one.has_labels_of(other)),
            ("workload selector", selector(one) != selector(other)),
            // Of two that say the same Istio ignores one, and nothing is lost.
            (
                "`exportTo`",
                export_to(one) != export_to(other) && ports(one) != ports(other),
            ),
        ],
        // What makes the same call go elsewhere.
        false => [
            ("location", one.mesh_external != other.mesh_external),
            ("set of ports", ports(one) != ports(other)),
            ("list of endpoints", endpoints(one) != endpoints(other)),
        ],
    };
    let (setting, _) = unlike.into_iter().find(|(_, unlike)| *unlike)?;
    Some((setting, [None, None]))
}

/// The lines of the first port that has two protocols.
fn protocols(one: &Definition<'_>, other: &Definition<'_>) -> Option<[Option<Span>; 2]> {
    let kind = |protocol: Protocol| match protocol {
        Protocol::Https => Protocol::Tls,
        protocol => protocol,
    };
    let ports = by_number(one);
    other.ports.iter().find_map(|port| {
        let same = *ports.get(&port.number)?;
        let lines = [same, port].map(|p| Some(p.line()));
        (kind(same.protocol) != kind(port.protocol)).then_some(lines)
    })
}

/// The addresses of the endpoints that are written down.
fn endpoints<'d>(definition: &'d Definition<'_>) -> BTreeSet<&'d str> {
    let Spec::ServiceEntry(entry) = &definition.resource.spec else {
        return BTreeSet::new();
    };
    let addresses = entry.endpoints.items().iter();
    addresses
        .filter_map(|endpoint| Some(endpoint.address.as_ref()?.value.as_str()))
        .collect()
}

fn selector<'d>(definition: &'d Definition<'_>) -> &'d [(&'d str, &'d str)] {
    definition.selector.as_deref().unwrap_or_default()
}

fn export_to<'d>(definition: &'d Definition<'_>) -> BTreeSet<&'d str> {
    definition.export_to.iter().map(|entry| &**entry).collect()
}

fn ports(definition: &Definition<'_>) -> BTreeMap<u32, Option<u32>> {
    let target = |port: &Port<'_>| port.target().and_then(|t| Some(t.number()?.0));
    definition
        .ports
        .iter()
        .map(|port| (port.number, target(port)))
        .collect()
}
