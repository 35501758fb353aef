//! A panic in a rule is a fault of that rule: it is told as a finding, and the others go on.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

thread_local! {
    /// What the guarded work on this thread panicked with; `None` while nothing is guarded.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on, panics in guarded work print nothing; `report` tells of all others.
pub fn watch_panics(report: fn(&str)) {
    panic::set_hook(Box::new(move |info| {
        let told = describe(info);
        let guarded = CAUGHT.with_borrow_mut(|caught| match caught {
            Some(caught) => {
                caught.clone_from(&told);
                true
            }
            None => false,
        });
        if !guarded {
            report(&told);
        }
    }));
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("no message");
    match info.location() {
        Some(at) => format!("{message} ({}:{})", at.file(), at.line()),
        None => message.to_owned(),
    }
}

/// Does the work.
///
/// # Errors
/// It panicked: with what, and where.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let outer = CAUGHT.replace(Some(String::new()));
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    let caught = CAUGHT.replace(outer);
    done.map_err(|_| caught.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_is_an_error_of_its_work_only() {
        assert_eq!(guarded(|| 1), Ok(1));
        assert!(guarded(|| panic!("no")).is_err());
        assert_eq!(guarded(|| guarded(|| panic!("no")).is_err()), Ok(true));
    }
}
