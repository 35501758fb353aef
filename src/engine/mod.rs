//! Runs the pipeline: load -> parse -> decode -> resolve -> check -> suppress -> sort.

mod built_in;
mod load;
mod report;

pub use built_in::{BUILT_IN, is_built_in};
pub use load::{Loaded, load};
pub use report::report;
