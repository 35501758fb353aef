//! Says what a finding, a label, a fix, a rule's public facts and a report are; knows no rule and no format.

mod diagnostic;
mod nearest;
mod report;

pub use diagnostic::{
    Diagnostic, Edit, Extras, Finding, Fix, Label, RefusedBy, ResourceRef, Safety, Severity,
    Silencer, Suppressed,
};
pub use nearest::{meant, nearest};
pub use report::{Baselined, Fixable, Report, RuleInfo, Summary};
