//! Says what a document is before anyone judges it: a resource, a template, a patch, a fragment; reads
//! kustomizations, and which namespaces they give.

mod change;
mod kustomization;
mod kustomizations;
mod place;
mod state;
mod template;

pub use change::{Change, Target};
pub use kustomization::{KUSTOMIZATION_NAMES, Kustomization, Reference};
pub use kustomizations::{Assigned, Kustomizations, Reached, Tree};
pub use place::{folder, folders_up, name, place};
pub use state::{State, classify, is_foreign, is_whole, state_of_file};
pub use template::Kinds;
