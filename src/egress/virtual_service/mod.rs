//! VirtualServices: their rules, those of delegates in their places, and where they lead.

mod binding;
mod delegates;
mod index;
mod sources;

use std::borrow::Cow;

use smol_str::SmolStr;

use super::client::Client;
use super::host::to_fqdn;
use super::http_rule::{HttpRule, Target, Written};
use super::visibility::{DefaultExport, exposure, viewer};
use crate::istio::decode::Items;
use crate::istio::resource::Resource;
use crate::istio::route as api;
use crate::source::{Span, Spanned};

pub use binding::{Binding, names_mesh};
use delegates::Delegates;
pub use index::{Section, VirtualServices};

/// A VirtualService that has hosts. One without is a delegate and only acts through another.
#[derive(Debug)]
pub struct VirtualService<'a> {
    pub resource: &'a Resource,
    pub spec: &'a api::VirtualService,
    /// Its place by age.
    pub rank: usize,
    /// Its hosts with short names made long, and their lines.
    pub hosts: Vec<(Cow<'a, str>, Span)>,
    pub bindings: Vec<Binding<'a>>,
    http: Box<[Step<'a>]>,
}

/// A rule, or one that stands for those of a delegate.
#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Rule(Written<'a>),
    Delegate {
        root: Written<'a>,
        delegate: &'a Resource,
        spec: &'a api::VirtualService,
    },
}

impl<'a> VirtualService<'a> {
    fn read(
        resource: &'a Resource,
        spec: &'a api::VirtualService,
        rank: usize,
        delegates: &Delegates<'a>,
        default: &DefaultExport,
    ) -> Self {
        let namespace = resource.namespace();
        let hosts = spec.hosts.items().iter();
        let bindings = match spec.gateways.items() {
            [] => vec![Binding::Mesh],
            gateways => gateways
                .iter()
                .map(|gateway| Binding::parse(&gateway.value, namespace))
                .collect(),
        };
        let http: Vec<_> = spec
            .http
            .items()
            .iter()
            .filter_map(|rule| {
                let written = Written { rule, resource };
                let Some(delegate) = &rule.value.delegate else {
                    return Some(Step::Rule(written));
                };
                let name = delegate.value.name.as_ref().map_or("", |name| &name.value);
                let wanted = delegate
                    .value
                    .namespace
                    .as_ref()
                    .map(|namespace| namespace.value.as_str())
                    .filter(|namespace| !namespace.is_empty())
                    .or(namespace);
                let (found, spec) = delegates.find(name, wanted)?;
                let declared = spec.export_to.items().iter();
                exposure(
                    found.namespace(),
                    declared.map(|entry| entry.value.as_str()),
                    default,
                    namespace,
                )?;
                Some(Step::Delegate {
                    root: written,
                    delegate: found,
                    spec,
                })
            })
            .collect();
        Self {
            resource,
            spec,
            rank,
            hosts: hosts
                .map(|host| (to_fqdn(&host.value, namespace), host.span))
                .collect(),
            bindings,
            http: http.into(),
        }
    }

    pub fn namespace(&self) -> Option<&'a str> {
        self.resource.namespace()
    }

    /// A client that sees it: one of its namespace, unless it is only for others.
    pub fn client(&self) -> Client {
        let declared = self.spec.export_to.items().iter();
        let declared = declared.map(|entry| entry.value.as_str());
        Client::sidecar(viewer(self.namespace(), declared))
    }

    /// Its HTTP rules in order, those of delegates in their places.
    pub fn http(&self) -> impl Iterator<Item = HttpRule<'a>> + '_ {
        self.http.iter().flat_map(|step| {
            let (own, delegated) = match *step {
                Step::Rule(rule) => (
                    Some(HttpRule {
                        own: rule,
                        root: None,
                    }),
                    None,
                ),
                Step::Delegate {
                    root,
                    delegate,
                    spec,
                } => (None, Some((root, delegate, spec.http.items()))),
            };
            let delegated = delegated.into_iter().flat_map(|(root, resource, rules)| {
                rules.iter().map(move |rule| HttpRule {
                    own: Written { rule, resource },
                    root: Some(root),
                })
            });
            own.into_iter().chain(delegated)
        })
    }

    /// The line of the host that has a name in common with this one.
    pub fn host_line(&self, host: &str) -> Option<Span> {
        self.hosts
            .iter()
            .find(|(own, _)| super::host::overlaps(own, host))
            .map(|(_, line)| *line)
    }

    /// Where its rules route to, mirrors among it: the host with short names made long, and the port, 0 where none
    /// is named.
    pub fn destinations(&self) -> Vec<(Cow<'a, str>, u32)> {
        self.destinations_for(None)
    }

    /// The same, without HTTP rules that are for clients of another namespace.
    pub fn destinations_for(&self, client: Option<&str>) -> Vec<(Cow<'a, str>, u32)> {
        self.destinations_of(|rule| is_for(rule, client), |_| true)
    }

    /// The same, of the rules for sidecars alone.
    pub fn destinations_of_sidecars(&self) -> Vec<(Cow<'a, str>, u32)> {
        self.destinations_of(HttpRule::is_for_sidecars, names_mesh)
    }

    /// Those of the rules that are asked for; of rules for bytes by the gateways of one match.
    fn destinations_of(
        &self,
        http: impl Fn(&HttpRule<'a>) -> bool,
        bytes: impl Fn(&[Spanned<SmolStr>]) -> bool,
    ) -> Vec<(Cow<'a, str>, u32)> {
        let mut targets: Vec<Target<'a>> = Vec::new();
        for rule in self.http().filter(http) {
            targets.extend(rule.route().iter().filter_map(|entry| rule.target(entry)));
            targets.extend(rule.mirror());
            targets.extend(rule.mirrors().map(|(target, _)| target));
        }
        let tcp = self.spec.tcp.items().iter().filter(|rule| {
            let matches = rule.matches.items();
            matches.is_empty() || matches.iter().any(|it| bytes(it.gateways.items()))
        });
        let tls = self.spec.tls.items().iter().filter(|rule| {
            let matches = rule.matches.items();
            matches.is_empty() || matches.iter().any(|it| bytes(it.gateways.items()))
        });
        let tcp = tcp.map(|rule| &rule.route);
        let tls = tls.map(|rule| &rule.route);
        targets.extend(
            tcp.chain(tls)
                .flat_map(|route| route.items())
                .filter_map(|entry| {
                    let destination = entry.value.destination.as_ref()?;
                    Some(Target::new(
                        &destination.value,
                        destination.key,
                        self.namespace(),
                    ))
                }),
        );
        let port = |target: &Target<'_>| {
            target
                .port()
                .and_then(|port| u32::try_from(port.value).ok())
        };
        targets
            .iter()
            .map(|target| (target.host(), port(target).unwrap_or(0)))
            .collect()
    }
}

/// Whether a rule can be for clients of a namespace: it names none, or this one among others.
fn is_for(rule: &HttpRule<'_>, client: Option<&str>) -> bool {
    let Some(client) = client else { return true };
    let mut named = rule
        .matches()
        .filter_map(|condition| {
            condition
                .source_namespace()
                .map(|named| named.value.as_str())
        })
        .peekable();
    named.peek().is_none() || named.any(|namespace| namespace == client)
}
