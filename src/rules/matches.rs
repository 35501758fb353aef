//! The matches of a VirtualService, whatever section they are of.

use smol_str::SmolStr;

use crate::istio::decode::{Items, List, Rare};
use crate::istio::route::VirtualService;
use crate::source::Span;

/// Where a match holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holds<'v> {
    pub(super) gateways: &'v Rare<List<SmolStr>>,
    pub(super) port: &'v Rare<i64>,
}

/// The `http`, `tls` or `tcp` rules.
#[derive(Clone, Debug)]
pub(super) struct Section<'v> {
    pub(super) key: Span,
    /// Of each route its matches; none for a route that takes everything.
    pub(super) routes: Vec<Vec<Holds<'v>>>,
}

macro_rules! section {
    ($name:ident) => {
        pub(super) fn $name(service: &VirtualService) -> Option<Section<'_>> {
            let section = service.$name.as_ref().filter(|it| !it.value.is_empty())?;
            let routes = section.value.iter().map(|route| {
                let matches = route.matches.items().iter();
                let holds = matches.map(|it| Holds {
                    gateways: &it.gateways,
                    port: &it.port,
                });
                holds.collect()
            });
            Some(Section {
                key: section.key,
                routes: routes.collect(),
            })
        }
    };
}

section!(http);
section!(tls);
section!(tcp);

/// Of each route of each section its matches.
pub(super) fn of_routes(service: &VirtualService) -> impl Iterator<Item = Vec<Holds<'_>>> {
    sections(service).flat_map(|section| section.routes)
}

pub(super) fn sections(service: &VirtualService) -> impl Iterator<Item = Section<'_>> {
    [http(service), tls(service), tcp(service)]
        .into_iter()
        .flatten()
}
