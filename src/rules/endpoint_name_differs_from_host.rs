//! TLS to endpoints that may not know the name they are asked for.

use std::net::IpAddr;

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::{Handler, TlsFacts};
use crate::egress::host::is_wildcard;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "endpoint-name-differs-from-host",
        summary: "endpoints have names of their own, and TLS asks them for the host's name and certificate",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/endpoint-name-differs-from-host.md"),
    },
    build: super::plain::<EndpointNameDiffersFromHost>,
};

#[derive(Debug, Default)]
pub(super) struct EndpointNameDiffersFromHost;

impl Check for EndpointNameDiffersFromHost {
    fn check_traffic(&self, _: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let (hop, cluster, host) = (reached.hop, reached.cluster, &reached.path.host);
            let Some(TlsFacts::Explicit(tls)) = &cluster.tls.value else {
                continue;
            };
            let own = matches!(tls.mode.value, "SIMPLE" | "MUTUAL");
            let by_request = cluster.auto_sni && tls.sans.value.is_empty();
            let route = hop.result.route.as_ref();
            let rewritten = route.is_some_and(|it| it.host_rewrite.is_some());
            let http = hop.result.handler == Some(Handler::Http);
            if !own || !by_request || rewritten || !http || is_wildcard(host) {
                continue;
            }
            let differs = |address: &str| {
                let is_name = !address.contains('/') && address.parse::<IpAddr>().is_err();
                is_name && !address.eq_ignore_ascii_case(host)
            };
            let mut endpoints = cluster.endpoints.iter().map(|it| &it.address);
            let Some(endpoint) = endpoints.find(|it| differs(&it.value)) else {
                continue;
            };
            let Some(&place) = endpoint.spans().first().filter(|it| out.is_first(**it)) else {
                continue;
            };
            let message = format!(
                "`{}` is asked for `{host}`: the Host header, the SNI and the name that its certificate must have all \
                 come from the request",
                endpoint.value
            );
            let basis = Basis::assuming("the endpoint serves its own name only");
            out.add(basis, place, message, |finding| {
                let mode = tls.mode.spans().iter();
                mode.fold(finding, |finding, line| {
                    finding.because(*line, "TLS is originated, with no name of its own")
                })
                .because(reached.host_line(), "the name of the request")
                .help("rewrite the `authority` in a VirtualService, or set `sni` and `subjectAltNames` to what the \
                       endpoints serve")
            });
        }
    }
}
