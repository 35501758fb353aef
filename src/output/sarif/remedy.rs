//! What a fix changes in which files.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Text;
use super::place::{Artifact, Region};
use crate::diag::{Edit, Fix};
use crate::source::{FileId, Sources};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Remedy {
    description: Text,
    artifact_changes: Vec<Change>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Change {
    artifact_location: Artifact,
    replacements: Vec<Replacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replacement {
    deleted_region: Region,
    inserted_content: Text,
}

impl Remedy {
    pub(super) fn new(fix: &Fix, sources: &Sources) -> Self {
        let mut files: BTreeMap<FileId, Vec<&Edit>> = BTreeMap::new();
        for edit in &fix.edits {
            files.entry(edit.span.file).or_default().push(edit);
        }
        let changes = files.into_iter().map(|(file, edits)| Change {
            artifact_location: Artifact::new(file, sources),
            replacements: edits
                .into_iter()
                .map(|edit| Replacement {
                    deleted_region: Region::new(edit.span, sources),
                    inserted_content: Text {
                        text: edit.text.clone(),
                    },
                })
                .collect(),
        });
        Self {
            description: Text {
                text: fix.message.clone(),
            },
            artifact_changes: changes.collect(),
        }
    }
}
