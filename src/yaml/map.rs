//! Which entries of a map Kubernetes takes: merges in the order of the text, the last of a doubled key.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use smallvec::SmallVec;

use super::fault::{Notice, NoticeKind};
use super::tag::Tag;
use super::tree::{Pair, Raw, Shape, Sight, Style, Tree};

/// How many entries the merges of one document may bring together.
pub(super) const MERGED: usize = 1_000_000;

/// What is wrong with a map, and the node that shows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MapFault {
    /// A map or a list as a key.
    Key(u32),
    /// A scalar that cannot be a key, and why.
    Name(u32, String),
    /// What stands behind `<<` is neither a map nor a list of maps.
    Merge(u32),
    /// Too many entries come together.
    TooMany(u32),
}

/// So much of what is lost in one map is told.
const NOTICED: usize = 100;

/// Settles the entries of a map that is complete. `budget` counts down what merges bring.
pub(super) fn settle(
    tree: &mut Tree,
    text: &str,
    map: u32,
    budget: &mut usize,
) -> Result<(), MapFault> {
    let pairs = Pairs {
        tree,
        next: map + 1,
        end: tree.after(map),
    };
    if !is_special(tree, text, pairs.clone())? {
        return Ok(());
    }
    let mut taken = Taken::default();
    let mut notices = Vec::new();
    for (key, value) in pairs {
        if let Some(name) = name(tree, text, key)? {
            let pair = Pair {
                key,
                value,
                via: key,
            };
            let before = taken.put(name, pair);
            if let Some(before) = before.filter(|_| notices.len() < NOTICED) {
                notices.extend(notice(tree, NoticeKind::DuplicateKey, before, pair));
            }
            continue;
        }
        for source in sources(tree, value)? {
            for (name, pair) in entries(tree, text, tree.target(source))? {
                *budget = budget.checked_sub(1).ok_or(MapFault::TooMany(value))?;
                let pair = Pair {
                    via: source,
                    ..pair
                };
                let before = taken.put(name, pair);
                if let Some(before) = before.filter(|_| notices.len() < NOTICED) {
                    notices.extend(notice(tree, NoticeKind::OverriddenByMerge, before, pair));
                }
            }
        }
    }
    let pairs = taken.pairs;
    tree.notices.extend(notices);
    tree.effective.push(pairs);
    let index = u32::try_from(tree.effective.len()).unwrap_or(u32::MAX);
    if let Some(raw) = tree.nodes.get_mut(map as usize) {
        raw.b = index;
    }
    Ok(())
}

/// The entries so far, in the order in which their names came up.
#[derive(Default)]
struct Taken<'t> {
    pairs: Vec<Pair>,
    places: HashMap<Cow<'t, str>, usize>,
}

impl<'t> Taken<'t> {
    /// Returns what was taken before under this name.
    fn put(&mut self, name: Cow<'t, str>, pair: Pair) -> Option<Pair> {
        let place = *self.places.entry(name).or_insert(self.pairs.len());
        match self.pairs.get_mut(place) {
            Some(taken) => Some(std::mem::replace(taken, pair)),
            None => {
                self.pairs.push(pair);
                None
            }
        }
    }
}

/// Worth a word where a key that is written in this map loses.
fn notice(tree: &Tree, kind: NoticeKind, before: Pair, after: Pair) -> Option<Notice> {
    let span = |index: u32| {
        let raw = tree.nodes.get(index as usize)?;
        Some(tree.span(raw.start, raw.end))
    };
    if before.via != before.key {
        return None;
    }
    Some(Notice {
        kind,
        span: span(before.key)?,
        other: span(after.via),
    })
}

/// The maps behind `<<`, those that win last.
fn sources(tree: &Tree, value: u32) -> Result<Vec<u32>, MapFault> {
    let shape = |index: u32| {
        tree.nodes
            .get(tree.target(index) as usize)
            .map(|raw| raw.shape)
    };
    let raw = tree.nodes.get(value as usize);
    match raw.map(|raw| raw.shape) {
        Some(Shape::Map) => Ok(vec![value]),
        Some(Shape::Alias) if shape(value) == Some(Shape::Map) => Ok(vec![value]),
        Some(Shape::List) => {
            let mut maps = Vec::new();
            let mut item = value + 1;
            while item < tree.after(value) {
                if shape(item) != Some(Shape::Map) {
                    return Err(MapFault::Merge(item));
                }
                maps.push(item);
                item = tree.after(item);
            }
            maps.reverse();
            Ok(maps)
        }
        _ => Err(MapFault::Merge(value)),
    }
}

/// The entries of a map that is settled.
fn entries<'t>(
    tree: &'t Tree,
    text: &'t str,
    map: u32,
) -> Result<Vec<(Cow<'t, str>, Pair)>, MapFault> {
    let settled = tree
        .nodes
        .get(map as usize)
        .and_then(|raw| tree.effective.get(raw.b.checked_sub(1)? as usize));
    let named = |pair: Pair| Ok((name(tree, text, pair.key)?.unwrap_or_default(), pair));
    match settled {
        Some(pairs) => pairs.iter().map(|&pair| named(pair)).collect(),
        None => {
            let pairs = Pairs {
                tree,
                next: map + 1,
                end: tree.after(map),
            };
            pairs
                .map(|(key, value)| {
                    named(Pair {
                        key,
                        value,
                        via: key,
                    })
                })
                .collect()
        }
    }
}

fn is_merge(tree: &Tree, text: &str, key: u32) -> bool {
    tree.nodes.get(key as usize).is_some_and(|raw| {
        raw.shape == Shape::Scalar
            && raw.sight != Sight::Text
            && (raw.tag == Tag::Merge || raw.tag == Tag::None && raw.style == Style::Plain)
            && tree.scalar_text(text, raw) == "<<"
    })
}

/// What a key is called; `None` for a merge.
fn name<'t>(tree: &'t Tree, text: &'t str, key: u32) -> Result<Option<Cow<'t, str>>, MapFault> {
    if is_merge(tree, text, key) {
        return Ok(None);
    }
    let raw: &Raw = tree
        .nodes
        .get(tree.target(key) as usize)
        .ok_or(MapFault::Key(key))?;
    if raw.shape != Shape::Scalar {
        return Err(MapFault::Key(key));
    }
    tree.key(text, raw)
        .map(Some)
        .map_err(|reason| MapFault::Name(key, reason))
}

/// Whether there is a merge, or perhaps a key twice.
fn is_special(tree: &Tree, text: &str, pairs: Pairs<'_>) -> Result<bool, MapFault> {
    /// Up to here comparing all with all is faster than hashing.
    const FEW: usize = 16;
    let mut few: SmallVec<[Cow<'_, str>; FEW]> = SmallVec::new();
    // Of many keys only hashes are kept.
    let mut many: Vec<u64> = Vec::new();
    let hash = |name: &str| BuildHasherDefault::<DefaultHasher>::default().hash_one(name);
    let mut special = false;
    for (key, _) in pairs {
        let Some(name) = name(tree, text, key)? else {
            special = true;
            continue;
        };
        if special {
            // The other keys are looked at for their faults only.
            continue;
        }
        if many.is_empty() && few.len() < FEW {
            special |= few.contains(&name);
            few.push(name);
            continue;
        }
        many.extend(few.drain(..).map(|name| hash(&name)));
        many.push(hash(&name));
    }
    many.sort_unstable();
    Ok(special || many.windows(2).any(|pair| matches!(pair, [a, b] if a == b)))
}

/// The keys and values of a map as they are written.
#[derive(Clone)]
struct Pairs<'t> {
    tree: &'t Tree,
    next: u32,
    end: u32,
}

impl Iterator for Pairs<'_> {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
        if self.next >= self.end {
            return None;
        }
        let key = self.next;
        let value = self.tree.after(key);
        self.next = self.tree.after(value);
        Some((key, value))
    }
}
