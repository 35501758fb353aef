//! The picture of the README: what the program really prints, drawn as SVG. `BLESS=1 cargo test` draws it anew.

#![allow(clippy::expect_used)]

mod harness;

use std::fmt::Write as _;
use std::process::Command;

use harness::{bless, root};

/// What is asked: few findings, so that the picture can be read.
const ARGUMENTS: [&str; 2] = ["--only", "logical-dns-on-gslb,ejection-budget-zero"];

#[test]
fn the_picture_of_the_readme_is_fresh() {
    let run = Command::new(env!("CARGO_BIN_EXE_egress-lint"))
        .args(ARGUMENTS)
        .args(["--color", "always"])
        .current_dir(root().join("testdata/demo"))
        .output()
        .expect("the program runs");
    let printed = String::from_utf8(run.stdout).expect("UTF-8");
    let prompt = format!(
        "\x1b[2m$\x1b[0m \x1b[1megress-lint {}\x1b[0m\n\n",
        ARGUMENTS.join(" ")
    );
    let file = root().join("docs/demo.svg");
    if bless::blessing() {
        std::fs::create_dir_all(root().join("docs")).expect("a folder to draw into");
    }
    bless::compare(&file, &draw(&(prompt + &printed))).unwrap_or_else(|error| panic!("{error}"));
}

/// Of one character, in units of the picture.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 19.0;
const MARGIN: f64 = 20.0;
const COLUMNS: f64 = 80.0;

/// How the text that follows looks.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    bold: bool,
    dim: bool,
    underline: bool,
    color: Option<&'static str>,
}

impl Look {
    /// Obeys the numbers of one `ESC [ … m`.
    fn obey(&mut self, codes: &str) {
        for code in codes.split(';') {
            match code {
                "" | "0" => *self = Self::default(),
                "1" => self.bold = true,
                "2" => self.dim = true,
                "4" => self.underline = true,
                "31" => self.color = Some("#ff7b72"),
                "32" => self.color = Some("#7ee787"),
                "33" => self.color = Some("#e3b341"),
                "36" => self.color = Some("#76d9e6"),
                _ => panic!("the picture knows no colour {code}"),
            }
        }
    }

    fn attributes(self) -> String {
        let mut out = String::new();
        if let Some(color) = self.color {
            let _ = write!(out, r#" fill="{color}""#);
        }
        if self.bold {
            out.push_str(r#" font-weight="bold""#);
        }
        if self.dim {
            out.push_str(r#" opacity="0.6""#);
        }
        if self.underline {
            out.push_str(r#" text-decoration="underline""#);
        }
        out
    }
}

/// Draws what a terminal would show.
fn draw(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let width = COLUMNS * WIDTH + 2.0 * MARGIN;
    let height = f64::from(u32::try_from(lines.len()).expect("few lines")) * HEIGHT + 2.0 * MARGIN;
    let mut out = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img" aria-label="egress-lint in a terminal">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e6edf3">
"##
    );
    let mut look = Look::default();
    for (line, number) in lines.into_iter().zip(1u32..) {
        let y = MARGIN + f64::from(number) * HEIGHT - 5.0;
        draw_line(line, y, &mut look, &mut out);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// Each piece of one look stands at its own column, whatever the width of the font.
fn draw_line(line: &str, y: f64, look: &mut Look, out: &mut String) {
    let mut column = 0.0;
    let mut pieces = String::new();
    for (index, part) in line.split("\x1b[").enumerate() {
        let part = match index {
            0 => part,
            _ => {
                let (codes, rest) = part.split_once('m').expect("only colours");
                look.obey(codes);
                rest
            }
        };
        let start = column + WIDTH * count(part.len() - part.trim_start().len());
        column += WIDTH * count(part.chars().count());
        let piece = part.trim();
        if !piece.is_empty() {
            let length = WIDTH * count(piece.chars().count());
            let _ = write!(
                pieces,
                r#"<tspan x="{:.1}" textLength="{length:.1}"{}>{}</tspan>"#,
                MARGIN + start,
                look.attributes(),
                escape(piece)
            );
        }
    }
    if !pieces.is_empty() {
        let _ = writeln!(
            out,
            r#"<text y="{y:.1}" xml:space="preserve">{pieces}</text>"#
        );
    }
}

fn count(characters: usize) -> f64 {
    f64::from(u32::try_from(characters).expect("a short line"))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
