//! Which namespace, or which label, each kustomization hands down to what it reaches.

use super::Assigned;
use super::graph::Graph;
use crate::manifest::Kustomization;
use crate::source::Spanned;

/// The values that the roots above one kustomization or file set, joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Setting {
    /// Some root reaches it and sets none.
    none: bool,
    values: Values,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Values {
    #[default]
    Nothing,
    /// The kustomization that sets it; others may set the same.
    One(usize),
    Several,
}

/// What a kustomization sets on all that it reaches.
type Of = fn(&Kustomization) -> Option<&Spanned<String>>;

/// What is handed down to each kustomization.
#[derive(Clone, Debug)]
pub(super) struct Inherited {
    of: Of,
    settings: Vec<Setting>,
}

impl Default for Inherited {
    fn default() -> Self {
        Self {
            of: |_| None,
            settings: Vec::new(),
        }
    }
}

impl Inherited {
    /// Hands values down until nothing changes. Each setting can change a few times only, so this is linear.
    pub(super) fn new(list: &[Kustomization], graph: &Graph, of: Of) -> Self {
        let mut out = Self {
            of,
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

    /// The value for the objects in a file that these kustomizations name, of which one has `written` as its own.
    pub(super) fn assigned<'a>(
        &self,
        list: &'a [Kustomization],
        named_by: &[usize],
        written: Option<&str>,
    ) -> Assigned<'a> {
        let mut setting = Setting::default();
        for &index in named_by {
            self.join(list, &mut setting, self.outgoing(list, index));
        }
        match (setting.values, setting.none) {
            (Values::Nothing, _) => Assigned::AsWritten,
            (Values::Several, _) => Assigned::Differs,
            (Values::One(index), none) => match self.value(list, index) {
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
                self.join(list, &mut joined, out);
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
            values: setting.values,
        };
        if setting.none {
            let own = match self.value(list, index) {
                Some(_) => Setting {
                    none: false,
                    values: Values::One(index),
                },
                None => Setting {
                    none: true,
                    values: Values::Nothing,
                },
            };
            self.join(list, &mut out, own);
        }
        out
    }

    /// Takes another setting in.
    fn join(&self, list: &[Kustomization], setting: &mut Setting, other: Setting) {
        setting.none |= other.none;
        setting.values = match (setting.values, other.values) {
            (values, Values::Nothing) | (Values::Nothing, values) => values,
            (Values::One(a), Values::One(b)) => {
                let value = |index| self.value(list, index).map(|it| it.value.as_str());
                if value(a) == value(b) {
                    // The first one stays, so that each setting changes a few times at most.
                    Values::One(a)
                } else {
                    Values::Several
                }
            }
            _ => Values::Several,
        };
    }

    fn value<'a>(&self, list: &'a [Kustomization], index: usize) -> Option<&'a Spanned<String>> {
        (self.of)(list.get(index)?)
    }
}
