//! TLS around raw TCP that names no host.

use super::traffic::{Reached, Traffic};
use super::{Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::facts::{Handler, Speaks, TlsFacts};
use crate::egress::host::is_wildcard;
use crate::source::Span;
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "tcp-origination-without-sni",
        summary: "TLS originated for TCP sends no server name",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/tcp-origination-without-sni.md"),
    },
    build: super::plain::<TcpOriginationWithoutSni>,
};

#[derive(Debug, Default)]
pub(super) struct TcpOriginationWithoutSni;

impl Check for TcpOriginationWithoutSni {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let Some(TlsFacts::Explicit(tls)) = &reached.cluster.tls.value else {
                continue;
            };
            let tcp = reached.hop.result.handler == Some(Handler::Tcp);
            let raw = reached.hop.call.speaks == Speaks::Tcp;
            let Some(&place) = tls.mode.spans().first() else {
                continue;
            };
            let own = matches!(tls.mode.value, "SIMPLE" | "MUTUAL");
            if !tcp || !raw || !own || tls.sni.is_some() || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "TLS to `{}` carries no SNI, which Istio sets for HTTP only: a server that chooses its certificate by \
                 name refuses, or sends another",
                reached.destination()
            );
            out.add(reached.basis_of_bytes(cx), place, message, |finding| {
                finding
                    .because(reached.port_line(), "no HTTP is seen on this port")
                    .because(reached.host_line(), "the external host")
                    .absent("sni")
                    .help(format!("set `sni: {}`", reached.path.host))
                    .fix(fix(cx, &reached, place))
            });
        }
    }
}

/// On a port with HTTP a name that is set would switch the automatic check of the certificate off.
fn fix(cx: &Context<'_>, reached: &Reached<'_>, mode: Span) -> Option<Fix> {
    let host = reached.path.host.as_str();
    let mut ports = reached.definition(cx)?.ports.iter();
    let http = ports.any(|port| cx.http_reaches(host, port.number));
    if http || is_wildcard(host) || !reached.has_rule_of_its_own(cx) {
        return None;
    }
    let name = Value::from(host);
    let edit = cx.texts.edit(mode, |it| it.insert_beside("sni", &name))?;
    Some(Fix::new(
        Safety::Safe,
        format!("send `{host}` as the server name"),
        edit,
    ))
}
