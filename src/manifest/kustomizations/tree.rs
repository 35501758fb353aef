//! What one root makes of the files that it reaches: their namespaces, and the names of their objects.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::Kustomizations;
use crate::manifest::Kustomization;
use crate::source::Span;

/// A file that a tree holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached<'a> {
    pub place: &'a str,
    /// Where a kustomization names it.
    pub span: Span,
    /// What the kustomizations on the way set; `None`: as written.
    pub namespace: Option<&'a str>,
    pub prefix: Arc<str>,
    pub suffix: Arc<str>,
    /// The tree holds it more than once, with different names or namespaces.
    pub repeated: bool,
}

/// A kustomization that no other reaches, with all that it reaches.
#[derive(Clone, Debug)]
pub struct Tree<'a> {
    pub root: &'a Kustomization,
    pub files: Vec<Reached<'a>>,
    /// How many it is made of.
    pub(super) kustomizations: usize,
}

/// A kustomization on the way, with what those above it set.
struct Step<'a> {
    index: usize,
    namespace: Option<&'a str>,
    prefix: Arc<str>,
    suffix: Arc<str>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(all: &'a Kustomizations, root: usize) -> Option<Self> {
        let by_folder: HashMap<&str, usize> = all
            .graph
            .below(&[root])
            .into_iter()
            .filter_map(|index| Some((all.list.get(index)?.folder.as_str(), index)))
            .collect();
        let mut files = Vec::new();
        let mut seen: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([Step {
            index: root,
            namespace: None,
            prefix: Arc::from(""),
            suffix: Arc::from(""),
        }]);
        while let Some(step) = queue.pop_front() {
            let times = seen.entry(step.index).or_default();
            *times += 1;
            if *times > 1 {
                continue;
            }
            let Some(one) = all.list.get(step.index) else {
                continue;
            };
            let namespace = step
                .namespace
                .or(one.namespace.as_ref().map(|name| name.value.as_str()));
            // The inner one is set first, so the outer prefix stands outside.
            let prefix = clipped(format!("{}{}", step.prefix, one.name_prefix));
            let suffix = clipped(format!("{}{}", one.name_suffix, step.suffix));
            for reference in &one.reaches {
                match by_folder.get(reference.place.as_str()) {
                    Some(&child) => queue.push_back(Step {
                        index: child,
                        namespace,
                        prefix: prefix.clone(),
                        suffix: suffix.clone(),
                    }),
                    None => files.push((
                        step.index,
                        Reached {
                            place: &reference.place,
                            span: reference.span,
                            namespace,
                            prefix: prefix.clone(),
                            suffix: suffix.clone(),
                            repeated: false,
                        },
                    )),
                }
            }
        }
        let files = files
            .into_iter()
            .map(|(index, file)| Reached {
                repeated: seen.get(&index).is_some_and(|times| *times > 1),
                ..file
            })
            .collect();
        Some(Self {
            root: all.list.get(root)?,
            files,
            kustomizations: by_folder.len(),
        })
    }
}

/// No object's name is longer; what is cut off makes no name that Kubernetes accepts.
fn clipped(part: String) -> Arc<str> {
    const LONGEST: usize = 253;
    part.chars().take(LONGEST).collect::<String>().into()
}
