//! A policy for a host that the Sidecar leaves out.

use std::collections::BTreeSet;

use foldhash::HashMap;
use smol_str::SmolStr;

use super::unknown_hosts::UnknownHosts;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::client::Client;
use crate::egress::host::{is_wildcard, to_fqdn};
use crate::egress::scope::Scope;
use crate::egress::service::Origin;
use crate::istio::decode::Items;
use crate::istio::proxy::Sidecar;
use crate::istio::resource::Spec;
use crate::source::{Span, Spanned};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "sidecar-does-not-import",
        summary: "the Sidecar of a namespace leaves out a host for which the namespace has rules",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/sidecar-does-not-import.md"),
    },
    build: super::plain::<SidecarDoesNotImport>,
};

#[derive(Debug, Default)]
pub(super) struct SidecarDoesNotImport;

impl Check for SidecarDoesNotImport {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let mut seen: BTreeSet<(Span, String)> = BTreeSet::new();
        let unknown = UnknownHosts::new(cx);
        let mut scopes: HashMap<&str, Scope<'_>> = HashMap::default();
        for (resource, rule) in cx.destination_rules() {
            let (Some(host), Some(namespace)) = (&rule.host, resource.namespace()) else {
                continue;
            };
            let name = to_fqdn(&host.value, Some(namespace));
            let mut services = cx.model.registry.of_host(&name);
            let external =
                services.find(|it| it.origin == Origin::ServiceEntry && it.namespace().is_some());
            let Some(external) =
                external.filter(|_| !is_wildcard(&name) && rule.workload_selector.is_none())
            else {
                continue;
            };
            let exported = cx
                .model
                .registry
                .exposure(&external, Some(namespace))
                .is_some();
            let scope = scopes
                .entry(namespace)
                .or_insert_with(|| cx.model.scope(&Client::sidecar(Some(namespace))));
            let Some(sidecar) = scope
                .sidecar
                .filter(|_| exported && scope.service(&name).is_none())
            else {
                continue;
            };
            let Spec::Sidecar(spec) = &sidecar.spec else {
                continue;
            };
            let egress = spec.egress.items().iter();
            let place = egress
                .filter_map(|it| it.value.hosts.as_ref())
                .map(|it| it.key)
                .next();
            let Some(place) = place.filter(|it| seen.insert((*it, name.to_string()))) else {
                continue;
            };
            let meant = meant(spec, &name, &unknown);
            let message = format!(
                "this Sidecar does not import `{name}`: clients in `{namespace}` do not know the host, for which the \
                 namespace has a DestinationRule"
            );
            let together = [host.span.file, external.host.line.file]
                .into_iter()
                .all(|file| cx.world.is_one_folder(place.file, file));
            let basis = match meant.and_then(|it| it.value.split_once('/')) {
                Some((other, host)) if host == name && !cx.world.knows_all("ServiceEntry") => {
                    let other = if other == "." { namespace } else { other };
                    Basis::assuming(format!("no other file defines `{host}` in `{other}`"))
                }
                _ => Basis::together(together),
            };
            let entry = format!("{}/{name}", external.namespace().unwrap_or("*"));
            let help = match meant {
                Some(meant) => format!("write `{entry}` instead of `{}`", meant.value),
                None => format!("add `{entry}` to `hosts`"),
            };
            out.add(basis, place, message, |finding| {
                let meant = meant.into_iter();
                meant
                    .fold(finding, |finding, meant| {
                        finding.because(meant.span, "this is not the host")
                    })
                    .because(host.span, "the rule for the host")
                    .because(external.host.line, "the host")
                    .help(help)
            });
        }
    }
}

/// So many entries of a Sidecar are looked at.
const ENTRIES: usize = 256;

/// The entry that may have been meant to import the host: one for it in another namespace, or for nearly its name.
fn meant<'s>(
    sidecar: &'s Sidecar,
    host: &str,
    unknown: &UnknownHosts<'_>,
) -> Option<&'s Spanned<SmolStr>> {
    let listeners = sidecar.egress.items().iter();
    let entries = listeners.flat_map(|it| it.value.hosts.items());
    let is_it = |written: &str| {
        let nearly = || unknown.find(written)?.meant;
        written == host || nearly().is_some_and(|it| it.host == host)
    };
    entries.take(ENTRIES).find(|it| {
        let parts = it.value.split_once('/');
        parts.is_some_and(|(_, written)| is_it(written))
    })
}
