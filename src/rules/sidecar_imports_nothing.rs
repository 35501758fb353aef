//! A host of a Sidecar that is not there.

use smol_str::SmolStr;

use super::context::existing;
use super::unknown_hosts::{UnknownHosts, like, shown};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::{is_wildcard, service_of};
use crate::egress::service::{Origin, Service};
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::source::Spanned;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "sidecar-imports-nothing",
        summary: "an entry of a Sidecar's `hosts` imports nothing: the host is not there, in another namespace, or not exported",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/sidecar-imports-nothing.md"),
    },
    build: super::plain::<SidecarImportsNothing>,
};

#[derive(Debug, Default)]
pub(super) struct SidecarImportsNothing;

/// With more entries for one host nothing is said.
const OF_HOST: usize = 64;

impl Check for SidecarImportsNothing {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let hosts = UnknownHosts::new(cx);
        for resource in existing(cx.world) {
            let Spec::Sidecar(sidecar) = &resource.spec else {
                continue;
            };
            let listeners = sidecar.egress.items().iter();
            for entry in listeners.flat_map(|it| it.value.hosts.items()) {
                judge(cx, &hosts, resource, entry, out);
            }
        }
    }

    fn says_absence(&self) -> bool {
        true
    }
}

fn judge(
    cx: &Context<'_>,
    hosts: &UnknownHosts<'_>,
    resource: &Resource,
    entry: &Spanned<SmolStr>,
    out: &mut Findings,
) {
    let (Some(own), Some((written, host))) = (resource.namespace(), entry.value.split_once('/'))
    else {
        return;
    };
    let wanted = if written == "." { own } else { written };
    // A VirtualService may be meant, which is imported by its hosts.
    let mut routes = cx.routes_for(host).take(OF_HOST);
    let is_there = |it: Option<&str>| wanted == "*" || it.is_none_or(|it| it == wanted);
    let of_mesh = service_of(host).is_some();
    if is_wildcard(host) || of_mesh || wanted == "~" || routes.any(|it| is_there(it.namespace())) {
        return;
    }
    let services = cx.model.registry.of_host(host).take(OF_HOST);
    let services: Vec<Service<'_>> = services.collect();
    let Some(first) = services.first() else {
        if let Some(unknown) = hosts.find(host) {
            let message = format!("this imports nothing: nothing defines `{}`", shown(host));
            let help = match unknown.meant {
                Some(meant) => format!("did you mean `{}`?", meant.host),
                None => "remove it, or correct the host".to_owned(),
            };
            out.add(unknown.basis, entry.span, message, |finding| {
                like(finding, unknown.wildcard, unknown.meant).help(help)
            });
        }
        return;
    };
    let mut here = services
        .iter()
        .filter(|it| is_there(it.namespace()))
        .peekable();
    let is_entry = first.origin == Origin::ServiceEntry;
    if services.len() == OF_HOST || !is_entry {
        return;
    }
    if here.peek().is_none() {
        let there = first.namespace().unwrap_or_default();
        let basis = match cx.world.knows_all("ServiceEntry") {
            true => Basis::Proven,
            false => Basis::assuming(format!("no other file defines `{host}` in `{wanted}`")),
        };
        let message =
            format!("this imports nothing: `{host}` is not in `{wanted}`, but in `{there}`");
        out.add(basis, entry.span, message, |finding| {
            finding
                .because(first.host.line, "the host")
                .help(format!("write `{there}/{host}`"))
        });
        return;
    }
    let registry = &cx.model.registry;
    if here.all(|it| registry.exposure(it, Some(own)).is_none()) {
        let message = format!("this imports nothing: `{host}` is not exported to `{own}`");
        let Spec::ServiceEntry(spec) = &first.definition.resource.spec else {
            return;
        };
        let hides = spec.export_to.items().first().map(|it| it.span);
        out.add(Basis::Proven, entry.span, message, |finding| {
            hides
                .into_iter()
                .fold(finding, |finding, line| {
                    finding.because(line, "this hides it")
                })
                .because(first.host.line, "the host")
                .help(format!("add `{own}` to `exportTo` of the ServiceEntry"))
        });
    }
}
