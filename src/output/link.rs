//! The one place that knows where the project's pages are.

/// The page of a rule on the web.
pub fn rule_page(rule: &str) -> String {
    format!("{}/blob/main/rules/{rule}.md", env!("CARGO_PKG_REPOSITORY"))
}
