//! Documents, read again where something in them is to be changed: their trees are gone by then.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;

use crate::diag::Edit;
use crate::source::{FileId, Sources, Span};
use crate::yaml::{Chunk, Place, Tree, Value, split};

/// So many documents that were read are kept: what is to be changed mostly lies close together.
const KEPT: usize = 16;

#[derive(Debug)]
pub(super) struct Texts<'a> {
    sources: &'a Sources,
    /// Somebody wants to know what to change.
    wanted: bool,
    chunks: Mutex<HashMap<FileId, Arc<[Chunk]>>>,
    /// The documents that were read last, by their place in the file.
    last: Mutex<VecDeque<(FileId, usize, Arc<Tree>)>>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(sources: &'a Sources, wanted: bool) -> Self {
        Self {
            sources,
            wanted,
            chunks: Mutex::default(),
            last: Mutex::default(),
        }
    }

    /// What `change` makes of the entry with its key or its scalar value at `place`, or of the item that begins there;
    /// `None` where that is not written in one place, or the change is not possible there.
    pub(super) fn edit(
        &self,
        place: Span,
        change: impl FnOnce(&Place<'_>) -> Option<Edit>,
    ) -> Option<Edit> {
        let tree = self.tree(place)?;
        change(&tree.locate(self.text(place), place)?)
    }

    /// What is written there.
    pub(super) fn value(&self, place: Span) -> Option<Value> {
        let tree = self.tree(place)?;
        Some(Value::from(tree.locate(self.text(place), place)?.value))
    }

    /// Copies the entry with its key at `from` into the map at `to`, of the same file.
    pub(super) fn copy(&self, from: Span, to: Span) -> Option<Edit> {
        if from.file != to.file {
            return None;
        }
        let (source, target) = (self.tree(from)?, self.tree(to)?);
        let from = source.locate(self.text(from), from)?;
        target.locate(self.text(to), to)?.copy(&from)
    }

    fn text(&self, place: Span) -> &'a str {
        &self.sources.get(place.file).text
    }

    /// The document around a place.
    fn tree(&self, place: Span) -> Option<Arc<Tree>> {
        if !self.wanted {
            return None;
        }
        let text = self.text(place);
        let chunks = {
            let mut all = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
            let chunks = all.entry(place.file).or_insert_with(|| split(text).into());
            Arc::clone(chunks)
        };
        let at = chunks.partition_point(|chunk| chunk.end() <= place.start);
        let known = |last: &VecDeque<(FileId, usize, Arc<Tree>)>| {
            let mut last = last.iter();
            let found = last.find(|(file, other, _)| (*file, *other) == (place.file, at))?;
            Some(Arc::clone(&found.2))
        };
        if let Some(tree) = known(&self.last.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Some(tree);
        }
        let chunk = chunks.get(at)?.clone();
        let tree = Arc::new(Tree::parse_chunks(place.file, text, &[chunk]));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.truncate(KEPT - 1);
        last.push_front((place.file, at, Arc::clone(&tree)));
        Some(tree)
    }
}
