//! One HTTP rule of a VirtualService. Where the rule delegates, each rule of the delegate is one that fills its
//! gaps from the delegating rule.

use std::borrow::Cow;

use super::host::to_fqdn;
use super::http_match::{Half, HttpMatch, Place, conflict};
use super::virtual_service::names_mesh;
use crate::istio::decode::Items;
use crate::istio::resource::Resource;
use crate::istio::route::{
    Destination, DirectResponse, Headers, HttpRedirect, HttpRetry, HttpRewrite, HttpRoute,
    HttpRouteDestination, Percent,
};
use crate::istio::value::Duration;
use crate::source::{Span, Spanned};

/// A rule as it is written, and in what.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    pub rule: &'a Spanned<HttpRoute>,
    pub resource: &'a Resource,
}

impl<'a> Written<'a> {
    fn halves(self) -> impl Iterator<Item = Half<'a>> + Clone {
        let namespace = self.resource.namespace();
        self.rule
            .matches
            .items()
            .iter()
            .map(move |written| Half { written, namespace })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct HttpRule<'a> {
    /// The rule itself, or the delegate's.
    pub own: Written<'a>,
    /// The rule that delegates.
    pub root: Option<Written<'a>>,
}

/// A destination as written, with the namespace in which a short name is meant.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    pub destination: &'a Destination,
    /// The line of its host, or where the destination begins.
    pub line: Span,
    pub namespace: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// `at` is where the destination begins.
    pub fn new(destination: &'a Destination, at: Span, namespace: Option<&'a str>) -> Self {
        Self {
            destination,
            line: destination.host.as_ref().map_or(at, |host| host.span),
            namespace,
        }
    }

    /// The host with a short name made long.
    pub fn host(&self) -> Cow<'a, str> {
        let host = self.destination.host.as_ref();
        to_fqdn(host.map_or("", |host| host.value.as_str()), self.namespace)
    }

    /// `port.number`, where there is one.
    pub fn port(&self) -> Option<&'a Spanned<i64>> {
        self.destination.port.as_ref()?.value.number.as_ref()
    }
}

/// Declares settings that the delegate's rule has, or else the delegating one.
macro_rules! inherited {
    ($($(#[$meta:meta])* $name:ident: $ty:ty = $field:ident;)+) => {$(
        $(#[$meta])*
        pub fn $name(&self) -> Option<&'a Spanned<$ty>> {
            self.parts().find_map(|part| part.rule.value.$field.as_deref())
        }
    )+};
}

impl<'a> HttpRule<'a> {
    /// The rule, and behind it the one it inherits from.
    fn parts(&self) -> impl Iterator<Item = Written<'a>> + use<'a> {
        std::iter::once(self.own).chain(self.root)
    }

    inherited! {
        timeout: Duration = timeout;
        /// Present even where it is empty, which means something else than absent.
        retries: HttpRetry = retries;
        rewrite: HttpRewrite = rewrite;
        direct_response: DirectResponse = direct_response;
        headers: Headers = headers;
        mirror_percentage: Percent = mirror_percentage;
        mirror_percent: i64 = mirror_percent;
    }

    /// Whether sidecars have it, and not only gateways.
    pub fn is_for_sidecars(&self) -> bool {
        self.parts().all(|part| {
            let matches = part.rule.value.matches.items();
            let mut gateways = matches.iter().map(|it| it.value.gateways.items());
            matches.is_empty() || gateways.any(names_mesh)
        })
    }

    pub fn redirect(&self) -> Option<&'a Spanned<HttpRedirect>> {
        self.own.rule.value.redirect.as_deref()
    }

    pub fn route(&self) -> &'a [Spanned<HttpRouteDestination>] {
        self.own.rule.value.route.items()
    }

    /// Where an entry of `route` leads.
    pub fn target(&self, entry: &'a Spanned<HttpRouteDestination>) -> Option<Target<'a>> {
        let destination = entry.value.destination.as_ref()?;
        Some(Target::new(
            &destination.value,
            destination.key,
            self.namespace(),
        ))
    }

    /// The `mirror`, with what a short name in it means.
    pub fn mirror(&self) -> Option<Target<'a>> {
        self.parts().find_map(|part| {
            let mirror = part.rule.value.mirror.as_ref()?;
            Some(Target::new(
                &mirror.value,
                mirror.key,
                part.resource.namespace(),
            ))
        })
    }

    /// The `mirrors`, each with its share.
    pub fn mirrors(
        &self,
    ) -> impl Iterator<Item = (Target<'a>, Option<&'a Spanned<Percent>>)> + use<'a> {
        let part = self.parts().find(|part| part.rule.value.mirrors.is_some());
        part.into_iter().flat_map(|part| {
            let namespace = part.resource.namespace();
            part.rule
                .value
                .mirrors
                .items()
                .iter()
                .filter_map(move |mirror| {
                    let destination = mirror.value.destination.as_ref()?;
                    let target = Target::new(&destination.value, destination.key, namespace);
                    Some((target, mirror.value.percentage.as_ref()))
                })
        })
    }

    /// Where the rule begins, and where the one that delegates to it.
    pub fn lines(&self) -> impl Iterator<Item = Span> + use<'a> {
        self.parts().map(|part| part.rule.key)
    }

    /// The namespace in which short names of its destinations are meant.
    pub fn namespace(&self) -> Option<&'a str> {
        self.own.resource.namespace()
    }

    /// Its conditions, in order. Empty where a delegate asks for what the delegating rule rules out.
    pub fn matches(&self) -> impl Iterator<Item = HttpMatch<'a>> + use<'a> {
        let own = self.own.halves();
        let root = self.root.map(Written::halves);
        let plain = |own| HttpMatch {
            own: Some(own),
            root: None,
        };
        let root_is_empty = root.clone().is_none_or(|mut root| root.next().is_none());
        let own_is_empty = own.clone().next().is_none();
        let (alone, pairs) = match (root_is_empty, own_is_empty) {
            (true, true) => (Some(HttpMatch::default()), None),
            (false, true) | (true, false) => (None, None),
            (false, false) => (None, Some((own.clone(), root.clone()))),
        };
        let only_root = (own_is_empty && !root_is_empty)
            .then_some(root)
            .flatten()
            .into_iter()
            .flatten()
            .map(|half| HttpMatch {
                own: None,
                root: Some(half),
            });
        let only_own = (root_is_empty && !own_is_empty)
            .then_some(own)
            .into_iter()
            .flatten()
            .map(plain);
        let pairs = pairs
            .into_iter()
            .flat_map(|(own, root)| {
                let root = root.into_iter().flatten();
                // One condition of the delegate that fits none of the other side takes the whole rule away.
                let fits = own
                    .clone()
                    .all(|own| root.clone().any(|root| !conflict(root, own)));
                fits.then_some((own, root))
            })
            .flat_map(|(own, root)| {
                own.flat_map(move |own| root.clone().map(move |root| (root, own)))
            })
            .filter(|&(root, own)| !conflict(root, own))
            .map(|(root, own)| HttpMatch {
                own: Some(own),
                root: Some(root),
            });
        alone
            .into_iter()
            .chain(only_own)
            .chain(only_root)
            .chain(pairs)
    }

    /// The conditions under which it becomes a route at this place.
    pub fn routes<'p>(
        &self,
        place: Place<'p>,
    ) -> impl Iterator<Item = HttpMatch<'a>> + use<'a, 'p> {
        self.matches()
            .filter(move |condition| condition.admits(&place))
    }
}
