//! A DestinationRule that no client of its host sees.

use std::cell::OnceCell;

use foldhash::{HashMap, HashSet};

use super::context::originates_tls;
use super::imports::Imports;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Diagnostic, Fixable, Severity};
use crate::egress::destination_rule::Rule;
use crate::egress::host::{is_wildcard, service_of};
use crate::egress::service::{Origin, Port, Service};
use crate::istio::decode::Items;
use crate::istio::resource::Spec;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "destination-rule-unseen",
        summary: "no client of the host sees the DestinationRule, because of `exportTo` or its namespace: it applies to nothing",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/destination-rule-unseen.md"),
    },
    build: super::plain::<DestinationRuleUnseen>,
};

#[derive(Debug, Default)]
pub(super) struct DestinationRuleUnseen;

/// Where there are so many entries or rules for one host, or namespaces in a list, no more are looked at.
const LOOKED_AT: usize = 64;

/// So many ports are shown.
const PORTS: usize = 3;

impl Check for DestinationRuleUnseen {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let (gateways, imports) = (GatewayNamespaces::of(cx), OnceCell::new());
        for rule in cx.model.rules.all() {
            let Some(placed) = Placed::of(cx, rule) else {
                continue;
            };
            let Some(unseen) = placed
                .unseen(cx, &gateways, &imports)
                .filter(|it| out.is_first(it.place))
            else {
                continue;
            };
            out.add(unseen.basis, unseen.place, unseen.message, |finding| {
                let lines = unseen.because.into_iter();
                let plain = placed.plain_ports().take(PORTS).map(|port| {
                    let line = port.line();
                    (line, "plain text is sent: the rule does not originate TLS")
                });
                lines
                    .chain(plain)
                    .fold(finding, |finding: Diagnostic, (line, why)| {
                        finding.because(line, why)
                    })
                    .because(placed.entry.host.line, "the external host")
                    .help(unseen.help)
            });
        }
    }

    fn says_absence(&self) -> bool {
        true
    }
}

/// A rule for one external host, and where it stands.
struct Placed<'c> {
    rule: &'c Rule<'c>,
    own: &'c str,
    services: Vec<Service<'c>>,
    /// The first of the services.
    entry: Service<'c>,
}

struct Unseen {
    basis: Basis,
    place: Span,
    message: String,
    because: Vec<(Span, &'static str)>,
    help: String,
}

impl<'c> Placed<'c> {
    /// `None` where not all namespaces are known, or proxies find the rule wherever they are.
    fn of(cx: &'c Context<'_>, rule: &'c Rule<'c>) -> Option<Self> {
        let own = rule.namespace()?;
        if is_wildcard(&rule.host) || own == cx.model.rules.root_namespace() {
            return None;
        }
        let services = cx.model.registry.of_host(&rule.host).take(LOOKED_AT);
        let services: Vec<Service<'_>> = services.collect();
        let known =
            |it: &Service<'_>| it.origin == Origin::ServiceEntry && it.namespace().is_some();
        let all_known = services.iter().all(known) && services.len() < LOOKED_AT;
        let entry = *services.first().filter(|_| all_known)?;
        Some(Self {
            rule,
            own,
            services,
            entry,
        })
    }

    /// Where the rule was to originate TLS: the ports on which plain text is sent without it.
    fn plain_ports(&self) -> impl Iterator<Item = &'c Port<'c>> {
        let originates = originates_tls(self.rule.spec);
        let ports = self.entry.definition.ports.iter().take(LOOKED_AT);
        ports.filter(move |port| originates && port.protocol.is_http())
    }

    /// Whether clients of the namespace see the host.
    fn is_known_to(&self, cx: &Context<'_>, namespace: &str) -> bool {
        let mut services = self.services.iter();
        services.any(|it| cx.model.registry.exposure(it, Some(namespace)).is_some())
    }

    fn unseen(
        &self,
        cx: &'c Context<'_>,
        gateways: &GatewayNamespaces<'_>,
        imports: &OnceCell<Imports<'c>>,
    ) -> Option<Unseen> {
        let is_beside = self
            .services
            .iter()
            .any(|it| it.namespace() == Some(self.own));
        let for_own = self.rule.is_local() && self.is_known_to(cx, self.own);
        match (is_beside, for_own) {
            (true, false) => self.exported_past(cx),
            (false, false) if self.rule.is_local() => self.hidden_host(cx, gateways, imports),
            (false, _) => self.exported_in_vain(cx),
            (true, true) => None,
        }
    }

    /// It stands beside the host, and is exported to others than the host is.
    fn exported_past(&self, cx: &Context<'_>) -> Option<Unseen> {
        let declared = match self.rule.has_selector() {
            true => &[],
            false => self.rule.spec.export_to.items(),
        };
        let is_seen = |entry: &str| entry == "*" || entry != "." && self.is_known_to(cx, entry);
        let unspecific = declared.is_empty() && !self.rule.has_selector();
        if unspecific || declared.len() > LOOKED_AT || declared.iter().any(|it| is_seen(&it.value))
        {
            return None;
        }
        let host = self.rule.spec.host.as_ref()?;
        Some(Unseen {
            basis: Basis::Proven,
            place: declared.first().map_or(host.span, |it| it.span),
            message: format!(
                "this rule applies to nothing: no namespace sees both it and `{}`",
                self.rule.host
            ),
            because: vec![(export_to(&self.entry)?, "the host is for others")],
            help: "export the rule to the namespaces to which the host is exported".to_owned(),
        })
    }

    /// The clients for which it is do not see the host. Where a route shows that, too, other rules tell what fails.
    fn hidden_host(
        &self,
        cx: &'c Context<'_>,
        gateways: &GatewayNamespaces<'_>,
        imports: &OnceCell<Imports<'c>>,
    ) -> Option<Unseen> {
        let (own, name) = (self.own, &self.rule.host);
        let mut routes = cx.routes_for(name).take(LOOKED_AT);
        if routes.any(|it| it.namespace() == Some(own)) || gateways.has(cx, own, name) {
            return None;
        }
        let host = self.rule.spec.host.as_ref()?;
        let place = export_to(&self.entry)?;
        let imports = imports.get_or_init(|| Imports::of(cx));
        let wanted = imports.wanted(own, name, self.entry.namespace());
        let hidden =
            format!("`exportTo` hides `{name}` from `{own}`, which has a DestinationRule for it");
        let (basis, message) = match wanted.first() {
            // Whatever else defines the host: it is wanted from here.
            Some(line) => (
                Basis::together(
                    cx.world.is_one_folder(line.file, place.file)
                        && cx.world.is_one_folder(host.span.file, place.file),
                ),
                format!("{hidden} and a Sidecar that imports nothing by its name"),
            ),
            None if cx.world.knows_all("ServiceEntry") => {
                (Basis::Proven, format!("{hidden}: that applies to nothing"))
            }
            None => (
                Basis::assuming(format!(
                    "no other ServiceEntry defines the host for `{own}`"
                )),
                format!("{hidden}: that applies to nothing"),
            ),
        };
        let help = match wanted.is_empty() {
            true => format!("add `{own}` to `exportTo`, or put the rule beside the ServiceEntry"),
            false => format!("add `{own}` to `exportTo`"),
        };
        let rule = std::iter::once((host.span, "the rule"));
        let wanted = wanted.iter().map(|line| (*line, "this imports nothing"));
        Some(Unseen {
            basis,
            place,
            message,
            because: rule.chain(wanted).collect(),
            help,
        })
    }

    /// Those to whom it is exported would have to look for it where it is, and do not.
    fn exported_in_vain(&self, cx: &Context<'_>) -> Option<Unseen> {
        let mut declared = self.rule.spec.export_to.items().iter().take(LOOKED_AT);
        let is_other = |it: &str| !matches!(it, "." | "*") && it != self.own;
        let entry = declared.find(|it| is_other(&it.value))?;
        let beside = self.entry.namespace().filter(|it| *it != entry.value)?;
        let root = cx.model.rules.root_namespace();
        // Each namespace is named once.
        let places = match (entry.value == root, beside == root) {
            (false, false) => format!("their own namespace, in `{beside}` and in `{root}`"),
            _ => format!("their own namespace and in `{beside}`"),
        };
        Some(Unseen {
            basis: Basis::Proven,
            place: entry.span,
            message: format!(
                "clients in `{}` do not find this rule: they look in {places}, not in `{}`",
                entry.value, self.own
            ),
            because: Vec::new(),
            help: format!("move it to `{beside}`, where the host is"),
        })
    }
}

/// The namespaces in which gateways are, which may be clients of a host.
struct GatewayNamespaces<'c> {
    /// Those of Gateways.
    known: HashSet<&'c str>,
    /// Those of the Services to which VirtualServices lead, by these.
    led_to: HashMap<Span, HashSet<String>>,
}

impl<'c> GatewayNamespaces<'c> {
    fn of(cx: &'c Context<'_>) -> Self {
        let gateways = cx.model.gateways.iter();
        let led_to = cx.model.virtual_services.iter().map(|routes| {
            let destinations = routes.destinations();
            let services = destinations.iter().filter_map(|(host, _)| service_of(host));
            let namespaces = services.map(|(_, namespace)| namespace.to_owned());
            (routes.resource.span, namespaces.collect())
        });
        Self {
            known: gateways.filter_map(|(it, _)| it.namespace()).collect(),
            led_to: led_to.collect(),
        }
    }

    /// Whether a gateway of the namespace may be on the way to the host.
    fn has(&self, cx: &Context<'_>, namespace: &str, host: &str) -> bool {
        let mut routes = cx.routes_for(host).take(LOOKED_AT);
        self.known.contains(namespace)
            || routes.any(|it| {
                let led_to = self.led_to.get(&it.resource.span);
                led_to.is_some_and(|it| it.contains(namespace))
            })
    }
}

/// The line that says for whom a host is.
fn export_to(entry: &Service<'_>) -> Option<Span> {
    let Spec::ServiceEntry(spec) = &entry.definition.resource.spec else {
        return None;
    };
    spec.export_to.items().first().map(|it| it.span)
}
