//! The two columns of a trace: the fact, and the line that made it.

use super::super::format::Options;
use super::super::text::wrap::{width, wrap};
use super::super::visible::visible;
use crate::egress::facts::Because;
use crate::source::{Sources, Span};

/// No line is wider, in columns.
pub const WIDEST: usize = 100;
/// Where values begin.
const VALUE: usize = 21;

/// One fact.
pub(super) struct Row<'r> {
    name: &'r str,
    value: String,
    because: &'r Because,
    /// Written in the files and without effect.
    struck: bool,
}

impl<'r> Row<'r> {
    pub(super) fn new(name: &'r str, value: impl Into<String>, because: &'r Because) -> Self {
        Self {
            name,
            value: value.into(),
            because,
            struck: false,
        }
    }

    pub(super) fn struck(self) -> Self {
        Self {
            struck: true,
            ..self
        }
    }
}

/// How a piece of text looks where there are colours.
#[derive(Clone, Copy)]
pub(super) enum Look {
    Plain,
    Title,
    Name,
    Dim,
    Struck,
}

pub(super) struct Columns<'s> {
    sources: &'s Sources,
    options: &'s Options,
    /// The working directory, with `/`, for links to files.
    folder: &'s str,
    /// The folder that all files lie in, with its `/`: it is said once.
    common: String,
}

impl<'s> Columns<'s> {
    pub(super) fn new(sources: &'s Sources, options: &'s Options, folder: &'s str) -> Self {
        Self {
            sources,
            options,
            folder,
            common: common_folder(sources),
        }
    }

    /// Says which folder is left out of all places.
    pub(super) fn preface(&self, out: &mut String) {
        if !self.common.is_empty() {
            let text = format!("places are below {}", visible(&self.common));
            for line in lines(&text, self.width()) {
                out.push_str(&self.look(Look::Dim, &line));
                out.push('\n');
            }
            out.push('\n');
        }
    }

    pub(super) fn width(&self) -> usize {
        self.options.width.clamp(60, WIDEST)
    }

    pub(super) fn look(&self, look: Look, text: &str) -> String {
        let code = match look {
            _ if !self.options.color => return text.to_owned(),
            Look::Plain => return text.to_owned(),
            Look::Title => "1",
            Look::Name => "36",
            Look::Dim => "2",
            Look::Struck => "9;2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// A line of its own in bold, and something beside it.
    pub(super) fn title(&self, out: &mut String, title: &str, beside: &str) {
        // What is beside it is one of a few short words.
        let titles = lines(&visible(title), self.width() - 12);
        for (at, line) in titles.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            out.push_str(&self.look(Look::Title, line));
        }
        out.push_str("  ");
        out.push_str(beside);
        out.push('\n');
    }

    /// A heading inside of a destination.
    pub(super) fn heading(&self, out: &mut String, mark: &str, text: &str) {
        out.push('\n');
        for (at, line) in lines(&visible(text), self.width() - 4).iter().enumerate() {
            let mark = if at == 0 { mark } else { " " };
            out.push_str(&format!("  {mark} {}\n", self.look(Look::Title, line)));
        }
    }

    /// A fact with its lines at the right edge, or under it where they do not fit.
    pub(super) fn row(&self, out: &mut String, row: &Row<'_>) {
        let source = self.source(row.because);
        let wide = width(&source.text);
        let beside = VALUE + 24 + wide < self.width();
        let room = self.width() - VALUE - if beside { wide + 2 } else { 0 };
        let value = visible(&row.value);
        let (mark, look) = if row.struck {
            ("x ", Look::Struck)
        } else {
            ("", Look::Plain)
        };
        for (at, line) in lines(&value, room - mark.len()).iter().enumerate() {
            let name = if at == 0 { row.name } else { "" };
            let padded = format!("{name:<width$}", width = VALUE - 6);
            let mark = if at == 0 { mark } else { "  " };
            let mark = if row.struck { mark } else { "" };
            out.push_str("    ");
            out.push_str(&self.look(Look::Name, &padded));
            out.push_str("  ");
            out.push_str(mark);
            out.push_str(&self.look(look, line));
            if at == 0 && beside {
                let used = VALUE + mark.len() + width(line);
                out.push_str(&" ".repeat(self.width().saturating_sub(used + wide)));
                out.push_str(&source.shown);
            }
            trim(out);
            out.push('\n');
        }
        if !beside && wide > 0 {
            out.push_str(&" ".repeat(VALUE));
            out.push_str(&source.shown);
            out.push('\n');
        }
    }

    /// A sentence with hanging indentation, and what it rests on behind it.
    pub(super) fn sentence(
        &self,
        out: &mut String,
        first: &str,
        text: &str,
        look: Look,
        behind: &str,
    ) {
        let indent = width(first);
        let behind = behind.replace(' ', GLUE);
        let whole = format!("{} [{behind}]", visible(text));
        let lines = lines(&whole, self.width() - indent);
        let last = lines.len().saturating_sub(1);
        for (at, line) in lines.iter().enumerate() {
            let lead = if at == 0 {
                first.to_owned()
            } else {
                " ".repeat(indent)
            };
            out.push_str(&lead);
            match (at == last).then(|| line.rfind('[')).flatten() {
                Some(cut) => {
                    let (said, rests) = line.split_at(cut);
                    out.push_str(&self.look(look, said));
                    out.push_str(&self.look(Look::Dim, rests));
                }
                None => out.push_str(&self.look(look, line)),
            }
            trim(out);
            out.push('\n');
        }
    }

    fn source(&self, because: &Because) -> Shown {
        let parts: Vec<(String, String)> = match because {
            Because::Default("") => Vec::new(),
            Because::Default(_) => {
                vec![("default".to_owned(), self.look(Look::Dim, "default"))]
            }
            Because::Lines(spans) => self.places(spans),
        };
        let join = |which: fn(&(String, String)) -> &str| {
            let parts: Vec<&str> = parts.iter().map(which).collect();
            parts.join(", ")
        };
        Shown {
            text: join(|(text, _)| text),
            shown: join(|(_, shown)| shown),
        }
    }

    /// `file:line` of up to two lines; of further ones in the same file only the line.
    fn places(&self, spans: &[Span]) -> Vec<(String, String)> {
        let mut places: Vec<(String, u32)> = Vec::new();
        for &span in spans {
            let place = (
                self.sources.get(span.file).path.clone(),
                self.sources.start(span).line,
            );
            if !places.contains(&place) && places.len() < 2 {
                places.push(place);
            }
        }
        let mut before: Option<String> = None;
        let mut out = Vec::new();
        let mut paths: Vec<&String> = places.iter().map(|(path, _)| path).collect();
        paths.dedup();
        let room = (self.width() - VALUE - 2 * LINE) / paths.len().max(1);
        for (path, line) in places {
            let text = match &before {
                Some(same) if *same == path => format!(":{line}"),
                _ => {
                    let short = visible(path.strip_prefix(&self.common).unwrap_or(&path));
                    format!("{}:{line}", tail(&short, room))
                }
            };
            let dim = self.look(Look::Dim, &text);
            out.push((text, self.link(&path, dim)));
            before = Some(path);
        }
        out
    }

    fn link(&self, path: &str, shown: String) -> String {
        if !self.options.hyperlinks {
            return shown;
        }
        let absolute = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("{}/{path}", self.folder)
        };
        let mut url = String::from("file://");
        for byte in absolute.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                    url.push(char::from(byte))
                }
                _ => url.push_str(&format!("%{byte:02X}")),
            }
        }
        format!("\x1b]8;;{url}\x1b\\{shown}\x1b]8;;\x1b\\")
    }
}

/// The lines that made a fact, as text for counting columns and as it is shown.
struct Shown {
    text: String,
    shown: String,
}

/// Keeps words together, between which no line is broken.
const GLUE: &str = "\u{a0}";
/// Columns for a line's number and what stands around it.
const LINE: usize = 10;

/// The lines of a text; a number and its unit stay together.
fn lines(text: &str, room: usize) -> Vec<String> {
    let mut glued = String::with_capacity(text.len());
    for word in text.split(' ') {
        let unit = word.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '%');
        let is_unit = matches!(unit, "s" | "ms" | "min" | "%");
        match glued.ends_with(|c: char| c.is_ascii_digit()) && is_unit {
            true => glued.push_str(GLUE),
            false if glued.is_empty() => {}
            false => glued.push(' '),
        }
        glued.push_str(word);
    }
    let lines = wrap(&glued, room, room).into_iter();
    lines.map(|line| line.replace(GLUE, " ")).collect()
}

/// The end of a path that is wider than there is room for.
fn tail(path: &str, room: usize) -> String {
    if width(path) <= room {
        return path.to_owned();
    }
    let mut kept = path;
    while width(kept) >= room {
        let mut rest = kept.chars();
        rest.next();
        kept = rest.as_str();
    }
    format!("…{kept}")
}

/// The longest folder that all files lie in, with its `/`; empty where there is none.
fn common_folder(sources: &Sources) -> String {
    let mut paths = sources.iter().map(|(_, file)| file.path.as_str());
    let folder = |path: &str| path.rfind('/').map_or(0, |at| at + 1);
    let Some(first) = paths.next() else {
        return String::new();
    };
    let mut common = first.get(..folder(first)).unwrap_or("");
    for path in paths {
        while !path.starts_with(common) {
            let shorter = common.trim_end_matches('/');
            common = shorter.get(..folder(shorter)).unwrap_or("");
        }
    }
    common.to_owned()
}

fn trim(out: &mut String) {
    let kept = out.trim_end_matches(' ').len();
    out.truncate(kept);
}
