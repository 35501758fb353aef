//! Logical DNS for a host whose addresses are moved on purpose.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::clusters::Cluster;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::config::{Class, HostFacts};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::facts::{ClusterType, Traced};
use crate::egress::service::Resolution;
use crate::source::Span;
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "logical-dns-on-gslb",
        summary: "logical DNS keeps requests on an address that the GSLB has left",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/logical-dns-on-gslb.md"),
    },
    build: super::plain::<LogicalDnsOnGslb>,
};

#[derive(Debug, Default)]
pub(super) struct LogicalDnsOnGslb;

impl Check for LogicalDnsOnGslb {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        // By the line that makes it logical: the worst that it does to one of its hosts and ports.
        let mut lines: BTreeMap<Span, (Harm, HostFacts, &Cluster<'_>)> = BTreeMap::new();
        for cluster in cx.clusters() {
            let cluster_type = &cluster.facts.cluster_type;
            let Some(&line) = cluster_type.spans().first() else {
                continue;
            };
            let is_name = |address: &str| address.parse::<IpAddr>().is_err();
            let by_name = cluster.facts.endpoints.iter().any(|e| is_name(&e.address));
            if cluster_type.value != ClusterType::LogicalDns || !by_name {
                continue;
            }
            let facts = cx.facts(cluster.service.definition.resource, cluster.service.name());
            let Some(harm) = Harm::of(cx, cluster, &facts) else {
                continue;
            };
            let known = lines.get(&line);
            if known.is_none_or(|(worst, ..)| harm < *worst) {
                lines.insert(line, (harm, facts, cluster));
            }
        }
        for (line, (harm, facts, cluster)) in lines {
            report(cx, line, &harm, &facts, cluster, out);
        }
    }
}

/// What logical DNS does to a host, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Harm {
    /// One connection carries all requests, and stays.
    Everything,
    /// Requests stay on pooled connections.
    Pinned,
    /// The same, but connections end after this many milliseconds.
    PinnedFor(i64),
    /// The same, but connections end after this many requests.
    PinnedUntil(u32),
    /// Not measured, whether requests stay.
    Unmeasured,
    /// Requests follow, or there are none to follow: what is left is one host and no trace of the switch.
    OneHost,
    /// Nobody says what kind of host it is.
    Unclassified,
}

impl Harm {
    fn of(cx: &Context<'_>, cluster: &Cluster<'_>, facts: &HostFacts) -> Option<Self> {
        let on_gslb = Self::on_gslb(cx, cluster, facts);
        match facts.class {
            Some(class) if class.value == Class::Gslb => Some(on_gslb),
            Some(_) => None,
            None => (on_gslb < Self::OneHost).then_some(Self::Unclassified),
        }
    }

    fn on_gslb(cx: &Context<'_>, cluster: &Cluster<'_>, facts: &HostFacts) -> Self {
        if !cluster.http {
            return Self::OneHost;
        }
        match cx.version.drains_logical_dns() {
            None => return Self::Unmeasured,
            Some(true) => return Self::OneHost,
            Some(false) => {}
        }
        let limit = |limit: &Option<Traced<u32>>| limit.as_ref().map_or(0, |limit| limit.value);
        let requests = limit(&cluster.facts.max_requests_per_connection);
        let longest = cluster.facts.max_connection_duration_ms.as_ref();
        match longest
            .map(|longest| longest.value)
            .filter(|longest| *longest > 0)
        {
            // A connection for each request: nothing is pinned.
            _ if requests == 1 => Self::OneHost,
            Some(longest) if facts.drain_ms.is_some_and(|drain| longest <= drain.value) => {
                Self::OneHost
            }
            Some(longest) => Self::PinnedFor(longest),
            None if requests > 0 => Self::PinnedUntil(requests),
            None if cluster.facts.http2.value => Self::Everything,
            None => Self::Pinned,
        }
    }
}

fn report(
    cx: &Context<'_>,
    line: Span,
    harm: &Harm,
    facts: &HostFacts,
    cluster: &Cluster<'_>,
    out: &mut Findings,
) {
    let destination = cluster.destination();
    let version = cx.version;
    let (basis, message) = match *harm {
        Harm::Everything => (
            Basis::Proven,
            format!(
                "logical DNS keeps all requests to {destination} on one HTTP/2 connection: when its address dies \
                 silently, every request fails although the GSLB has moved (Istio {version})"
            ),
        ),
        Harm::Pinned => (
            Basis::Proven,
            format!(
                "logical DNS keeps requests to {destination} on the old address after the GSLB has moved, as long as \
                 that one answers (Istio {version})"
            ),
        ),
        Harm::PinnedFor(longest) => (
            match facts.drain_ms {
                Some(_) => Basis::Proven,
                None => Basis::assuming("the old address does not live that long after a move"),
            },
            format!(
                "logical DNS keeps requests to {destination} on the old address for up to {} s after the GSLB has moved \
                 (Istio {version})",
                longest.saturating_add(999) / 1000
            ),
        ),
        Harm::PinnedUntil(requests) => (
            Basis::assuming("connections need too long for that many requests"),
            format!(
                "logical DNS keeps requests to {destination} on the old address after the GSLB has moved, up to \
                 {requests} for each connection (Istio {version})"
            ),
        ),
        Harm::Unmeasured => (
            Basis::assuming(format!(
                "Istio {version} still keeps the connections, which was not measured"
            )),
            format!(
                "logical DNS may keep requests to {destination} on the old address after the GSLB has moved"
            ),
        ),
        Harm::OneHost => (
            Basis::assuming("outlier detection or the record of a move matters for this host"),
            format!(
                "logical DNS makes one host of all addresses of {destination}: none of them can be ejected, and \
                     a move of the GSLB is not told from the outside"
            ),
        ),
        Harm::Unclassified => (
            Basis::assuming("its addresses are moved on purpose"),
            format!(
                "logical DNS is wrong for {destination} if it is behind a GSLB, and right if it is behind a CDN"
            ),
        ),
    };
    let basis = match &facts.class {
        Some(class) if !class.is_given() && basis == Basis::Proven => {
            Basis::assuming("the host is behind a GSLB, as its name says")
        }
        _ => basis,
    };
    let definition = cluster.service.definition;
    let by_annotation = definition.resolution == Resolution::Dns;
    out.add(basis, line, message, |mut finding| {
        finding = finding.because(cluster.service.host.line, "the host");
        if let Some(line) = facts.class.as_ref().and_then(|class| class.span()) {
            finding = finding.because(line, "the GSLB moves its addresses");
        }
        let port = cluster.port;
        let what = match cluster.http {
            true => "HTTP: connections are pooled and reused",
            false => "no HTTP is seen: new connections follow the GSLB",
        };
        finding = finding.because(port.protocol_line.unwrap_or(port.number_line), what);
        let pool = [
            cluster.facts.max_connection_duration_ms.as_ref().map(|limit| limit.spans()),
            cluster.facts.max_requests_per_connection.as_ref().map(|limit| limit.spans()),
        ];
        for line in pool.into_iter().flatten().flatten() {
            finding = finding.because(*line, "ends connections");
        }
        if let Some(line) = facts.drain_ms.as_ref().and_then(|drain| drain.span()) {
            finding = finding.because(line, "how long the old address lives");
        }
        if *harm == Harm::Unclassified {
            return finding.help(
                "say what it is: `class: gslb`, `cdn` or `fixed` under `hosts:` in egress-lint.yaml, or the annotation \
                 `egress-lint/class`",
            );
        }
        if by_annotation {
            return finding.help("remove the annotation, which makes logical DNS out of `resolution: DNS`");
        }
        finding = finding.help("use `resolution: DNS`: each address is a host, and one that leaves the answer is drained");
        finding.fix(fix(cx, line, cluster).filter(|_| *harm <= Harm::Unmeasured))
    });
}

/// `DNS` for all hosts of the entry, unless one of them is of another kind.
fn fix(cx: &Context<'_>, line: Span, cluster: &Cluster<'_>) -> Option<Fix> {
    let definition = cluster.service.definition;
    let gslb = |host: &str| {
        let class = cx.facts(definition.resource, host).class;
        class.is_some_and(|class| class.value == Class::Gslb)
    };
    if !definition.hosts.iter().all(|host| gslb(&host.name)) {
        return None;
    }
    let edit = cx.texts.edit(line, |it| it.set(&Value::from("DNS")))?;
    let message = "resolve each address to a host";
    Some(Fix::new(Safety::Safe, message, edit))
}
