//! A gateway that has nothing for what sidecars send it.

use super::gateway_servers::{GatewayServers, hosts_by_name};
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{CallError, Speaks, TlsFacts};
use crate::egress::gateway::GatewayServer;
use crate::egress::host::{is_wildcard, subset_of};
use crate::egress::path::Hop;
use crate::istio::decode::Items;
use crate::istio::proxy::Gateway;
use crate::istio::resource::Resource;
use crate::source::{FileId, Span};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "gateway-drops-request",
        summary: "the egress gateway has no route for what sidecars send it, or expects another protocol",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/gateway-drops-request.md"),
    },
    build: super::plain::<GatewayDropsRequest>,
};

#[derive(Debug, Default)]
pub(super) struct GatewayDropsRequest;

impl Check for GatewayDropsRequest {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        let mut servers = GatewayServers::new(cx);
        for path in traffic.paths() {
            let [.., sender, gateway] = path.hops.as_slice() else {
                continue;
            };
            let Some(error) = gateway
                .result
                .error
                .filter(|_| gateway.client().is_gateway())
            else {
                continue;
            };
            let Some(servers) = servers.at(gateway) else {
                continue;
            };
            let leg = Leg {
                sender,
                gateway,
                servers,
            };
            // The rules for a Gateway whose name is not known yet may be there.
            let gateways = cx.model.gateways.of(gateway.client());
            if gateways.iter().any(|(it, _)| is_unnamed(it)) {
                continue;
            }
            let Some(&sent) = sent_by(sender).first() else {
                continue;
            };
            let failure = match leg.servers.is_empty() {
                true => leg.without_server(cx, &gateways),
                false => leg.failure(cx, error, &path.host),
            };
            let Some(failure) = failure.filter(|_| out.is_first(sent)) else {
                continue;
            };
            let message = format!(
                "the gateway fails what is sent to it for `{}`: {}",
                super::host_and_port(&path.host, path.port),
                failure.what
            );
            // Another folder may hold another Gateway of that name, which takes it.
            let (a, b) = (failure.place.file, sent.file);
            let basis = match failure.basis {
                Basis::Proven => Basis::together(cx.world.is_one_choice(a, b)),
                assuming => assuming,
            };
            out.add(basis, failure.place, message, |finding| {
                let tls = failure.tls.into_iter();
                tls.fold(finding, |finding, line| {
                    finding.because(line, "TLS is originated here")
                })
                .because(sent, "it is sent from here")
                .help(failure.help)
            });
        }
    }

    fn says_absence(&self) -> bool {
        true
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &[
            "gateway-host-mismatch",
            "gateway-port-mismatch",
            "gateway-unknown",
            "match-gateway-not-listed",
            "routes-on-passthrough-server",
            "tls-routes-on-terminating-server",
        ]
    }
}

/// The way from a sidecar to a gateway, at whose end what is sent fails.
struct Leg<'p, 'c> {
    sender: &'p Hop,
    gateway: &'p Hop,
    /// Those on the port at which it arrives.
    servers: Vec<&'p GatewayServer<'c>>,
}

struct Failure {
    basis: Basis,
    place: Span,
    what: String,
    help: String,
    /// Where TLS is originated that nobody expects.
    tls: Option<Span>,
}

impl Leg<'_, '_> {
    /// Why the servers on the port do not take it.
    fn failure(&self, cx: &Context<'_>, error: CallError, host: &str) -> Option<Failure> {
        let (port, place) = self.port()?;
        let no_route = |what: String| {
            Failure {
            basis: match cx.world.knows_all_beside("VirtualService", place.file) {
                true => Basis::Proven,
                false => Basis::assuming("no VirtualService elsewhere has a route for it there"),
            },
            place,
            what,
            help: "write a rule for the gateway, whose `gateways` and `port` are those of the Gateway's server".into(),
            tls: None,
        }
        };
        match error {
            CallError::Protocol | CallError::NoFilterChain if self.is_plain_for_tls() => {
                let service = self.sender.cluster_name().and_then(ClusterName::parse);
                let service = service.map_or("", |name| name.host);
                Some(Failure {
                    basis: self.basis_of_plain(cx, service, place.file),
                    place,
                    what: format!("its server on port {port} expects TLS, and nothing originates it"),
                    help: format!(
                        "originate TLS for `{service}` with a DestinationRule whose `sni` is a host of the Gateway's server"
                    ),
                    tls: None,
                })
            }
            CallError::Protocol if let Some(line) = self.originated(cx) => Some(Failure {
                basis: Basis::Proven,
                place,
                what: format!("its server on port {port} expects no TLS"),
                help: "give `tls` to the port that expects it with `portLevelSettings`, or let this server end TLS \
                       (`ISTIO_MUTUAL`)"
                    .into(),
                tls: Some(line),
            }),
            CallError::Protocol => Some(Failure {
                basis: Basis::Proven,
                place,
                what: "the server speaks another protocol".into(),
                help: "give the server of the Gateway the protocol of what is sent to it, or lead it to another port"
                    .into(),
                tls: None,
            }),
            CallError::NoRoute | CallError::NoVirtualHost => Some(no_route(format!(
                "none of its routes on port {port} takes it"
            ))),
            CallError::NoListener | CallError::NoFilterChain if self.passes_through(host) => Some(
                no_route(format!("none of its `tls` rules on port {port} takes it")),
            ),
            CallError::NoListener | CallError::NoFilterChain => None,
        }
    }

    /// No server of the gateway is on the port to which the Service leads.
    fn without_server(
        &self,
        cx: &Context<'_>,
        gateways: &[(&Resource, &Gateway)],
    ) -> Option<Failure> {
        // Without the Service nobody knows to which port of the pods it leads.
        self.sender.cluster.as_ref()?;
        let sent = ClusterName::parse(self.sender.cluster_name()?)?.port;
        let servers = gateways.iter().flat_map(|(_, it)| it.servers.items());
        let ports = servers.filter_map(|it| it.value.port.as_ref()?.value.number.as_ref());
        let ports: Vec<_> = ports.take(SERVERS).collect();
        // Where such a server stands on another port of the pods, its Services are not known well enough.
        if ports.iter().any(|it| it.value == i64::from(sent)) {
            return None;
        }
        let place = ports.first()?.span;
        let numbers = ports.iter().take(PORTS).map(|it| it.value.to_string());
        let numbers: Vec<String> = numbers.collect();
        Some(Failure {
            basis: match cx.world.knows_all_beside("Gateway", place.file) {
                true => Basis::Proven,
                false => Basis::assuming("no Gateway elsewhere has a server on that port"),
            },
            place,
            what: format!(
                "it has no server on port {sent}, only on {}",
                numbers.join(", ")
            ),
            help: format!(
                "lead it to the port of the Gateway's server, or add a server on port {sent}"
            ),
            tls: None,
        })
    }

    /// The port of the server that has it, and its line; of the first server where none has it.
    fn port(&self) -> Option<(u32, Span)> {
        let lines = &self.gateway.result.handler_lines;
        self.servers.iter().find_map(|server| {
            let port = server.written.value.port.as_ref()?;
            let line = port.value.protocol.as_ref().map(|it| it.span);
            let decides = lines.is_empty() || line.is_some_and(|line| lines.contains(&line));
            let number = port.value.number.as_ref().filter(|_| decides)?;
            Some((server.number, number.span))
        })
    }

    /// The line that originates TLS on the way to the gateway.
    fn originated(&self, cx: &Context<'_>) -> Option<Span> {
        if self.sender.call.speaks == Speaks::Tls || self.gateway.call.speaks != Speaks::Tls {
            return None;
        }
        match self.sender.cluster.as_ref().map(|it| &it.tls.value) {
            Some(Some(TlsFacts::Explicit(tls))) => tls.mode.spans().first().copied(),
            Some(_) => None,
            None => {
                let cluster = ClusterName::parse(self.sender.cluster_name()?)?;
                let tls = cx.model.rules.tls_of_unknown(&cluster)?;
                tls.value.mode.as_ref().map(|mode| mode.span)
            }
        }
    }

    /// Whether what is sent in plain text meets servers that all end TLS.
    fn is_plain_for_tls(&self) -> bool {
        self.gateway.call.speaks != Speaks::Tls && hosts_by_name(&self.servers).is_some()
    }

    /// What it rests on that nothing encrypts it on the way to servers that end TLS.
    fn basis_of_plain(&self, cx: &Context<'_>, service: &str, file: FileId) -> Basis {
        let cluster = self.sender.cluster.as_ref();
        let own = match cluster.map(|it| &it.tls.value) {
            Some(Some(TlsFacts::Auto { sni, .. })) => sni.as_deref(),
            _ => None,
        };
        let hosts = hosts_by_name(&self.servers).unwrap_or_default();
        let is_taken = |name: &str| hosts.iter().any(|host| subset_of(name, &host.value));
        // Mostly the name that Istio's own mutual TLS carries is none of theirs, so that it is no help.
        if own.is_some_and(is_taken) {
            return Basis::assuming("the gateway takes no part in automatic mutual TLS");
        }
        match cx.world.knows_all_beside("DestinationRule", file)
            || self.is_ruled_by_own_namespace(cx, service)
        {
            true => Basis::Proven,
            false => Basis::assuming(format!(
                "no DestinationRule elsewhere originates TLS for `{service}`"
            )),
        }
    }

    /// Whether the client's own namespace has a DestinationRule for just this host, before which no other comes.
    fn is_ruled_by_own_namespace(&self, cx: &Context<'_>, service: &str) -> bool {
        let own = self.sender.client().namespace();
        let mut rules = cx.rules_for(service);
        rules.any(|(resource, rule)| {
            let host = rule.host.as_ref();
            own.is_some()
                && resource.namespace() == own
                && host.is_some_and(|it| !is_wildcard(&it.value))
        })
    }

    /// Whether the TLS of a client meets a server that passes it on by its name.
    fn passes_through(&self, host: &str) -> bool {
        let cluster = self.sender.cluster.as_ref();
        let encrypts =
            cluster.is_some_and(|it| matches!(it.tls.value, Some(TlsFacts::Explicit(_))));
        let serves = |server: &&GatewayServer<'_>| {
            let mut hosts = server.hosts.iter();
            server.passes_through()
                && hosts
                    .by_ref()
                    .take(SERVERS)
                    .any(|it| subset_of(host, it.name))
        };
        self.gateway.call.speaks == Speaks::Tls
            && !encrypts
            && self.servers.iter().take(SERVERS).any(serves)
    }
}

/// So many servers on a port, and hosts of one, are looked at.
const SERVERS: usize = 64;

/// So many ports of a gateway are named.
const PORTS: usize = 8;

/// Whether its name will be filled in.
fn is_unnamed(gateway: &Resource) -> bool {
    let name = gateway.meta.name.as_ref();
    name.is_none_or(|name| gateway.placeholders().contains(&name.span))
}

/// The lines that name where a hop sends it.
fn sent_by(hop: &Hop) -> &[Span] {
    let chosen = hop.result.clusters.get(hop.chosen);
    chosen.map_or(&[], |cluster| cluster.name.spans())
}
