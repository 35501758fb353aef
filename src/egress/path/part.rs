//! The paths of a world, some clients at a time: all of them together may be many times larger than its files.

use std::collections::VecDeque;
use std::sync::Arc;

use rayon::prelude::*;

use super::clients::Clients;
use super::destination::{Destination, destinations};
use super::walk::Walk;
use super::{Path, Question};
use crate::egress::client::Client;
use crate::egress::model::Model;
use crate::egress::tables::SharedTables;

/// So many endpoints of a cluster are kept for rules: with that many each percent of them is one at least.
const KEPT: usize = 100;

/// So many destinations of one client are followed by one pair of hands, which know its proxy then.
const OF_WALK: usize = 16_384;

/// A part follows so many destinations, and so many of one pair of hands.
const PART: usize = 1024;
const SHARE: usize = 512;

/// After so many paths one pair of hands stops, wherever it is.
const PATHS: usize = 16_384;

/// Every way to every port of every external host that the files define, as each namespace sees it that defines it,
/// routes to it, or has a policy for it: those of one client after those of another. Within a part they are in the
/// order of the definitions, then of clients and routes.
pub struct Parts<'m> {
    model: &'m Model<'m>,
    question: Question,
    kept: usize,
    ahead: VecDeque<Errand<'m>>,
    tables: Arc<SharedTables<'m>>,
}

impl<'m> Parts<'m> {
    /// All paths. Of a cluster with very many endpoints only the first are kept.
    pub fn new(model: &'m Model<'m>) -> Self {
        Self::of(&Clients::new(model), Question::default(), KEPT)
    }

    /// The paths that are asked for.
    pub(super) fn asked(clients: &Clients<'m>, question: Question) -> Self {
        Self::of(clients, question, usize::MAX)
    }

    fn of(clients: &Clients<'m>, question: Question, kept: usize) -> Self {
        let mut ahead = VecDeque::new();
        for (client, all) in destinations(clients, &question) {
            let pieces = all.chunks(OF_WALK);
            ahead.extend(pieces.map(|piece| Errand::new(client.clone(), piece.to_vec())));
        }
        Self {
            model: clients.model,
            question,
            kept,
            ahead,
            tables: Arc::default(),
        }
    }

    /// Who follows what in the next part.
    fn shares(&mut self) -> Vec<(Errand<'m>, usize)> {
        let mut room = PART;
        let mut shares = Vec::new();
        while let Some(errand) = self.ahead.pop_front() {
            let share = errand.left().min(SHARE).min(room);
            room -= share;
            shares.push((errand, share));
            if room == 0 {
                break;
            }
        }
        shares
    }
}

impl Iterator for Parts<'_> {
    type Item = Vec<Path>;

    fn next(&mut self) -> Option<Vec<Path>> {
        let mut shares = self.shares();
        if shares.is_empty() {
            return None;
        }
        let (model, question, kept) = (self.model, &self.question, self.kept);
        let tables = &self.tables;
        let found = shares.par_iter_mut().flat_map_iter(|(errand, share)| {
            let start = || Walk::new(model, Arc::clone(tables), kept);
            errand.follow(*share, question, start)
        });
        let mut found: Vec<(Destination, Path)> = found.collect();
        found.sort_by_key(|(destination, _)| *destination);
        for (errand, _) in shares.into_iter().rev() {
            if errand.left() > 0 {
                self.ahead.push_front(errand);
            }
        }
        Some(found.into_iter().map(|(_, path)| path).collect())
    }
}

/// Destinations of one client, to be followed one after the other.
struct Errand<'m> {
    client: Client,
    destinations: Vec<Destination>,
    done: usize,
    /// Kept from one part to the next.
    walk: Option<Walk<'m>>,
}

impl<'m> Errand<'m> {
    fn new(client: Client, destinations: Vec<Destination>) -> Self {
        Self {
            client,
            destinations,
            done: 0,
            walk: None,
        }
    }

    fn left(&self) -> usize {
        self.destinations.len() - self.done
    }

    fn follow(
        &mut self,
        share: usize,
        question: &Question,
        start: impl FnOnce() -> Walk<'m>,
    ) -> Vec<(Destination, Path)> {
        let walk = self.walk.get_or_insert_with(|| {
            let mut walk = start();
            let ports = self.destinations.iter();
            let ports = ports.filter_map(|it| it.port_number(walk.model)).collect();
            walk.prepare(&self.client, &ports);
            walk
        });
        let mut found = Vec::new();
        for destination in self.destinations.iter().skip(self.done).take(share) {
            if found.len() >= PATHS {
                break;
            }
            let paths = destination.paths(&self.client, question, walk);
            found.extend(paths.map(|path| (*destination, path)));
            self.done += 1;
        }
        walk.forget_hosts();
        if self.left() == 0 {
            self.walk = None;
        }
        found
    }
}
