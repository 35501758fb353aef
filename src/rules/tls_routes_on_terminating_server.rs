//! Rules by server name at a server that ends TLS.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::overlaps;
use crate::egress::virtual_service::Binding;
use crate::istio::decode::Items;
use crate::istio::proxy::{Server, ServerTlsMode};
use crate::source::Spanned;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "tls-routes-on-terminating-server",
        summary: "`tls` rules for a Gateway server that ends TLS are not used",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/tls-routes-on-terminating-server.md"),
    },
    build: super::plain::<TlsRoutesOnTerminatingServer>,
};

#[derive(Debug, Default)]
pub(super) struct TlsRoutesOnTerminatingServer;

/// So many Gateways of one VirtualService are looked at.
const GATEWAYS: usize = 16;

impl Check for TlsRoutesOnTerminatingServer {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, service) in cx.virtual_services() {
            let Some(tls) = service.tls.as_ref().filter(|it| !it.value.is_empty()) else {
                continue;
            };
            let bindings = service.gateways.items().iter();
            let bindings: Vec<Binding<'_>> = bindings
                .map(|it| Binding::parse(&it.value, resource.namespace()))
                .collect();
            if bindings.is_empty() || bindings.contains(&Binding::Mesh) {
                continue;
            }
            let mut servers: Vec<&Spanned<Server>> = Vec::new();
            let mut complete = bindings.len() <= GATEWAYS;
            for binding in bindings.iter().take(GATEWAYS) {
                let Binding::Gateway { namespace, name } = binding else {
                    continue;
                };
                let known = cx.model.gateways.named(*namespace, name);
                complete &= !known.is_empty();
                servers.extend(
                    known
                        .iter()
                        .flat_map(|(_, gateway)| gateway.servers.items()),
                );
            }
            let ours = servers.iter().filter(|server| {
                let hosts = server
                    .value
                    .hosts
                    .items()
                    .iter()
                    .map(|it| it.value.rsplit('/').next().unwrap_or(""));
                let mut hosts = hosts.filter(|it| !it.is_empty());
                hosts.any(|host| {
                    service
                        .hosts
                        .items()
                        .iter()
                        .any(|own| overlaps(host, &own.value))
                })
            });
            let ours: Vec<_> = ours.collect();
            let Some(first) = ours
                .first()
                .filter(|_| complete && ours.iter().all(|it| ends_tls(&it.value)))
            else {
                continue;
            };
            let mode = first
                .value
                .tls
                .as_ref()
                .and_then(|it| it.value.mode.as_ref());
            let message = format!(
                "these `tls` rules are not used: the Gateway's server ends TLS (`{}`), and behind that only `tcp` or \
                 `http` rules count",
                mode.map_or("PASSTHROUGH", |it| it.value.name())
            );
            out.add(Basis::Proven, tls.key, message, |finding| {
                let line = mode.map_or(first.key, |it| it.span);
                finding
                    .because(line, "TLS ends here")
                    .help("use `tcp` rules (`http` for a server of protocol HTTPS), or `mode: PASSTHROUGH`")
            });
        }
    }
}

fn ends_tls(server: &Server) -> bool {
    let mode = server.tls.as_ref().and_then(|it| it.value.mode.as_ref());
    mode.is_some_and(|it| {
        matches!(
            it.value,
            ServerTlsMode::Simple
                | ServerTlsMode::Mutual
                | ServerTlsMode::IstioMutual
                | ServerTlsMode::OptionalMutual
        )
    })
}
