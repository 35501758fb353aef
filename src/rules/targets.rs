//! Where the routes of a VirtualService lead, and whether that is outside.

use smol_str::SmolStr;

use super::Context;
use crate::egress::client::Client;
use crate::egress::http_match::Place;
use crate::egress::http_rule::{HttpRule, Target};
use crate::egress::service::Origin;
use crate::egress::virtual_service::{Binding, VirtualService, names_mesh};
use crate::istio::decode::Items;
use crate::source::Spanned;

/// The destinations of all its routes, delegated ones too.
pub(super) fn targets<'a>(routes: &VirtualService<'a>) -> Vec<Target<'a>> {
    let mut all = Vec::new();
    for rule in routes.http() {
        all.extend(rule.route().iter().filter_map(|entry| rule.target(entry)));
    }
    let tls = routes.spec.tls.items().iter();
    let tls = tls.flat_map(|it| it.value.route.items());
    let tcp = routes.spec.tcp.items().iter();
    let tcp = tcp.flat_map(|it| it.value.route.items());
    all.extend(tls.chain(tcp).filter_map(|it| {
        let destination = it.value.destination.as_ref()?;
        let namespace = routes.namespace();
        Some(Target::new(&destination.value, destination.span, namespace))
    }));
    all
}

/// The destinations of those of its routes that sidecars of its namespace take.
pub(super) fn targets_for_sidecars<'a>(routes: &VirtualService<'a>) -> Vec<Target<'a>> {
    let namespace = routes.namespace();
    let client = Client::sidecar(namespace);
    let http = routes.http().filter(|rule| is_for_sidecars(rule, &client));
    let mut all: Vec<_> = http
        .flat_map(|rule| {
            let targets = rule.route().iter().filter_map(|entry| rule.target(entry));
            targets.collect::<Vec<_>>()
        })
        .collect();
    let is_source = |wanted: Option<&Spanned<SmolStr>>| {
        wanted.is_none_or(|it| it.value.is_empty() || namespace == Some(it.value.as_str()))
    };
    let tls = routes.spec.tls.items().iter().filter(|it| {
        let mut matches = it.value.matches.items().iter();
        matches
            .any(|it| names_mesh(it.gateways.items()) && is_source(it.source_namespace.as_deref()))
    });
    let tls = tls.flat_map(|it| it.value.route.items());
    let tcp = routes.spec.tcp.items().iter().filter(|it| {
        let matches = it.value.matches.items();
        matches.is_empty()
            || matches.iter().any(|it| {
                names_mesh(it.gateways.items()) && is_source(it.source_namespace.as_deref())
            })
    });
    let tcp = tcp.flat_map(|it| it.value.route.items());
    all.extend(tls.chain(tcp).filter_map(|it| {
        let destination = it.value.destination.as_ref()?;
        Some(Target::new(&destination.value, destination.span, namespace))
    }));
    all
}

/// Whether one of the matches of an HTTP rule admits requests of the sidecar.
pub(super) fn is_for_sidecars(rule: &HttpRule<'_>, client: &Client) -> bool {
    rule.matches().any(|condition| {
        condition.admits(&Place {
            port: condition.port().unwrap_or(0),
            binding: Binding::Mesh,
            client,
        })
    })
}

/// Where copies of its HTTP requests go.
pub(super) fn mirrors<'a>(routes: &VirtualService<'a>) -> Vec<Target<'a>> {
    let rules = routes.http();
    rules
        .flat_map(|rule| {
            let listed = rule.mirrors().map(|(target, _)| target);
            rule.mirror().into_iter().chain(listed)
        })
        .collect()
}

/// Whether its rules are for an external host, or lead to one.
pub(super) fn is_for_egress(cx: &Context<'_>, routes: &VirtualService<'_>) -> bool {
    let is_external = |host: &str| {
        let hosts = cx.hosts_overlapping(host, routes.namespace());
        hosts
            .iter()
            .any(|it| it.definition.origin == Origin::ServiceEntry && it.definition.mesh_external)
    };
    // `hosts: ["*"]` of an ingress gateway covers external hosts and is not about them.
    let mut hosts = routes.hosts.iter().filter(|(host, _)| host != "*");
    hosts.any(|(host, _)| is_external(host))
        || targets(routes).iter().any(|it| is_external(&it.host()))
}
