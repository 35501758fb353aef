//! Where the routes of a VirtualService lead.

use crate::egress::http_rule::Target;
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
