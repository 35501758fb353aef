//! A server name with which no server of the gateway is reached.

use std::cell::LazyCell;

use super::context::existing;
use super::gateway_servers::{GatewayServers, hosts_by_name};
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::TlsFacts;
use crate::egress::host::{is_wildcard, subset_of};
use crate::egress::path::Hop;
use crate::istio::resource::Spec;
use crate::istio::traffic::ClientTlsMode;
use crate::source::Span;
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "gateway-sni-mismatch",
        summary: "the server name sent to the egress gateway is none of the Gateway's hosts: the connection is closed",
        severity: Severity::Error,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/gateway-sni-mismatch.md"),
    },
    build: super::plain::<GatewaySniMismatch>,
};

#[derive(Debug, Default)]
pub(super) struct GatewaySniMismatch;

impl Check for GatewaySniMismatch {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        let mut servers = GatewayServers::new(cx);
        let forwards = LazyCell::new(|| forwards_names(cx));
        let legs = traffic.paths().iter().flat_map(|path| path.hops.windows(2));
        for leg in legs {
            let [hop, at_gateway] = leg else { continue };
            let Some(sent) = Sent::of(cx, hop) else {
                continue;
            };
            let servers = servers.at(at_gateway).unwrap_or_default();
            let (Some(hosts), Some(first)) = (hosts_by_name(&servers), servers.first()) else {
                continue;
            };
            if hosts.iter().any(|host| subset_of(&sent.name, &host.value))
                || !sent.written && *forwards
            {
                continue;
            }
            if !out.is_first(sent.place) {
                continue;
            }
            let how = if sent.written { "" } else { ", Istio's own," };
            let message = format!(
                "the server name `{}`{how} is none of the Gateway's hosts on port {}: no filter chain takes the \
                 connection, which is closed",
                sent.name, first.number
            );
            out.add(Basis::Proven, sent.place, message, |mut finding| {
                if !sent.written {
                    finding = finding.absent("sni");
                }
                let wanted = match hosts.as_slice() {
                    [only] if !is_wildcard(&only.value) => Some(only.value.as_str()),
                    _ => None,
                };
                let help = match wanted {
                    Some(host) => format!("set `sni: {host}`"),
                    None => "set `sni` to a host of the Gateway's server".to_owned(),
                };
                let lines = hosts.iter().take(3);
                lines
                    .fold(finding, |finding, host| {
                        finding.because(host.span, "a server's host")
                    })
                    .help(help)
                    .fix(wanted.and_then(|host| fix(cx, &sent, host)))
            });
        }
    }
}

/// Whether an EnvoyFilter has sidecars send on the name that the application asks for, in place of Istio's own.
fn forwards_names(cx: &Context<'_>) -> bool {
    let mut filters = existing(cx.world).filter(|it| matches!(it.spec, Spec::EnvoyFilter(_)));
    filters.any(|it| cx.sources.text(it.span).contains("forward_downstream_sni"))
}

/// The server name that a sidecar sends to a gateway.
struct Sent {
    name: String,
    /// Where it, or else the mode, is written.
    place: Span,
    written: bool,
}

impl Sent {
    /// `None` where no TLS is originated, or where the name is that of each request.
    fn of(cx: &Context<'_>, hop: &Hop) -> Option<Self> {
        match &hop.cluster {
            Some(cluster) => match &cluster.tls.value {
                Some(TlsFacts::Explicit(tls)) => {
                    let (sni, mode) = (tls.sni.as_ref()?, tls.mode.spans().first()?);
                    let written = sni.spans().first().copied();
                    // The line of a mode also carries the name that Istio makes of it.
                    let written = written.filter(|line| line != mode);
                    Some(Self {
                        name: sni.value.to_string(),
                        place: written.unwrap_or(*mode),
                        written: written.is_some(),
                    })
                }
                _ => None,
            },
            None => Self::without_service(cx, &ClusterName::parse(hop.cluster_name()?)?),
        }
    }

    /// The same by the rule for the gateway's name, where its Service is not among the files.
    fn without_service(cx: &Context<'_>, cluster: &ClusterName<'_>) -> Option<Self> {
        let tls = cx.model.rules.tls_of_unknown(cluster)?;
        let mode = tls.value.mode.as_ref()?;
        if mode.value != ClientTlsMode::IstioMutual {
            return None;
        }
        let sni = tls.value.sni.as_ref().filter(|it| !it.value.is_empty());
        Some(match sni {
            Some(sni) => Self {
                name: sni.value.to_string(),
                place: sni.span,
                written: true,
            },
            None => Self {
                name: format!(
                    "outbound_.{}_.{}_.{}",
                    cluster.port, cluster.subset, cluster.host
                ),
                place: mode.span,
                written: false,
            },
        })
    }
}

fn fix(cx: &Context<'_>, sent: &Sent, host: &str) -> Option<Fix> {
    let name = Value::from(host);
    let edit = match sent.written {
        true => return None,
        false => cx
            .texts
            .edit(sent.place, |it| it.insert_beside("sni", &name))?,
    };
    Some(Fix::new(
        Safety::Unsafe,
        format!("send `{host}` as the server name"),
        edit,
    ))
}
