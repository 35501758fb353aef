//! What reaches the terminal: standard error, colours, and nothing that a file could have smuggled in.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write};

use super::arguments::Color;
use super::exit::Exit;

/// Says something on standard error.
pub(super) fn say(message: &str) {
    let _ = writeln!(io::stderr().lock(), "egress-lint: {}", escape(message));
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
            let _ = writeln!(io::stderr().lock(), "{}", escape(line));
        }
        Exit::Trouble
    } else {
        let _ = error.print();
        Exit::Clean
    }
}

/// Whether to use colours on standard output.
pub(super) fn colors(when: Color, to_file: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match when {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR").is_some() => false,
        Color::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        Color::Auto => {
            !to_file
                && io::stdout().is_terminal()
                && set("CLICOLOR").is_none_or(|value| value != "0")
                && set("TERM").is_none_or(|value| value != "dumb")
        }
    }
}

/// One line of text without characters that steer a terminal or reorder what it shows.
fn escape(text: &str) -> String {
    const LONGEST: usize = 4000;
    let mut out = String::with_capacity(text.len().min(LONGEST));
    for character in text.chars() {
        match character {
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                let _ = write!(out, "{}", character.escape_unicode());
            }
            _ if character.is_control() => {
                let _ = write!(out, "{}", character.escape_default());
            }
            _ => out.push(character),
        }
        if out.len() > LONGEST {
            out.push('…');
            break;
        }
    }
    out
}
