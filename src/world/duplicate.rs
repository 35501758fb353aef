//! Resources that one file or one kustomization defines more than once.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use super::file::File;
use super::identity::{Identity, is_filled_in};
use crate::diag::{Diagnostic, Severity};
use crate::istio::{Resource, Spec};
use crate::manifest::{Kustomizations, Tree};
use crate::source::Span;

pub(super) const RULE: &str = "duplicate-resource";

/// Labels beyond this number say nothing new.
const MOST_LABELS: usize = 8;

pub(super) fn find(files: &[&File], kustomizations: &Kustomizations) -> Vec<Diagnostic> {
    let mut out: Vec<Diagnostic> = files.iter().flat_map(|file| in_file(file)).collect();
    let places: HashMap<&str, &File> = files
        .iter()
        .map(|file| (file.place.as_str(), *file))
        .collect();
    let mut said = HashSet::default();
    for tree in kustomizations.trees() {
        for finding in in_tree(&tree, &places) {
            // Another root may reach the same two.
            let spans: Vec<Span> = finding.spans().take(2).collect();
            if said.insert(spans) {
                out.push(finding);
            }
        }
    }
    out
}

fn counted(file: &File) -> impl Iterator<Item = (Identity<'_>, &Resource)> {
    // A file that is only read for its Services is others' to judge.
    let ours = file.resources.iter().any(|it| it.spec.is_of_mesh());
    file.resources
        .iter()
        .filter(move |_| ours)
        // Several manifests that create their namespace are normal.
        .filter(|resource| !matches!(resource.spec, Spec::Namespace) && !is_filled_in(resource))
        .filter_map(|resource| Some((Identity::of(resource)?, resource)))
}

/// Where a definition says which resource it is.
fn place_of(resource: &Resource) -> Span {
    resource
        .meta
        .name
        .as_ref()
        .map_or(resource.kind, |name| name.span)
}

fn title(resource: &Resource, namespace: Option<&str>) -> String {
    let name = resource.name();
    match namespace {
        Some(namespace) => format!("{} `{namespace}/{name}`", resource.spec.kind()),
        None => format!("{} `{name}`", resource.spec.kind()),
    }
}

fn in_file(file: &File) -> Vec<Diagnostic> {
    let mut known: BTreeMap<Identity<'_>, Vec<&Resource>> = BTreeMap::new();
    for (identity, resource) in counted(file) {
        known.entry(identity).or_default().push(resource);
    }
    known
        .into_values()
        .filter_map(|definitions| {
            let (last, earlier) = definitions.split_last()?;
            if earlier.is_empty() {
                return None;
            }
            let message = format!(
                "{} is defined {} in this file: only the last definition stays",
                title(last, last.namespace()),
                times(definitions.len())
            );
            let finding = Diagnostic::new(RULE, Severity::Warning, place_of(last), message)
                .help("remove all definitions but one, or rename them");
            Some(
                earlier
                    .iter()
                    .take(MOST_LABELS)
                    .fold(finding, |finding, resource| {
                        finding.because(
                            place_of(resource),
                            "an earlier definition, which is overwritten",
                        )
                    }),
            )
        })
        .collect()
}

fn times(count: usize) -> String {
    match count {
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// What kustomize names an object by, once all that lies on the way has been applied.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Built {
    kind: &'static str,
    namespace: Option<String>,
    name: String,
}

fn in_tree(tree: &Tree<'_>, places: &HashMap<&str, &File>) -> Vec<Diagnostic> {
    let mut known: BTreeMap<Built, Vec<(&Resource, Span)>> = BTreeMap::new();
    let mut read = HashSet::default();
    for reached in tree.files.iter().filter(|reached| !reached.repeated) {
        let Some(file) = places.get(reached.place) else {
            continue;
        };
        if !read.insert(file.id) {
            continue;
        }
        let mut here = HashSet::default();
        for (identity, resource) in counted(file) {
            let written = resource.meta.namespace.as_ref();
            let built = Built {
                kind: identity.kind,
                namespace: reached
                    .namespace
                    .or(written.map(|name| name.value.as_str()))
                    .map(str::to_owned),
                name: format!("{}{}{}", reached.prefix, identity.name, reached.suffix),
            };
            // Twice in one file is said of the file.
            if here.insert(identity) {
                known
                    .entry(built)
                    .or_default()
                    .push((resource, reached.span));
            }
        }
    }
    known
        .into_iter()
        .filter_map(|(built, definitions)| {
            let ((last, span), earlier) = definitions.split_last()?;
            if earlier.is_empty() {
                return None;
            }
            let message = format!(
                "{} is defined {} in the tree of one kustomization, which kustomize refuses",
                title(last, built.namespace.as_deref()),
                times(definitions.len())
            );
            let finding = Diagnostic::new(RULE, Severity::Warning, place_of(last), message)
                .help("keep one definition, and change it in overlays with `patches`");
            let finding = earlier
                .iter()
                .take(MOST_LABELS)
                .fold(finding, |finding, (resource, _)| {
                    finding.because(place_of(resource), "defined here too")
                });
            Some(finding.because(*span, "the kustomization that reaches this definition"))
        })
        .collect()
}
