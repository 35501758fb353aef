//! What each document of small trees is, and which namespace its file gets.

#![allow(clippy::expect_used)]

mod tree_case;

use std::fmt::Write as _;

use egress_lint::manifest::{Assigned, Kinds, State, classify, state_of_file};
use egress_lint::yaml::{Tree, split};
use tree_case::Case;

fn main() {
    tree_case::run("manifest", "states", answer);
}

fn answer(case: &Case) -> String {
    let mut out = String::new();
    for (place, file, text) in case.files() {
        let by_name = case
            .kustomizations
            .state_of_file(place)
            .or_else(|| state_of_file(place));
        let _ = write!(out, "{place}:");
        for chunk in split(text) {
            let chunk_text = chunk.text(text);
            let tree = Tree::parse_chunks(file, text, std::slice::from_ref(&chunk));
            let root = tree.documents(text).next().map(|document| document.root);
            let state = classify(chunk_text, root.filter(|_| tree.errors().is_empty()));
            let state = by_name
                .filter(|_| state == State::Resource)
                .unwrap_or(state);
            let _ = write!(out, " {state:?}");
            if state == State::Template {
                let kinds = Kinds::of_template(chunk_text);
                let _ = write!(out, "({kinds})");
            }
        }
        match case.kustomizations.namespace(place, None) {
            Assigned::To(name) => {
                let _ = write!(out, "; namespace {}", name.value);
            }
            Assigned::Differs => out.push_str("; namespace differs"),
            Assigned::AsWritten => {}
        }
        if case.kustomizations.is_open(place) {
            out.push_str("; open");
        }
        out.push('\n');
    }
    out
}
