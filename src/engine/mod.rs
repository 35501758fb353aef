//! Runs the pipeline: load -> parse -> decode -> resolve -> check -> suppress -> sort.

mod about;
mod built_in;
mod check;
mod guard;
mod intake;
mod judge;
mod kustomize;
mod levels;
mod load;
mod locate;
mod misspelt;
mod notices;
mod parse;
mod patched;
mod precedence;
mod report;
mod unknown_values;

pub use built_in::{BUILT_IN, FIXED};
pub use check::{Settings, check, known_rules, mesh, worlds};
pub use guard::watch_panics;
pub use levels::{Levels, UnknownRule, istio_version};
pub use load::{Loaded, Request, load};
