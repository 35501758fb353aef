//! The matches of a VirtualService, whatever section they are of.

use crate::istio::decode::{Items, List};
use crate::istio::route::VirtualService;
use crate::source::Spanned;

/// Where a match holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holds<'v> {
    pub(super) gateways: &'v Option<Spanned<List<String>>>,
    pub(super) port: &'v Option<Spanned<i64>>,
}

/// Of each route its matches; none for a route that takes everything.
pub(super) fn of_routes(service: &VirtualService) -> impl Iterator<Item = Vec<Holds<'_>>> {
    macro_rules! of {
        ($section:ident) => {
            service.$section.items().iter().map(|route| {
                let matches = route.matches.items().iter();
                let holds = matches.map(|it| Holds {
                    gateways: &it.gateways,
                    port: &it.port,
                });
                holds.collect()
            })
        };
    }
    of!(http).chain(of!(tls)).chain(of!(tcp))
}
