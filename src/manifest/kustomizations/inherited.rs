//! Which namespace each kustomization hands down to what it reaches.

use super::Assigned;
use super::graph::Graph;
use crate::manifest::Kustomization;
use crate::source::Spanned;

/// The namespaces that the roots above one kustomization or file set, joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Setting {
    /// Some root reaches it and sets none.
    none: bool,
    names: Names,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Names {
    #[default]
    Nothing,
    /// The kustomization that sets it; others may set the same.
    One(usize),
    Several,
}

/// What is handed down to each kustomization.
#[derive(Clone, Debug, Default)]
pub(super) struct Inherited {
    settings: Vec<Setting>,
}

impl Inherited {
    /// Hands namespaces down until nothing changes. Each setting can change a few times only, so this is linear.
    pub(super) fn new(list: &[Kustomization], graph: &Graph) -> Self {
        let mut out = Self {
            settings: vec![Setting::default(); list.len()],
        };
        out.hand_down(list, graph, graph.roots().collect());
        // What is left lies on cycles, which kustomize refuses, or below them: each counts as a root.
        let left = (0..list.len())
            .filter(|&index| out.settings[index] == Setting::default())
            .collect();
        out.hand_down(list, graph, left);
        out
    }

    /// The namespace of the objects in a file that these kustomizations name, of which one has `written` as its own.
    pub(super) fn namespace<'a>(
        &self,
        list: &'a [Kustomization],
        named_by: &[usize],
        written: Option<&str>,
    ) -> Assigned<'a> {
        let mut setting = Setting::default();
        for &index in named_by {
            setting.join(list, self.outgoing(list, index));
        }
        match (setting.names, setting.none) {
            (Names::Nothing, _) => Assigned::AsWritten,
            (Names::Several, _) => Assigned::Differs,
            (Names::One(index), none) => match namespace_of(list, index) {
                Some(name) if !none || written == Some(&name.value) => Assigned::To(name),
                Some(_) => Assigned::Differs,
                None => Assigned::AsWritten,
            },
        }
    }

    fn hand_down(&mut self, list: &[Kustomization], graph: &Graph, roots: Vec<usize>) {
        for &root in &roots {
            self.settings[root].none = true;
        }
        let mut rest = roots;
        while let Some(index) = rest.pop() {
            let out = self.outgoing(list, index);
            for &child in graph.children(index) {
                let mut joined = self.settings[child];
                joined.join(list, out);
                if joined != self.settings[child] {
                    self.settings[child] = joined;
                    rest.push(child);
                }
            }
        }
    }

    /// What a kustomization sets on what it reaches.
    fn outgoing(&self, list: &[Kustomization], index: usize) -> Setting {
        let setting = self.settings.get(index).copied().unwrap_or_default();
        let mut out = Setting {
            none: false,
            names: setting.names,
        };
        if setting.none {
            let own = match namespace_of(list, index) {
                Some(_) => Setting {
                    none: false,
                    names: Names::One(index),
                },
                None => Setting {
                    none: true,
                    names: Names::Nothing,
                },
            };
            out.join(list, own);
        }
        out
    }
}

impl Setting {
    fn join(&mut self, list: &[Kustomization], other: Self) {
        self.none |= other.none;
        self.names = match (self.names, other.names) {
            (names, Names::Nothing) | (Names::Nothing, names) => names,
            (Names::One(a), Names::One(b)) => {
                let name = |index| namespace_of(list, index).map(|name| name.value.as_str());
                if name(a) == name(b) {
                    // The first one stays, so that each setting changes a few times at most.
                    Names::One(a)
                } else {
                    Names::Several
                }
            }
            _ => Names::Several,
        };
    }
}

fn namespace_of(list: &[Kustomization], index: usize) -> Option<&Spanned<String>> {
    list.get(index)?.namespace.as_ref()
}
