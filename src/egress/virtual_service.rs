//! The VirtualServices of a world in Istio's order, found by host and by the gateway they are bound to.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldhash::HashMap;

use super::host::{HostIndex, to_fqdn};
use super::http_rule::{HttpRule, Target, Written};
use super::namespace::{Same, same};
use super::visibility::{DefaultExport, Exposure, exposure};
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::istio::route as api;
use crate::source::Span;

/// What a VirtualService is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding<'a> {
    /// All sidecars.
    Mesh,
    Gateway {
        namespace: Option<&'a str>,
        name: &'a str,
    },
}

impl<'a> Binding<'a> {
    /// As `gateways` spells it: `mesh`, `name`, `namespace/name`, `./name`, or `name.namespace…`.
    pub fn parse(text: &'a str, own: Option<&'a str>) -> Self {
        if text == "mesh" {
            return Self::Mesh;
        }
        if let Some((namespace, name)) = text.split_once('/') {
            let namespace = if namespace == "." {
                own
            } else {
                Some(namespace)
            };
            return Self::Gateway { namespace, name };
        }
        match text.split_once('.') {
            Some((name, rest)) => Self::Gateway {
                namespace: rest.split('.').next(),
                name,
            },
            None => Self::Gateway {
                namespace: own,
                name: text,
            },
        }
    }

    /// Whether both are one, as far as their namespaces are known.
    pub fn is(&self, other: &Binding<'_>) -> bool {
        match (self, other) {
            (Binding::Mesh, Binding::Mesh) => true,
            (
                Binding::Gateway { namespace, name },
                Binding::Gateway {
                    namespace: other_namespace,
                    name: other_name,
                },
            ) => name == other_name && same(*namespace, *other_namespace) != Same::No,
            _ => false,
        }
    }
}

/// A VirtualService that has hosts. One without is a delegate and only acts through another.
#[derive(Debug)]
pub struct VirtualService<'a> {
    pub resource: &'a Resource,
    pub spec: &'a api::VirtualService,
    /// Its place by age.
    pub rank: usize,
    /// Its hosts with short names made long, and their lines.
    pub hosts: Vec<(String, Span)>,
    pub bindings: Vec<Binding<'a>>,
    http: Vec<Step<'a>>,
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
    pub fn namespace(&self) -> Option<&'a str> {
        self.resource.namespace()
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
}

/// All VirtualServices of a world.
#[derive(Debug)]
pub struct VirtualServices<'a> {
    /// The oldest first: the order of the files stands for their age.
    all: Vec<VirtualService<'a>>,
    default: DefaultExport,
    mesh: Mesh,
    by_gateway: HashMap<&'a str, Vec<usize>>,
}

/// Those bound to sidecars, by their hosts.
#[derive(Debug, Default)]
struct Mesh {
    all: Vec<usize>,
    /// All of them, by host in lower case, as Istio looks them up for HTTP.
    lower: HostIndex<usize>,
    tls: HostIndex<usize>,
    tcp: HostIndex<usize>,
    /// By the hosts they route to.
    destinations: HashMap<String, Vec<usize>>,
}

/// Which rules of a VirtualService a port that is not HTTP asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Tls,
    Tcp,
}

impl<'a> VirtualServices<'a> {
    /// `default_export_to` is `MeshConfig.defaultVirtualServiceExportTo`.
    pub fn new(resources: &[&'a Resource], default: DefaultExport) -> Self {
        let specs: Vec<_> = resources
            .iter()
            .filter(|resource| !resource.refused)
            .filter_map(|resource| match &resource.spec {
                Spec::VirtualService(spec) => Some((*resource, &**spec)),
                _ => None,
            })
            .collect();
        let delegates = Delegates::of(&specs);
        let all: Vec<_> = specs
            .iter()
            .filter(|(_, spec)| !spec.hosts.items().is_empty())
            .zip(0..)
            .map(|(&(resource, spec), rank)| read(resource, spec, rank, &delegates, &default))
            .collect();
        let mut mesh = Mesh::default();
        let mut by_gateway: HashMap<&str, Vec<usize>> = HashMap::default();
        for (at, service) in all.iter().enumerate() {
            for binding in &service.bindings {
                match binding {
                    Binding::Mesh if mesh.all.last() != Some(&at) => mesh.add(at, service),
                    Binding::Mesh => {}
                    Binding::Gateway { name, .. } => {
                        let bound = by_gateway.entry(name).or_default();
                        if bound.last() != Some(&at) {
                            bound.push(at);
                        }
                    }
                }
            }
        }
        Self {
            all,
            default,
            mesh,
            by_gateway,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &VirtualService<'a>> {
        self.all.iter()
    }

    pub fn get(&self, at: usize) -> Option<&VirtualService<'a>> {
        self.all.get(at)
    }

    /// How a client of that namespace sees it, if at all.
    pub fn exposure(&self, service: &VirtualService<'_>, client: Option<&str>) -> Option<Exposure> {
        let declared = service.spec.export_to.items().iter();
        exposure(
            service.namespace(),
            declared.map(|entry| entry.value.as_str()),
            &self.default,
            client,
        )
    }

    /// Those of the numbers that a client sees, in the order in which it meets them.
    pub fn visible(
        &self,
        numbers: impl IntoIterator<Item = usize>,
        client: Option<&str>,
    ) -> Vec<usize> {
        let mut seen: Vec<_> = numbers
            .into_iter()
            .filter_map(|at| Some((self.exposure(self.all.get(at)?, client)?, at)))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        seen.into_iter().map(|(_, at)| at).collect()
    }

    /// All that are bound to sidecars.
    pub fn of_mesh(&self) -> &[usize] {
        &self.mesh.all
    }

    /// Those bound to a gateway that a proxy of that namespace sees, in its order.
    pub fn of_gateway(&self, gateway: &Binding<'_>, client: Option<&str>) -> Vec<usize> {
        let Binding::Gateway { name, .. } = gateway else {
            return Vec::new();
        };
        let bound = self.by_gateway.get(name).into_iter().flatten().copied();
        let bound = bound.filter(|&at| {
            self.get(at)
                .is_some_and(|service| service.bindings.iter().any(|own| own.is(gateway)))
        });
        self.visible(bound, client)
    }

    /// Those bound to sidecars with rules for TLS or for TCP and a host that has a name in common with this one;
    /// in no order, and some perhaps twice.
    pub fn overlapping<'s>(
        &'s self,
        section: Section,
        host: &'s str,
    ) -> impl Iterator<Item = usize> + 's {
        let index = match section {
            Section::Tls => &self.mesh.tls,
            Section::Tcp => &self.mesh.tcp,
        };
        index.overlapping(host).flatten().copied()
    }

    /// Those bound to sidecars, by the hosts of theirs that cover this one (in lower case), the most specific first.
    pub fn covering<'s>(&'s self, host: &'s str) -> impl Iterator<Item = &'s [usize]> {
        self.mesh.lower.covering(host)
    }

    /// Those bound to sidecars that have this very host or pattern (in lower case).
    pub fn of_host(&self, host: &str) -> &[usize] {
        self.mesh.lower.same(host)
    }

    /// Those bound to sidecars that have a destination of this host.
    pub fn routing_to(&self, host: &str) -> &[usize] {
        self.mesh.destinations.get(host).map_or(&[], Vec::as_slice)
    }
}

impl Mesh {
    fn add(&mut self, at: usize, service: &VirtualService<'_>) {
        self.all.push(at);
        for (host, _) in &service.hosts {
            self.lower.insert(&host.to_lowercase(), at);
            if service.spec.tls.is_some() {
                self.tls.insert(host, at);
            }
            if service.spec.tcp.is_some() {
                self.tcp.insert(host, at);
            }
        }
        for (host, _) in service.destinations() {
            let routed = self.destinations.entry(host.into_owned()).or_default();
            if routed.last() != Some(&at) {
                routed.push(at);
            }
        }
    }
}

impl<'a> VirtualService<'a> {
    /// Where its rules route to, mirrors among it: the host with short names made long, and the port, 0 where none
    /// is named.
    pub fn destinations(&self) -> Vec<(Cow<'a, str>, u32)> {
        self.destinations_for(None)
    }

    /// The same, without HTTP rules that are for clients of another namespace.
    pub fn destinations_for(&self, client: Option<&str>) -> Vec<(Cow<'a, str>, u32)> {
        let mut targets: Vec<Target<'a>> = Vec::new();
        for rule in self.http().filter(|rule| is_for(rule, client)) {
            targets.extend(rule.route().iter().filter_map(|entry| rule.target(entry)));
            targets.extend(rule.mirror());
            targets.extend(rule.mirrors().map(|(target, _)| target));
        }
        let tcp = self.spec.tcp.items().iter().map(|rule| &rule.route);
        let tls = self.spec.tls.items().iter().map(|rule| &rule.route);
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

/// The VirtualServices that others can delegate to, by name and namespace.
struct Delegates<'a>(BTreeMap<(&'a str, Option<&'a str>), (&'a Resource, &'a api::VirtualService)>);

impl<'a> Delegates<'a> {
    fn of(specs: &[(&'a Resource, &'a api::VirtualService)]) -> Self {
        let mut by_name = BTreeMap::new();
        for &(resource, spec) in specs {
            if spec.hosts.items().is_empty() {
                by_name
                    .entry((resource.name(), resource.namespace()))
                    .or_insert((resource, spec));
            }
        }
        Self(by_name)
    }

    /// The one of that name in the namespace, or where one of the two is unknown.
    fn find(
        &self,
        name: &'a str,
        namespace: Option<&'a str>,
    ) -> Option<(&'a Resource, &'a api::VirtualService)> {
        let known = self.0.get(&(name, namespace));
        let perhaps = || match namespace {
            Some(_) => self.0.get(&(name, None)),
            None => {
                let mut of_name = self.0.range((name, None)..);
                of_name
                    .next()
                    .filter(|((found, _), _)| *found == name)
                    .map(|(_, found)| found)
            }
        };
        known.or_else(perhaps).copied()
    }
}

fn read<'a>(
    resource: &'a Resource,
    spec: &'a api::VirtualService,
    rank: usize,
    delegates: &Delegates<'a>,
    default: &DefaultExport,
) -> VirtualService<'a> {
    let namespace = resource.namespace();
    let hosts = spec.hosts.items().iter();
    let mut bindings: Vec<_> = spec
        .gateways
        .items()
        .iter()
        .map(|gateway| Binding::parse(&gateway.value, namespace))
        .collect();
    if bindings.is_empty() {
        bindings.push(Binding::Mesh);
    }
    let http = spec.http.items().iter().filter_map(|rule| {
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
    });
    VirtualService {
        resource,
        spec,
        rank,
        hosts: hosts
            .map(|host| (to_fqdn(&host.value, namespace).into_owned(), host.span))
            .collect(),
        bindings,
        http: http.collect(),
    }
}
