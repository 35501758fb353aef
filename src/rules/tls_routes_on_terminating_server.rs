//! Rules by server name at a server that ends TLS.

use smol_str::SmolStr;

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::overlaps;
use crate::egress::virtual_service::Binding;
use crate::istio::decode::Items;
use crate::istio::proxy::{Server, ServerTlsMode};
use crate::istio::route::VirtualService;
use crate::source::{Span, Spanned};

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
            let namespace = resource.namespace();
            let bindings = parse(service.gateways.items(), namespace);
            let of_gateways = |it: &[Binding<'_>]| !it.is_empty() && !it.contains(&Binding::Mesh);
            if of_gateways(&bindings) {
                let ended = ended(cx, service, &bindings);
                ended.into_iter().for_each(|mode| say(tls.key, mode, out));
                continue;
            }
            // Sidecars use the others of these rules.
            for rule in &tls.value {
                let matches = rule.value.matches.items();
                let named = matches
                    .iter()
                    .map(|it| parse(it.value.gateways.items(), namespace));
                let named: Vec<_> = named.collect();
                if named.is_empty() || !named.iter().all(|it| of_gateways(it)) {
                    continue;
                }
                let ended = ended(cx, service, &named.concat());
                ended.into_iter().for_each(|mode| say(rule.key, mode, out));
            }
        }
    }
}

fn parse<'a>(names: &'a [Spanned<SmolStr>], own: Option<&'a str>) -> Vec<Binding<'a>> {
    let names = names.iter().take(GATEWAYS + 1);
    names.map(|it| Binding::parse(&it.value, own)).collect()
}

/// Where TLS ends: the server, and its mode.
type Ended<'c> = (&'c Spanned<Server>, Option<&'c Spanned<ServerTlsMode>>);

/// The first server for the hosts of a VirtualService, if all of them end TLS.
fn ended<'c>(
    cx: &Context<'c>,
    service: &VirtualService,
    bindings: &[Binding<'_>],
) -> Option<Ended<'c>> {
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
    servers.retain(|server| {
        let hosts = server.value.hosts.items().iter();
        let hosts = hosts.map(|it| it.value.rsplit('/').next().unwrap_or(""));
        let mut hosts = hosts.filter(|it| !it.is_empty());
        let own = service.hosts.items();
        hosts.any(|host| own.iter().any(|own| overlaps(host, &own.value)))
    });
    let first = servers.first()?;
    let all = complete && servers.iter().all(|it| ends_tls(&it.value));
    let mode = first.value.tls.as_ref()?.value.mode.as_ref();
    all.then_some((first, mode))
}

fn say(place: Span, (server, mode): Ended<'_>, out: &mut Findings) {
    let message = format!(
        "these `tls` rules are not used: the Gateway's server ends TLS (`{}`), and behind that only `tcp` or `http` \
         rules count",
        mode.map_or("PASSTHROUGH", |it| it.value.name())
    );
    out.add(Basis::Proven, place, message, |finding| {
        let port = server.value.port.as_ref();
        let number = port.and_then(|it| it.value.number.as_ref());
        number
            .iter()
            .fold(finding, |finding, number| {
                finding.because(number.span, "the server that the rules are for")
            })
            .because(mode.map_or(server.key, |it| it.span), "TLS ends here")
            .help("use `tcp` rules (`http` for a server of protocol HTTPS), or `mode: PASSTHROUGH`")
    });
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
