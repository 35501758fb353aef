//! Two hosts that TCP cannot tell apart.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::Speaks;
use crate::egress::namespace::{Same, same};
use crate::egress::path::{Hop, Path};
use crate::egress::service::{Definition, Resolution};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "tcp-port-conflict",
        summary: "connections to one host go to another one: TCP on one port cannot tell the two apart",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/tcp-port-conflict.md"),
    },
    build: super::plain::<TcpPortConflict>,
};

#[derive(Debug, Default)]
pub(super) struct TcpPortConflict;

impl Check for TcpPortConflict {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        if cx.allocates_addresses() {
            return;
        }
        for clash in clashes(cx, traffic, false, out) {
            let (why, help) = match clash.one_entry {
                true => (
                    "the hosts of one entry listen on one address, and the first takes all",
                    "give each host an entry of its own, with its own `addresses`",
                ),
                false => (
                    "both listen on every address, and the other entry came first",
                    "give each of the two entries its own `addresses`",
                ),
            };
            let message = format!(
                "connections to `{}` on port {} go to `{}`: {why}",
                clash.path.host, clash.path.port, clash.other
            );
            out.add(Basis::Proven, clash.port, message, |finding| {
                let other = clash.other_lines.into_iter();
                other
                    .fold(finding, |finding, [host, port]| {
                        let finding = finding.because(host, "the host that gets them");
                        finding.because(port, "its port, which has no address either")
                    })
                    .because(clash.host, "the host that gets none")
                    .help(help)
            });
        }
    }
}

/// A host whose TCP connections another host's entry takes.
pub(super) struct Clash<'c> {
    pub(super) path: &'c Path,
    pub(super) host: Span,
    pub(super) port: Span,
    pub(super) other: &'c str,
    /// Its host and its port, where they are written.
    pub(super) other_lines: Option<[Span; 2]>,
    /// Whether both are hosts of one ServiceEntry.
    pub(super) one_entry: bool,
}

/// The clashes of entries with or without addresses, each once.
pub(super) fn clashes<'c>(
    cx: &'c Context<'_>,
    traffic: &'c Traffic<'_>,
    with_address: bool,
    out: &mut Findings,
) -> Vec<Clash<'c>> {
    let mut found = Vec::new();
    for path in traffic.paths() {
        let (Some(declared), [only]) = (path.declared, path.hops.as_slice()) else {
            continue;
        };
        let definition = cx.model.registry.definitions().get(declared.definition);
        let addressed = definition.is_some_and(|it| !it.addresses.is_empty());
        let Some(name) = Hop::cluster_name(only).and_then(ClusterName::parse) else {
            continue;
        };
        let routed = cx.routes_for(&path.host).next().is_some();
        let elsewhere = path.speaks == Speaks::Tcp && name.host != path.host;
        if !elsewhere || routed || addressed != with_address || !out.is_first(declared.port) {
            continue;
        }
        let other = cx.model.registry.of_host(name.host).next();
        // What goes to the address that the client asked for goes right, under the other's name.
        let passes = |it: &Definition<'_>| it.resolution == Resolution::Passthrough;
        if definition.is_some_and(passes) && other.is_some_and(|it| passes(it.definition)) {
            continue;
        }
        // Where a namespace is unknown nobody knows whether its clients see both.
        let limited = |it: &Definition<'_>| !it.export_to.is_empty();
        let perhaps = definition.zip(other).is_some_and(|(own, other)| {
            let other = other.definition;
            let chosen =
                limited(own) || limited(other) || cx.model.sidecars.of(only.client()).is_some();
            let files = (own.resource.span.file, other.resource.span.file);
            chosen
                && match same(own.namespace(), other.namespace()) {
                    Same::Perhaps => true,
                    Same::No => false,
                    Same::Yes => {
                        own.namespace().is_none() && !cx.world.belong_together(files.0, files.1)
                    }
                }
        });
        if perhaps {
            continue;
        }
        found.push(Clash {
            path,
            host: declared.host,
            port: declared.port,
            other: name.host,
            other_lines: other.and_then(|it| {
                let port = it.port(name.port)?;
                let port = port.line();
                Some([it.host.line, port])
            }),
            one_entry: other.is_some_and(|it| {
                definition.is_some_and(|own| own.resource.span == it.definition.resource.span)
            }),
        });
    }
    found
}
