//! Limits for HTTP on a host where the proxy sees none.

use std::collections::BTreeSet;

use super::levels::levels;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Port};
use crate::istio::traffic::HttpPool;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "http-pool-on-tls-port",
        summary: "`connectionPool.http` has no effect: no HTTP is seen on any port of the host",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/http-pool-on-tls-port.md"),
    },
    build: super::plain::<HttpPoolOnTlsPort>,
};

#[derive(Debug, Default)]
pub(super) struct HttpPoolOnTlsPort;

/// More lines than that say nothing more.
const LABELS: usize = 3;

/// A rule for more ports than this is for none in particular.
const PORTS: usize = 256;

impl Check for HttpPoolOnTlsPort {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let mut pools = levels(rule)
                .filter_map(|level| Some((level, level.connection_pool?.value.http.as_ref()?)))
                .peekable();
            let (Some(host), Some(_)) = (&rule.host, pools.peek()) else {
                continue;
            };
            let hosts = cx.hosts_under(&host.value, resource.namespace());
            if hosts
                .iter()
                .any(|it| it.definition.origin != Origin::ServiceEntry)
            {
                continue;
            }
            let ports: Vec<&Port<'_>> = hosts.iter().flat_map(|it| &it.definition.ports).collect();
            if ports.len() > PORTS {
                continue;
            }
            let is_unseen = |number: &u32| {
                let mut of_number = ports.iter().filter(|port| port.number == *number);
                of_number.all(|port| port.protocol.is_tcp())
                    && !hosts.iter().any(|it| cx.http_reaches(it.host, *number))
            };
            let numbers: BTreeSet<u32> = ports.iter().map(|port| port.number).collect();
            let unseen: BTreeSet<u32> = numbers.iter().copied().filter(is_unseen).collect();
            for (level, http) in pools {
                let numbers = numbers.iter().copied();
                let numbers: Vec<u32> = numbers.filter(|it| level.ports.hold(*it)).collect();
                // An upgrade of the protocol is another matter.
                let only_upgrade = http.value.h2_upgrade_policy.is_some();
                let pending = http.value.http1_max_pending_requests.as_ref();
                if numbers.is_empty()
                    || only_upgrade
                    || pending.is_some() && !asks_for_http(&http.value)
                    || !numbers.iter().all(|it| unseen.contains(it))
                {
                    continue;
                }
                let (is, list) = match numbers.as_slice() {
                    [one] => ("port", one.to_string()),
                    _ => (
                        "ports",
                        numbers
                            .iter()
                            .map(u32::to_string)
                            .collect::<Vec<_>>()
                            .join(", "),
                    ),
                };
                let (what, help) = match pending {
                    None => (
                        "`connectionPool.http` has no effect",
                        "remove it and limit connections under `tcp`, or let a DestinationRule originate TLS for an HTTP \
                         port",
                    ),
                    Some(_) => (
                        "nothing here but `http1MaxPendingRequests` has an effect",
                        "remove the rest and limit connections under `tcp`, or let a DestinationRule originate TLS for an \
                         HTTP port",
                    ),
                };
                let message = format!("{what}: no HTTP is seen on {is} {list} of `{}`", host.value);
                out.add(Basis::Proven, http.key, message, |finding| {
                    let finding = pending.into_iter().fold(finding, |finding, it| {
                        finding
                            .because(it.key, "connections that are being set up count as pending")
                    });
                    let ports = ports.iter().filter(|port| numbers.contains(&port.number));
                    ports
                        .take(LABELS)
                        .fold(finding, |finding, port| {
                            let line = port.line();
                            finding.because(
                                line,
                                format!("{} is passed on unseen", port.protocol.name()),
                            )
                        })
                        .help(help)
                });
            }
        }
    }
}

/// Whether something is set that only requests can make use of. How many may be pending also holds for connections.
fn asks_for_http(pool: &HttpPool) -> bool {
    pool.http2_max_requests.is_some()
        || pool.max_requests_per_connection.is_some()
        || pool.max_retries.is_some()
        || pool.idle_timeout.is_some()
        || pool.use_client_protocol.is_some()
        || pool.max_concurrent_streams.is_some()
        || pool.http2_keep_alive.is_some()
}
