//! What reaches the terminal: standard error, colours, and nothing that a file could have smuggled in.

use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::ProgressBar;
use supports_hyperlinks::Stream;

use super::arguments::Color;
use super::exit::Exit;
use crate::output::{self, visible};

/// Says something on standard error.
pub(super) fn say(message: &str) {
    let _ = writeln!(io::stderr().lock(), "egress-lint: {}", visible(message));
}

/// With fewer files or resources than this a step is done before anybody looks.
const MANY: usize = 5_000;

/// Moves on standard error while a step takes long, if that is a terminal; gone when the step is done.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
    count: AtomicUsize,
}

impl Progress {
    /// Says what it is `doing`, such as `reading files`, once it has so many to do that somebody may look; never if `quiet`.
    pub(super) fn new(doing: &'static str, quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let bar = match quiet || dumb || !io::stderr().is_terminal() {
            true => ProgressBar::hidden(),
            false => ProgressBar::new_spinner().with_message(doing),
        };
        Self {
            bar,
            count: AtomicUsize::new(0),
        }
    }

    /// So many more.
    pub(super) fn add(&self, count: usize) {
        let before = self.count.fetch_add(count, Ordering::Relaxed);
        if before < MANY && before + count >= MANY {
            self.bar.enable_steady_tick(Duration::from_millis(100));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The end of a run that could not be done.
pub(super) fn failure(error: &anyhow::Error) -> Exit {
    say(&format!("error: {error:#}"));
    Exit::Trouble
}

/// Standard output. A reader that has seen enough and went away is no error: the rest is written to nobody.
#[derive(Debug)]
pub(super) struct Stdout {
    to: io::StdoutLock<'static>,
    read: bool,
}

impl Stdout {
    pub(super) fn new() -> Self {
        Self {
            to: io::stdout().lock(),
            read: true,
        }
    }

    fn unless_gone<T>(&mut self, done: io::Result<T>, otherwise: T) -> io::Result<T> {
        match done {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.read = false;
                Ok(otherwise)
            }
            done => done,
        }
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = if self.read {
            self.to.write(bytes)
        } else {
            Ok(bytes.len())
        };
        self.unless_gone(done, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = if self.read { self.to.flush() } else { Ok(()) };
        self.unless_gone(done, ())
    }
}

/// Help and version, or what is wrong with the arguments.
pub(super) fn usage(error: &clap::Error) -> Exit {
    if error.use_stderr() {
        let text = error.render().to_string();
        for line in text.lines() {
            let _ = writeln!(io::stderr().lock(), "{}", visible(line));
        }
        Exit::Trouble
    } else {
        let _ = error.print();
        Exit::Clean
    }
}

fn colors(when: Color, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match when {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR").is_some() => false,
        Color::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        Color::Auto => {
            terminal
                && set("CLICOLOR").is_none_or(|value| value != "0")
                && set("TERM").is_none_or(|value| value != "dumb")
        }
    }
}

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Stdout,
    Stderr,
    File,
}

/// How the text output may look there.
pub(super) fn options(when: Color, target: Target) -> output::Options {
    let (terminal, stream) = match target {
        Target::Stdout => (io::stdout().is_terminal(), Stream::Stdout),
        Target::Stderr => (io::stderr().is_terminal(), Stream::Stderr),
        Target::File => (false, Stream::Stdout),
    };
    let color = colors(when, terminal);
    let mut options = output::Options {
        color,
        hyperlinks: terminal && color && supports_hyperlinks::on(stream),
        ..output::Options::default()
    };
    if terminal && let Some((width, _)) = terminal_size::terminal_size() {
        options.width = usize::from(width.0);
    }
    options
}
