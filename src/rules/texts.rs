//! Files, read again where something in them is to be changed: their trees are gone by then.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::diag::Edit;
use crate::source::{FileId, Sources, Span};
use crate::yaml::{Place, Tree, Value};

#[derive(Debug)]
pub(super) struct Texts<'a> {
    sources: &'a Sources,
    trees: Mutex<HashMap<FileId, Arc<Tree>>>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(sources: &'a Sources) -> Self {
        Self {
            sources,
            trees: Mutex::default(),
        }
    }

    /// What `change` makes of the entry with its key or its scalar value at `place`, or of the item that begins there;
    /// `None` where that is not written in one place, or the change is not possible there.
    pub(super) fn edit(
        &self,
        place: Span,
        change: impl FnOnce(&Place<'_>) -> Option<Edit>,
    ) -> Option<Edit> {
        let text = &self.sources.get(place.file).text;
        change(&self.tree(place.file).locate(text, place)?)
    }

    /// What is written there.
    pub(super) fn value(&self, place: Span) -> Option<Value> {
        let text = &self.sources.get(place.file).text;
        let tree = self.tree(place.file);
        Some(Value::from(tree.locate(text, place)?.value))
    }

    /// Copies the entry with its key at `from` into the map at `to`, of the same file.
    pub(super) fn copy(&self, from: Span, to: Span) -> Option<Edit> {
        let text = &self.sources.get(to.file).text;
        let tree = self.tree(to.file);
        let from = tree.locate(text, from).filter(|_| from.file == to.file)?;
        tree.locate(text, to)?.copy(&from)
    }

    fn tree(&self, file: FileId) -> Arc<Tree> {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        let tree = trees.entry(file).or_insert_with(|| {
            let text = &self.sources.get(file).text;
            Arc::new(Tree::parse(file, text))
        });
        Arc::clone(tree)
    }
}
