//! Another host for a connection whose address is the client's.

use super::targets::is_for_sidecars;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::client::Client;
use crate::egress::host::overlaps;
use crate::egress::http_rule::Target;
use crate::egress::service::{Origin, Resolution, Service};
use crate::egress::virtual_service::{Binding, VirtualService as Routes, names_mesh};
use crate::istio::decode::Items;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "none-host-remap",
        summary: "a route to another host with `resolution: NONE` changes the policy, not the address",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/none-host-remap.md"),
    },
    build: super::plain::<NoneHostRemap>,
};

#[derive(Debug, Default)]
pub(super) struct NoneHostRemap;

impl Check for NoneHostRemap {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for routes in cx.model.virtual_services.iter() {
            if routes.bindings.contains(&Binding::Mesh) {
                http(cx, routes, out);
                tls(cx, routes, out);
            }
        }
    }
}

/// A name that is called, and where it is written.
type Called<'r> = (&'r str, Span);

fn http(cx: &Context<'_>, routes: &Routes<'_>, out: &mut Findings) {
    let client = Client::sidecar(routes.namespace());
    let called = || routes.hosts.iter().map(|(host, line)| (&**host, *line));
    for rule in routes.http() {
        if !is_for_sidecars(&rule, &client) {
            continue;
        }
        let routed = rule.route().iter().filter_map(|entry| rule.target(entry));
        let mirrors = rule.mirrors().map(|(target, _)| target);
        for target in routed.chain(rule.mirror()).chain(mirrors) {
            judge(cx, called(), &target, out);
        }
    }
}

fn tls(cx: &Context<'_>, routes: &Routes<'_>, out: &mut Findings) {
    for rule in routes.spec.tls.items() {
        let matches = || {
            let matches = rule.matches.items().iter();
            matches.filter(|it| names_mesh(it.gateways.items()))
        };
        let called = || {
            let names = matches().flat_map(|it| it.sni_hosts.items());
            names.map(|name| (name.value.as_str(), name.span))
        };
        for entry in rule.route.items() {
            if let Some(destination) = &entry.value.destination {
                let namespace = routes.namespace();
                let target = Target::new(&destination.value, destination.key, namespace);
                judge(cx, called(), &target, out);
            }
        }
    }
}

/// Finds fault where no name that is called is one of the target.
fn judge<'r>(
    cx: &Context<'_>,
    mut called: impl Iterator<Item = Called<'r>> + Clone,
    target: &Target<'_>,
    out: &mut Findings,
) {
    let host = target.host();
    let Some(service) = without_addresses(cx, &host) else {
        return;
    };
    let Some((name, line)) = called.clone().next() else {
        return;
    };
    if called.any(|(name, _)| overlaps(name, &host)) || !out.is_first(target.line) {
        return;
    }
    let message = format!(
        "what this route sends still goes to the address of `{}`: `resolution: NONE` keeps the one that the client chose",
        super::unknown_hosts::shown(name)
    );
    out.add(Basis::Proven, target.line, message, |finding| {
        let finding = match service.definition.resolution_line {
            Some(resolution) => finding
                .because(resolution, "this keeps address and port")
                .because(service.host.line, "the host that the route is to lead to"),
            None => finding.because(service.host.line, "without `resolution` it is `NONE`"),
        };
        finding
            .because(line, "what is called")
            .help(format!("use `resolution: DNS` for `{host}`"))
    });
}

/// The external host, where each entry for it leaves the address to the client.
fn without_addresses<'c>(cx: &'c Context<'_>, host: &str) -> Option<Service<'c>> {
    let mut services = cx.model.registry.of_host(host);
    let keeps = |it: &Service<'_>| {
        it.origin == Origin::ServiceEntry && it.resolution == Resolution::Passthrough
    };
    let first = services.next().filter(keeps)?;
    services.all(|it| keeps(&it)).then_some(first)
}
