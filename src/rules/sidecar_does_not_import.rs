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
use crate::egress::service::{Origin, Service};
use crate::istio::decode::Items;
use crate::istio::proxy::Sidecar;
use crate::istio::resource::{Resource, Spec};
use crate::istio::traffic::DestinationRule;
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
        let mut seen: BTreeSet<(Span, &str)> = BTreeSet::new();
        let unknown = UnknownHosts::new(cx);
        let mut scopes: HashMap<&str, Scope<'_>> = HashMap::default();
        for (resource, rule) in cx.destination_rules() {
            let Some(wanted) = Wanted::of(cx, resource, rule) else {
                continue;
            };
            let scope = scopes
                .entry(wanted.namespace)
                .or_insert_with(|| cx.model.scope(&Client::sidecar(Some(wanted.namespace))));
            let Some((sidecar, place)) = wanted.left_out(scope) else {
                continue;
            };
            let host: &str = &wanted.external.host.name;
            if seen.insert((place, host)) {
                wanted.say(cx, place, meant(sidecar, host, &unknown), out);
            }
        }
    }
}

/// A host for which a namespace has a rule, and that is exported to it.
struct Wanted<'c> {
    namespace: &'c str,
    /// As the rule has it.
    line: Span,
    external: Service<'c>,
}

impl<'c> Wanted<'c> {
    fn of(cx: &'c Context<'_>, resource: &'c Resource, rule: &DestinationRule) -> Option<Self> {
        let (host, namespace) = (rule.host.as_ref()?, resource.namespace()?);
        let name = to_fqdn(&host.value, Some(namespace));
        if is_wildcard(&name) || rule.workload_selector.is_some() {
            return None;
        }
        let registry = &cx.model.registry;
        let is_external =
            |it: &Service<'_>| it.origin == Origin::ServiceEntry && it.namespace().is_some();
        let external = registry.of_host(&name).find(is_external)?;
        registry.exposure(&external, Some(namespace))?;
        Some(Self {
            namespace,
            line: host.span,
            external,
        })
    }

    /// The Sidecar that leaves the host out, and the key of its first `hosts`.
    fn left_out<'s>(&self, scope: &Scope<'s>) -> Option<(&'s Sidecar, Span)> {
        let resource = scope.sidecar?;
        let Spec::Sidecar(sidecar) = &resource.spec else {
            return None;
        };
        if scope.service(self.external.name()).is_some() {
            return None;
        }
        let mut egress = sidecar.egress.items().iter();
        let hosts = egress.find_map(|it| it.value.hosts.as_ref())?;
        Some((sidecar, hosts.key))
    }

    fn say(
        &self,
        cx: &Context<'_>,
        place: Span,
        meant: Option<&Spanned<SmolStr>>,
        out: &mut Findings,
    ) {
        let (namespace, name) = (self.namespace, self.external.name());
        let message = format!(
            "this Sidecar does not import `{name}`: clients in `{namespace}` do not know the host, for which the namespace has a \
             DestinationRule"
        );
        let entry = format!("{}/{name}", self.external.namespace().unwrap_or("*"));
        let help = match meant {
            Some(meant) => format!("write `{entry}` instead of `{}`", meant.value),
            None => format!("add `{entry}` to `hosts`"),
        };
        out.add(self.basis(cx, place, meant), place, message, |finding| {
            let meant = meant.into_iter();
            meant
                .fold(finding, |finding, meant| {
                    finding.because(meant.span, "this is not the host")
                })
                .because(self.line, "the rule for the host")
                .because(self.external.host.line, "the host")
                .help(help)
        });
    }

    fn basis(&self, cx: &Context<'_>, place: Span, meant: Option<&Spanned<SmolStr>>) -> Basis {
        match meant.and_then(|it| it.value.split_once('/')) {
            Some((other, host))
                if host == self.external.name() && !cx.world.knows_all("ServiceEntry") =>
            {
                let other = if other == "." { self.namespace } else { other };
                Basis::assuming(format!("no other file defines `{host}` in `{other}`"))
            }
            _ => {
                let mut files = [self.line.file, self.external.host.line.file].into_iter();
                Basis::together(files.all(|file| cx.world.is_one_folder(place.file, file)))
            }
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
