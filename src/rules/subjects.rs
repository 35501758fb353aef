//! The external hosts whose traffic the rules of a VirtualService are for in sidecars, and the rules that no port of
//! theirs has a use for.

use foldhash::HashSet;
use smol_str::SmolStr;

use super::context::{Context, Defined, HOSTS};
use super::matches::{Holds, Section};
use crate::egress::protocol::Protocol;
use crate::egress::service::{Origin, Port};
use crate::istio::decode::Items;
use crate::istio::resource::Resource;
use crate::istio::route::VirtualService;
use crate::source::{Span, Spanned};

/// The hosts of a VirtualService, all of them external.
pub(super) struct Subjects<'c> {
    pub(super) hosts: Vec<Defined<'c>>,
    /// The ports of the hosts by number, each beside its host.
    ports: Vec<(&'c str, &'c Port<'c>)>,
    service: &'c VirtualService,
}

/// Further ports say nothing more.
const PORTS: usize = 16;

/// Rules that no port of the hosts has a use for.
pub(super) struct Unused<'c> {
    pub(super) host: &'c str,
    /// The first of the ports for which they would be.
    pub(super) ports: Vec<&'c Port<'c>>,
    /// The section, or the port of one match of it.
    pub(super) place: Span,
    is_section: bool,
}

impl<'c> Subjects<'c> {
    /// `None` where one of its hosts is defined by no file, by a Service, or by an entry that is refused, or where there
    /// are very many.
    pub(super) fn of(
        cx: &'c Context<'_>,
        resource: &Resource,
        service: &'c VirtualService,
    ) -> Option<Self> {
        let mut hosts: Vec<Defined<'c>> = Vec::new();
        for host in service.hosts.items() {
            let found = cx.hosts_overlapping(&host.value, resource.namespace());
            let external = |it: &Defined<'_>| it.definition.origin == Origin::ServiceEntry;
            let some = !found.is_empty() && found.len() + hosts.len() < HOSTS;
            if !some || cx.has_faulty_entry(&host.value) || !found.iter().all(external) {
                return None;
            }
            hosts.extend(found);
        }
        let mut entries = HashSet::default();
        let first_of_entry = hosts
            .iter()
            .filter(|it| entries.insert(it.definition.resource.span));
        let mut ports: Vec<_> = first_of_entry
            .flat_map(|defined| {
                let ports = defined.definition.ports.iter();
                ports.map(|port| (defined.host, port))
            })
            .collect();
        ports.sort_by_key(|(_, port)| port.number);
        Some(Self {
            hosts,
            ports,
            service,
        })
    }

    pub(super) fn ports(&self) -> &[(&'c str, &'c Port<'c>)] {
        &self.ports
    }

    pub(super) fn ports_of(&self, number: i64) -> &[(&'c str, &'c Port<'c>)] {
        let before = |it: &(&str, &Port<'_>)| i64::from(it.1.number) < number;
        let (_, from) = self.ports.split_at(self.ports.partition_point(before));
        let is = |it: &(&str, &Port<'_>)| i64::from(it.1.number) == number;
        let (found, _) = from.split_at(from.partition_point(is));
        found
    }

    /// The ports that matches name, of those that hold in sidecars and nowhere else.
    pub(super) fn matched_ports(
        &self,
        section: Section<'c>,
    ) -> impl Iterator<Item = &'c Spanned<i64>> {
        let matches = section.rules.into_iter().flat_map(|rule| rule.matches);
        let matches = matches.filter(|it| self.is_for_sidecars(Some(it)));
        matches.filter_map(|it| it.port.as_deref().filter(|port| port.value != 0))
    }

    /// The rules of a section that no port has a use for: those of the whole section, or those of a match that names
    /// a port.
    pub(super) fn unused(
        &self,
        section: Section<'c>,
        has_use: impl Fn(Protocol) -> bool,
    ) -> Vec<Unused<'c>> {
        let unused = |ports: &[(&'c str, &'c Port<'c>)], place, is_section| {
            let (host, _) = *ports.first()?;
            let is_used = ports.iter().any(|(_, port)| has_use(port.protocol));
            (!is_used).then(|| Unused {
                host,
                ports: ports.iter().map(|(_, port)| *port).take(PORTS).collect(),
                place,
                is_section,
            })
        };
        let is_whole = self.are_for_sidecars(&section) && !self.has_no_port_of(&section);
        let whole = unused(&self.ports, section.key, true);
        if let Some(whole) = whole.filter(|_| is_whole) {
            return vec![whole];
        }
        let ports = self.matched_ports(section);
        ports
            .filter_map(|port| unused(self.ports_of(port.value), port.span, false))
            .collect()
    }

    /// Whether each rule only asks for ports that no host has, which is a fault of its own.
    fn has_no_port_of(&self, section: &Section<'_>) -> bool {
        let is_none = |it: &Holds<'_>| {
            let port = it.port.as_deref();
            port.is_some_and(|port| self.ports_of(port.value).is_empty())
        };
        section
            .rules
            .iter()
            .all(|rule| !rule.matches.is_empty() && rule.matches.iter().all(is_none))
    }

    fn are_for_sidecars(&self, section: &Section<'_>) -> bool {
        section.rules.iter().all(|rule| match &rule.matches[..] {
            [] => self.is_for_sidecars(None),
            some => some.iter().all(|it| self.is_for_sidecars(Some(it))),
        })
    }

    /// Whether a match, or a rule without one, holds in sidecars only.
    fn is_for_sidecars(&self, holds: Option<&Holds<'_>>) -> bool {
        let own = holds.map_or(&[][..], |it| it.gateways.items());
        let all = self.service.gateways.items();
        let is_mesh = |it: &Spanned<SmolStr>| it.value == "mesh";
        match own {
            [] => all.iter().all(is_mesh),
            own => own.iter().all(is_mesh) && (all.is_empty() || all.iter().any(is_mesh)),
        }
    }
}

impl Unused<'_> {
    /// For messages.
    pub(super) fn what(&self, section: &str) -> String {
        match self.is_section {
            true => format!("the `{section}` section of this VirtualService is not used"),
            false => format!("this match under `{section}` never holds"),
        }
    }
}
