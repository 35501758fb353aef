//! Runs the pipeline: load -> parse -> decode -> resolve -> check -> suppress -> sort.

mod about;
mod built_in;
mod check;
mod kustomize;
mod levels;
mod load;
mod locate;
mod parse;
mod report;

pub use built_in::{BUILT_IN, FIXED};
pub use check::{Settings, check, known_rules, worlds};
pub use levels::{Levels, UnknownRule};
pub use load::{Loaded, Request, load};
