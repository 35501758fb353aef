//! A patch for a cluster of proxies that do not connect to the host.

use std::collections::{BTreeMap, BTreeSet};

use super::cluster_patches::{ClusterPatch, cluster_patches};
use super::context::HOSTS;
use super::{Basis, Check, Context, Findings, Meta, RuleDef, Traffic};
use crate::diag::{Fixable, Severity};
use crate::egress::client::Client;
use crate::egress::path::{Asked, Question};
use crate::egress::virtual_service::Binding;
use crate::istio::envoy_filter::PatchContext;
use crate::istio::resource::Spec;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "envoy-filter-on-other-hop",
        summary: "a patch of an EnvoyFilter is for sidecars where an egress gateway connects to the host, or the other way around",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/envoy-filter-on-other-hop.md"),
    },
    build: super::plain::<EnvoyFilterOnOtherHop>,
};

#[derive(Debug, Default)]
pub(super) struct EnvoyFilterOnOtherHop;

/// How the clients of one namespace reach the host.
struct Ways<'t> {
    /// Some go straight out.
    direct: bool,
    /// Each with the line that leads to it.
    gateways: BTreeMap<&'t Client, Option<Span>>,
    /// The line of the host.
    line: Span,
}

/// The ways to the host, by the namespace of the clients.
type ByClient<'t> = BTreeMap<&'t str, Ways<'t>>;

/// What is wrong with the place of a patch.
struct Misplaced {
    basis: Basis,
    message: String,
    help: String,
    /// The line that leads to the gateway.
    lead: Option<Span>,
}

/// With patches for more hosts nothing is said of the further ones, each of which is asked about.
const ASKED: usize = 64;

impl Check for EnvoyFilterOnOtherHop {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let mut by_host: BTreeMap<&str, Vec<(ClusterPatch<'_>, Side<'_>)>> = BTreeMap::new();
        for patch in cluster_patches(cx) {
            let defined = || cx.model.registry.of_host(patch.host).next().is_some();
            if let Some(side) = Side::of(cx, &patch).filter(|_| defined()) {
                by_host.entry(patch.host).or_default().push((patch, side));
            }
        }
        if by_host.is_empty() {
            return;
        }
        let paths = Asked::new(cx.model);
        let by_pods = sidecars_of_pods(cx);
        for (host, patches) in by_host.into_iter().take(ASKED) {
            let question = Question {
                host: Some(host.to_owned()),
                ..Question::default()
            };
            let traffic = Traffic::new(paths.declared(&question));
            let by_client = ways(&traffic, host);
            for (patch, side) in patches {
                judge(cx, &patch, &side, &by_client, &by_pods, out);
            }
        }
    }
}

/// The proxies that a patch is for.
struct Side<'f> {
    gateways: bool,
    own: &'f str,
    line: Span,
}

impl<'f> Side<'f> {
    /// Nothing where those of all namespaces are, or what else may connect.
    fn of(cx: &Context<'_>, patch: &ClusterPatch<'f>) -> Option<Self> {
        let (context, own) = (patch.context?, patch.resource.namespace()?);
        let everywhere = own == cx.model.rules.root_namespace();
        let gateways = match context.value {
            PatchContext::SidecarOutbound => false,
            PatchContext::Gateway => true,
            _ => return None,
        };
        let judged = !everywhere && !patch.removes && patch.filter.target_refs.is_none();
        judged.then_some(Self {
            gateways,
            own,
            line: context.span,
        })
    }
}

fn judge(
    cx: &Context<'_>,
    patch: &ClusterPatch<'_>,
    side: &Side<'_>,
    by_client: &ByClient<'_>,
    by_pods: &BTreeSet<Option<&str>>,
    out: &mut Findings,
) {
    let (host, own) = (patch.host, side.own);
    let by_pods = by_pods.contains(&Some(own)) || by_pods.contains(&None);
    let found = if side.gateways {
        let closed = ["VirtualService", "HTTPRoute", "GRPCRoute"];
        let closed = closed.iter().all(|kind| cx.world.knows_all(kind));
        for_gateways(patch, own, by_client, closed)
            .filter(|_| !other_gateways_are_led_to(cx, host, own, by_client))
            .filter(|_| !cx.gateway_api().leads_gateways_to(host))
    } else if by_pods || cx.gateway_api().leads_sidecars_to(host) {
        None
    } else {
        for_sidecars(patch, own, by_client).filter(|_| !sidecars_are_led_to(cx, host, own))
    };
    let Some(found) = found.filter(|_| out.is_first(side.line)) else {
        return;
    };
    let line = by_client.values().next().map(|it| it.line);
    out.add(found.basis, side.line, found.message, |finding| {
        let lead = found.lead.map(|it| (it, "this leads to the gateway"));
        let line = line.map(|it| (it, "the external host"));
        let labels = lead.into_iter().chain(line);
        let finding = labels.fold(finding, |finding, (line, why)| finding.because(line, why));
        finding.help(found.help)
    });
}

/// Why a patch for sidecars of the namespace `own` changes nothing on the way to the host.
fn for_sidecars(
    patch: &ClusterPatch<'_>,
    own: &str,
    by_client: &ByClient<'_>,
) -> Option<Misplaced> {
    let host = patch.host;
    let selects_some = patch.filter.workload_selector.is_some();
    let (gateway, lead, basis) = match by_client.get(own) {
        Some(ways) if ways.direct => return None,
        // It may be for those that go another way.
        Some(_) if selects_some => return None,
        Some(ways) => {
            let (gateway, lead) = ways.gateways.first_key_value()?;
            (*gateway, *lead, Basis::Proven)
        }
        None => {
            let (gateway, lead) = own_gateway(own, by_client)?;
            let basis = match selects(patch, gateway) {
                Some(true) => Basis::Proven,
                Some(false) => return None,
                None => Basis::assuming(format!("no sidecar in `{own}` calls `{host}`")),
            };
            (gateway, lead, basis)
        }
    };
    let there = gateway.namespace().unwrap_or_default();
    Some(Misplaced {
        basis,
        message: format!(
            "this patch changes nothing on the way to `{host}`: the egress gateway in `{there}` connects to it, and no \
             sidecar of `{own}` does"
        ),
        help: format!("write `context: GATEWAY`, in the namespace `{there}`"),
        lead,
    })
}

/// Why a patch for gateways in the namespace `own` changes nothing on the way to the host. `closed`: no other
/// routes lead anywhere.
fn for_gateways(
    patch: &ClusterPatch<'_>,
    own: &str,
    by_client: &ByClient<'_>,
    closed: bool,
) -> Option<Misplaced> {
    if own_gateway(own, by_client).is_some() {
        return None;
    }
    let host = patch.host;
    let found = |basis, who: &str, help, lead| Misplaced {
        basis,
        message: format!(
            "this patch, for gateways in `{own}`, changes nothing on the way to `{host}`: {who}"
        ),
        help,
        lead,
    };
    Some(match by_client.get(own)?.gateways.first_key_value() {
        Some((gateway, lead)) => {
            let there = gateway.namespace().unwrap_or_default();
            let who = format!("the gateway in `{there}` connects to it");
            found(Basis::Proven, &who, format!("put it into `{there}`"), *lead)
        }
        None => {
            let basis = match closed {
                true => Basis::Proven,
                false => Basis::assuming("no VirtualService elsewhere leads through a gateway"),
            };
            let help = "write `context: SIDECAR_OUTBOUND`".to_owned();
            found(basis, "sidecars connect to it, and no gateway", help, None)
        }
    })
}

/// A gateway of the namespace that connects to the host.
fn own_gateway<'t>(own: &str, by_client: &ByClient<'t>) -> Option<(&'t Client, Option<Span>)> {
    let mut gateways = by_client.values().flat_map(|it| &it.gateways);
    let found = gateways.find(|(gateway, _)| gateway.namespace() == Some(own));
    found.map(|(gateway, lead)| (*gateway, *lead))
}

/// Whether a filter selects the pods of a gateway; `None` where it selects all.
fn selects(patch: &ClusterPatch<'_>, gateway: &Client) -> Option<bool> {
    let labels = patch
        .filter
        .workload_selector
        .as_ref()?
        .value
        .labels
        .as_ref()?;
    let labels = labels.value.iter();
    Some(gateway.has_labels(labels.map(|(key, value)| (key.value.as_str(), value.value.as_str()))))
}

/// The namespaces with Sidecars for single pods, which may go ways of their own; `None` where one is unknown.
fn sidecars_of_pods<'a>(cx: &Context<'a>) -> BTreeSet<Option<&'a str>> {
    let resources = cx.world.resources.iter();
    let of_pods = resources.filter(
        |it| matches!(&it.spec, Spec::Sidecar(sidecar) if sidecar.workload_selector.is_some()),
    );
    of_pods.map(|it| it.namespace()).collect()
}

/// Whether a rule for sidecars leads or mirrors straight to the host, whatever is called.
fn sidecars_are_led_to(cx: &Context<'_>, host: &str, own: &str) -> bool {
    let all = &cx.model.virtual_services;
    let led = all.routing_to(host);
    led.len() > HOSTS
        || led.iter().filter_map(|at| all.get(*at)).any(|routes| {
            let mut destinations = routes.destinations_of_sidecars().into_iter();
            all.exposure(routes, Some(own)).is_some() && destinations.any(|(it, _)| it == host)
        })
}

/// Whether a VirtualService leads a gateway to the host that may be in this namespace: one that is not known to be where
/// those are that reach it.
fn other_gateways_are_led_to(
    cx: &Context<'_>,
    host: &str,
    own: &str,
    by_client: &ByClient<'_>,
) -> bool {
    let known = by_client.values().flat_map(|it| it.gateways.keys());
    let known: BTreeSet<_> = known.filter_map(|it| it.namespace()).collect();
    let elsewhere = |binding: &Binding<'_>| match binding {
        Binding::Mesh => true,
        Binding::Gateway { namespace, .. } => {
            namespace.is_some_and(|it| it != own && known.contains(it))
        }
    };
    let all = &cx.model.virtual_services;
    let led = all.routing_gateways_to(host);
    led.len() > HOSTS
        || led
            .iter()
            .filter_map(|at| all.get(*at))
            .any(|routes| !routes.bindings.iter().all(elsewhere))
}

/// The ways to the host, by client.
fn ways<'t>(traffic: &'t Traffic<'_>, host: &str) -> ByClient<'t> {
    let mut by_client = ByClient::new();
    for reached in traffic.reached().filter(|it| it.path.host == host) {
        let Some(first) = reached.path.hops.first() else {
            continue;
        };
        let Some(client) = first.client().namespace() else {
            continue;
        };
        let ways = by_client.entry(client).or_insert_with(|| Ways {
            direct: false,
            gateways: BTreeMap::new(),
            line: reached.host_line(),
        });
        match reached.hop.client() {
            gateway if gateway.is_gateway() => {
                let chosen = first.result.clusters.get(first.chosen);
                let lead = chosen.and_then(|it| it.name.spans().first().copied());
                ways.gateways.entry(gateway).or_insert(lead);
            }
            _ => ways.direct = true,
        }
    }
    by_client
}
