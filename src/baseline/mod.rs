//! Knows the findings that were there before: a large repository adopts the tool and hears only of new ones.

mod accept;
mod entry;
mod file;
mod load;

pub use accept::Fate;
pub use entry::Entry;
pub use file::schema;
pub use load::{Loaded, load};

use std::collections::BTreeMap;

use crate::config::Place;

/// The findings that are accepted, and how many of each.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// Where its folder is, seen from the working directory: its paths begin there.
    place: Place,
    entries: BTreeMap<Entry, usize>,
}

impl Baseline {
    /// How many findings it accepts.
    pub fn len(&self) -> usize {
        self.entries.values().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Where its paths begin.
    pub fn place(&self) -> &Place {
        &self.place
    }
}
