//! Makes what rules look at of the paths of a world, one part of them after the other.

use super::clusters;
use super::context::Context;
use super::traffic::Traffic;
use super::ways::{self, HttpWay};
use crate::egress::path::Path;

/// Remembers what earlier parts have shown, so that each cluster and each way is looked at once.
#[derive(Default)]
pub struct Survey<'a> {
    clusters: clusters::Finder<'a>,
    ways: ways::Finder<'a>,
}

impl<'a> Survey<'a> {
    /// What some clients send out.
    pub fn part(&mut self, cx: &Context<'a>, paths: Vec<Path>) -> Traffic<'a> {
        let traffic = Traffic::new(paths);
        let Self { clusters, ways } = self;
        let take_clusters = || clusters.take(cx, &traffic);
        let (clusters, ()) = rayon::join(take_clusters, || ways.take(cx, &traffic));
        traffic.with_clusters(clusters)
    }

    /// The clusters to which none of the paths leads, and the ways of HTTP requests towards external hosts.
    pub fn rest(self, cx: &Context<'a>) -> (Traffic<'a>, Vec<HttpWay<'a>>) {
        let Self { clusters, ways } = self;
        let (clusters, ways) = rayon::join(|| clusters.rest(cx), || ways.finish(cx));
        (Traffic::default().with_clusters(clusters), ways)
    }
}
