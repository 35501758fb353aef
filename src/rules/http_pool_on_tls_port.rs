//! Limits for HTTP on a host where the proxy sees none.

use std::collections::BTreeSet;

use super::context::Defined;
use super::levels::levels;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Port};
use crate::istio::resource::Resource;
use crate::istio::traffic::HttpPool;
use crate::source::Spanned;

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
            let Some(ports) = Ports::under(cx, host, resource) else {
                continue;
            };
            for (level, http) in pools {
                let numbers = ports.numbers.iter().copied();
                let numbers: Vec<u32> = numbers.filter(|it| level.ports.hold(*it)).collect();
                let is_unseen = !numbers.is_empty() && ports.are_unseen(&numbers);
                // An upgrade of the protocol is another matter.
                let only_upgrade = http.value.h2_upgrade_policy.is_some();
                let pending = http.value.http1_max_pending_requests.as_ref();
                let acts = pending.is_some() && !asks_for_http(&http.value);
                if is_unseen && !only_upgrade && !acts {
                    ports.say(host, &numbers, http, out);
                }
            }
        }
    }
}

/// The ports of the hosts that a rule is for, all of ServiceEntries.
struct Ports<'c> {
    all: Vec<&'c Port<'c>>,
    numbers: BTreeSet<u32>,
    /// Those on which no HTTP is seen.
    unseen: BTreeSet<u32>,
}

impl<'c> Ports<'c> {
    fn under(cx: &'c Context<'_>, host: &str, resource: &Resource) -> Option<Self> {
        let hosts = cx.hosts_under(host, resource.namespace());
        let is_external = |it: &Defined<'_>| it.definition.origin == Origin::ServiceEntry;
        let all: Vec<&Port<'_>> = hosts.iter().flat_map(|it| &it.definition.ports).collect();
        if !hosts.iter().all(is_external) || all.len() > PORTS {
            return None;
        }
        let is_unseen = |number: &u32| {
            let mut of_number = all.iter().filter(|port| port.number == *number);
            of_number.all(|port| port.protocol.is_tcp())
                && !hosts.iter().any(|it| cx.http_reaches(it.host, *number))
        };
        let numbers: BTreeSet<u32> = all.iter().map(|port| port.number).collect();
        Some(Self {
            unseen: numbers.iter().copied().filter(is_unseen).collect(),
            numbers,
            all,
        })
    }

    fn are_unseen(&self, numbers: &[u32]) -> bool {
        numbers.iter().all(|it| self.unseen.contains(it))
    }

    fn say(&self, host: &str, numbers: &[u32], http: &Spanned<HttpPool>, out: &mut Findings) {
        let (is, list) = match numbers {
            [one] => ("port", one.to_string()),
            several => {
                let several: Vec<String> = several.iter().map(u32::to_string).collect();
                ("ports", several.join(", "))
            }
        };
        let pending = http.value.http1_max_pending_requests.as_ref();
        let (what, help) = match pending {
            None => (
                "`connectionPool.http` has no effect",
                "remove it and limit connections under `tcp`, or let a DestinationRule originate TLS for an HTTP port",
            ),
            Some(_) => (
                "nothing here but `http1MaxPendingRequests` has an effect",
                "remove the rest and limit connections under `tcp`, or let a DestinationRule originate TLS for an HTTP port",
            ),
        };
        let message = format!("{what}: no HTTP is seen on {is} {list} of `{host}`");
        out.add(Basis::Proven, http.key, message, |finding| {
            let finding = pending.into_iter().fold(finding, |finding, it| {
                finding.because(it.key, "connections that are being set up count as pending")
            });
            let ports = self.all.iter().filter(|it| numbers.contains(&it.number));
            ports
                .take(LABELS)
                .fold(finding, |finding, port| {
                    let why = format!("{} is passed on unseen", port.protocol.name());
                    finding.because(port.line(), why)
                })
                .help(help)
        });
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
