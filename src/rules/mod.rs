//! Declares the rule interface, the registry, and one check per file.

mod findings;
mod options;

pub use crate::diag::RuleInfo as Meta;
pub use findings::{Basis, Findings};
pub use options::Options;
