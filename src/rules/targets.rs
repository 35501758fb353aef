//! Where the routes of a VirtualService lead, and whether that is outside.

use super::Context;
use crate::egress::http_rule::Target;
use crate::egress::service::Origin;
use crate::egress::virtual_service::VirtualService;
use crate::istio::decode::Items;

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
