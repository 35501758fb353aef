//! Rules of a VirtualService that are for gateways alone, and the servers that they are for.

use smol_str::SmolStr;

use super::matches::{Rule, Section};
use super::{Basis, Context};
use crate::egress::host::overlaps;
use crate::egress::virtual_service::Binding;
use crate::istio::decode::Items;
use crate::istio::proxy::Server;
use crate::istio::resource::Resource;
use crate::istio::route::VirtualService;
use crate::source::{Span, Spanned};

/// So many Gateways of one VirtualService are looked at.
const GATEWAYS: usize = 16;

/// Of very many servers, or hosts of servers, nothing is said, nor of a VirtualService for many hosts.
const MANY: usize = 1000;
const FEW: usize = 64;

/// Rules that no server has a use for.
pub(super) struct Unused<'c> {
    /// The section, or the rule.
    pub(super) place: Span,
    /// The first of the servers that they are for.
    pub(super) server: &'c Spanned<Server>,
    pub(super) basis: Basis,
}

/// The rules of a section that are for gateways alone, where this holds of all servers that they are for: the section as a
/// whole, or else single rules.
pub(super) fn unused<'c>(
    cx: &Context<'c>,
    resource: &Resource,
    service: &VirtualService,
    section: &Section<'_>,
    has_no_use: impl Fn(&Server) -> bool,
) -> Vec<Unused<'c>> {
    let namespace = resource.namespace();
    let own = gateways(service.gateways.items(), namespace);
    let judge = |place, bindings: &[Binding<'_>], ports: Option<&[i64]>| {
        let servers = servers(cx, service, bindings, ports)?;
        let server = *servers.first()?;
        let all = servers.iter().all(|it| has_no_use(&it.value));
        // Another folder may hold another Gateway of that name, for which the rules are.
        let mut files = servers.iter().map(|it| it.key.file);
        let together = files.all(|it| cx.world.is_one_choice(it, section.key.file));
        all.then_some(Unused {
            place,
            server,
            basis: Basis::together(together),
        })
    };
    let whole = own.as_deref().and_then(|own| judge(section.key, own, None));
    if let Some(whole) = whole {
        return vec![whole];
    }
    let rules = section.rules.iter().take(MANY).filter_map(|rule| {
        let named = named(rule, namespace).or_else(|| own.clone())?;
        judge(rule.place, &named, ports(rule).as_deref())
    });
    rules.collect()
}

/// The gateways of a list; `None` where it is empty, names sidecars too, or is very long.
fn gateways<'a>(names: &'a [Spanned<SmolStr>], own: Option<&'a str>) -> Option<Vec<Binding<'a>>> {
    let known = !names.is_empty() && names.len() <= GATEWAYS;
    let bindings = names.iter().map(|it| Binding::parse(&it.value, own));
    let bindings: Vec<_> = bindings.take(GATEWAYS).collect();
    (known && !bindings.contains(&Binding::Mesh)).then_some(bindings)
}

/// The gateways of all matches of a rule; `None` where one of them names none.
fn named<'a>(rule: &'a Rule<'_>, own: Option<&'a str>) -> Option<Vec<Binding<'a>>> {
    let matches = rule.matches.iter().take(GATEWAYS + 1);
    let named = matches.map(|it| gateways(it.gateways.items(), own));
    let named: Vec<Binding<'_>> = named.collect::<Option<Vec<_>>>()?.concat();
    (!named.is_empty() && rule.matches.len() <= GATEWAYS).then_some(named)
}

/// The ports of all matches of a rule; `None` where one of them names none.
fn ports(rule: &Rule<'_>) -> Option<Vec<i64>> {
    let ports = rule
        .matches
        .iter()
        .take(GATEWAYS)
        .map(|it| it.port.as_ref().map(|it| it.value));
    ports
        .collect::<Option<Vec<_>>>()
        .filter(|it| !it.is_empty())
}

/// The servers of these Gateways for hosts of the VirtualService, on these ports; `None` where a Gateway is not known.
fn servers<'c>(
    cx: &Context<'c>,
    service: &VirtualService,
    bindings: &[Binding<'_>],
    ports: Option<&[i64]>,
) -> Option<Vec<&'c Spanned<Server>>> {
    let mut servers: Vec<&Spanned<Server>> = Vec::new();
    for binding in bindings {
        let Binding::Gateway { namespace, name } = binding else {
            continue;
        };
        let known = cx.model.gateways.named(*namespace, name);
        if known.is_empty() {
            return None;
        }
        let of_gateways = known.iter();
        let more = of_gateways.flat_map(|(_, gateway)| gateway.servers.items());
        servers.extend(more.take(MANY));
    }
    let hosts = |it: &&Spanned<Server>| it.value.hosts.items().len();
    let own = service.hosts.items();
    if servers.len() >= MANY || own.len() > FEW || servers.iter().map(hosts).sum::<usize>() > MANY {
        return None;
    }
    servers.retain(|server| {
        let hosts = server.value.hosts.items().iter();
        let hosts = hosts.map(|it| it.value.rsplit('/').next().unwrap_or(""));
        let mut hosts = hosts.filter(|it| !it.is_empty());
        let number = server
            .value
            .port
            .as_ref()
            .and_then(|it| it.value.number.as_ref());
        let on_port = ports.is_none_or(|ports| number.is_none_or(|it| ports.contains(&it.value)));
        on_port && hosts.any(|host| own.iter().any(|own| overlaps(host, &own.value)))
    });
    Some(servers)
}
