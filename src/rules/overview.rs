//! What all the traffic of a world comes to.

use super::clusters::{self, Cluster};
use super::context::Context;
use super::traffic::Traffic;
use super::ways::{self, HttpWay};

/// The clusters of external hosts and the ways of HTTP requests towards them, each once, whatever the number of paths.
#[derive(Debug)]
pub struct Overview<'a> {
    clusters: Vec<Cluster<'a>>,
    ways: Vec<HttpWay<'a>>,
}

impl<'a> Overview<'a> {
    /// The clusters of external hosts about which there is anything to ask, as the proxies have them.
    pub fn clusters(&self) -> &[Cluster<'a>] {
        &self.clusters
    }

    /// The ways of HTTP requests towards external hosts.
    pub fn ways(&self) -> &[HttpWay<'a>] {
        &self.ways
    }
}

/// An overview that is being made, of one part of the traffic after the other.
#[derive(Default)]
pub struct Gathering<'a> {
    clusters: clusters::Finder<'a>,
    ways: ways::Finder<'a>,
}

impl<'a> Gathering<'a> {
    pub fn take(&mut self, cx: &Context<'a>, traffic: &Traffic) {
        let Self { clusters, ways } = self;
        rayon::join(|| clusters.take(cx, traffic), || ways.take(cx, traffic));
    }

    pub fn finish(self, cx: &Context<'a>) -> Overview<'a> {
        let Self { clusters, ways } = self;
        let (clusters, ways) = rayon::join(|| clusters.finish(cx), || ways.finish(cx));
        Overview { clusters, ways }
    }
}
