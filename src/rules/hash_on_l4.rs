//! A hash of requests where no requests are seen.

use super::foreign::is_foreign;
use super::levels::levels;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Port};
use crate::istio::traffic::LoadBalancer;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "hash-on-l4",
        summary: "`consistentHash` of a part of the request has nothing to hash on a port where no HTTP is seen",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/hash-on-l4.md"),
    },
    build: super::plain::<HashOnL4>,
};

#[derive(Debug, Default)]
pub(super) struct HashOnL4;

/// So many ports of the hosts of a rule are looked at.
const PORTS: usize = 256;

/// More lines than that say nothing more.
const LABELS: usize = 3;

impl Check for HashOnL4 {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let mut hashes = levels(rule)
                .filter_map(|level| Some((level, hash(level.load_balancer?)?)))
                .peekable();
            let (Some(host), Some(_)) = (&rule.host, hashes.peek()) else {
                continue;
            };
            let hosts = cx.hosts_under(&host.value, resource.namespace());
            let mut others = hosts.iter().map(|it| it.definition.origin);
            if others.any(|origin| origin != Origin::ServiceEntry) {
                continue;
            }
            let ports = hosts.iter().flat_map(|it| {
                let ports = it.definition.ports.iter();
                ports.map(|port| (it.host, port))
            });
            let ports: Vec<_> = ports.take(PORTS + 1).collect();
            if ports.len() > PORTS {
                continue;
            }
            for (level, (name, key)) in hashes {
                let own = ports.iter().filter(|(_, it)| level.ports.hold(it.number));
                let own: Vec<_> = own.collect();
                let is_unseen = |(host, port): &(&str, &Port<'_>)| {
                    port.protocol.is_tcp() && !cx.http_reaches(host, port.number)
                };
                let Some((first, port)) =
                    own.first().filter(|_| own.iter().all(|it| is_unseen(it)))
                else {
                    continue;
                };
                let message = format!(
                    "`{name}` has nothing to hash: no HTTP is seen on port {} of `{first}`, and each connection goes \
                     to any address",
                    port.number
                );
                let basis = match own.iter().any(|(_, port)| is_foreign(port)) {
                    true => Basis::assuming("no other controller reads it"),
                    false => Basis::Proven,
                };
                out.add(basis, key, message, |finding| {
                    own.iter()
                        .take(LABELS)
                        .fold(finding, |finding, (_, port)| {
                            let line = port.line();
                            finding.because(line, format!("{} is passed on unseen", port.protocol.name()))
                        })
                        .help("hash by `useSourceIp`, or let a DestinationRule originate TLS for an HTTP port")
                });
            }
        }
    }
}

/// The part of the request that is hashed.
fn hash(balancer: &LoadBalancer) -> Option<(&'static str, Span)> {
    let hash = &balancer.consistent_hash.as_ref()?.value;
    let parts = [
        (
            "httpHeaderName",
            hash.http_header_name.as_ref().map(|it| it.key),
        ),
        ("httpCookie", hash.http_cookie.as_ref().map(|it| it.key)),
        (
            "httpQueryParameterName",
            hash.http_query_parameter_name.as_ref().map(|it| it.key),
        ),
    ];
    parts.into_iter().find_map(|(name, key)| Some((name, key?)))
}
