//! The path of a value in its object, as Kubernetes writes it.

use std::borrow::Cow;
use std::fmt::{self, Display};

#[derive(Default)]
pub(super) struct Path<'t>(Vec<Step<'t>>);

enum Step<'t> {
    Field(Cow<'t, str>),
    Index(usize),
}

impl<'t> Path<'t> {
    pub(super) fn push(&mut self, name: impl Into<Cow<'t, str>>) {
        self.0.push(Step::Field(name.into()));
    }

    pub(super) fn push_index(&mut self, index: usize) {
        self.0.push(Step::Index(index));
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    pub(super) fn child(&self, name: &str) -> String {
        if self.0.is_empty() {
            name.to_owned()
        } else {
            format!("{self}.{name}")
        }
    }

    /// Without the indices: the same for all items of a list.
    pub(super) fn pattern(&self) -> String {
        let names = self.0.iter().filter_map(|step| match step {
            Step::Field(name) => Some(&**name),
            Step::Index(_) => None,
        });
        names.collect::<Vec<_>>().join(".")
    }
}

impl Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if at == 0 => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
