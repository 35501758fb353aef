//! JSON as Go reads it. `kubectl` tries it first on a file that begins with `{`.

use super::arena::DEPTH;
use super::map;
use super::tag::Tag;
use super::tree::{Raw, Shape, Sight, Style, Tree};

/// What is no JSON: where, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoJson {
    pub(super) at: usize,
    pub(super) wanted: &'static str,
}

/// Reads one value that begins at `at`, blanks before it aside. Returns its root and where it ends.
///
/// # Errors
/// It is no JSON; the tree then holds what was read of it.
pub(super) fn value(tree: &mut Tree, text: &str, at: usize) -> Result<(u32, usize), NoJson> {
    let root = offset(tree.nodes.len());
    let mut reader = Reader {
        tree,
        text,
        at,
        open: Vec::new(),
    };
    reader.read()?;
    Ok((root, reader.at))
}

/// The first byte from `at` that is no blank of JSON.
pub(super) fn skip_blanks(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    let blanks = rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    at + blanks.count()
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

struct Reader<'r> {
    tree: &'r mut Tree,
    text: &'r str,
    at: usize,
    /// The collections that are open: their nodes, and whether they are maps.
    open: Vec<(u32, bool)>,
}

impl Reader<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self) {
        self.at = skip_blanks(self.text, self.at);
    }

    fn no(&self, wanted: &'static str) -> NoJson {
        NoJson {
            at: self.at,
            wanted,
        }
    }

    fn read(&mut self) -> Result<(), NoJson> {
        loop {
            self.skip();
            let opened = match self.byte() {
                Some(b'{') => self.enter(true)?,
                Some(b'[') => self.enter(false)?,
                Some(b'"') => {
                    self.string()?;
                    false
                }
                _ => {
                    self.word()?;
                    false
                }
            };
            // What follows a complete value, until another is due.
            let mut fresh = opened;
            loop {
                let Some(&(node, map)) = self.open.last() else {
                    return Ok(());
                };
                self.skip();
                let close = if map { b'}' } else { b']' };
                match self.byte() {
                    Some(byte) if byte == close => {
                        self.at += 1;
                        self.leave(node, map);
                        fresh = false;
                        continue;
                    }
                    Some(b',') if !fresh => {
                        self.at += 1;
                        self.skip();
                    }
                    _ if fresh => {}
                    _ => return Err(self.no(if map { "`,` or `}`" } else { "`,` or `]`" })),
                }
                if map {
                    if self.byte() != Some(b'"') {
                        return Err(self.no("a key in double quotes"));
                    }
                    self.string()?;
                    self.skip();
                    if self.byte() != Some(b':') {
                        return Err(self.no("`:`"));
                    }
                    self.at += 1;
                }
                break;
            }
        }
    }

    fn enter(&mut self, map: bool) -> Result<bool, NoJson> {
        if self.open.len() >= DEPTH {
            return Err(self.no("less depth"));
        }
        let shape = if map { Shape::Map } else { Shape::List };
        let node = self.push(shape, Style::Flow, self.at, self.at + 1);
        self.at += 1;
        self.open.push((node, map));
        Ok(true)
    }

    fn leave(&mut self, node: u32, map: bool) {
        self.open.pop();
        let after = offset(self.tree.nodes.len());
        if let Some(raw) = self.tree.nodes.get_mut(node as usize) {
            raw.a = after;
            raw.b = 0;
            raw.end = offset(self.at);
        }
        if map {
            // Keys of JSON are strings, and it has no merges: nothing can be refused.
            let _ = map::settle(self.tree, self.text, node, &mut 0);
        }
    }

    fn push(&mut self, shape: Shape, style: Style, start: usize, end: usize) -> u32 {
        let node = offset(self.tree.nodes.len());
        self.tree.nodes.push(Raw {
            start: offset(start),
            end: offset(end),
            a: Raw::SOURCE,
            b: 0,
            shape,
            style,
            tag: Tag::None,
            sight: match style {
                Style::Double => Sight::Text,
                _ => Sight::Other,
            },
        });
        node
    }

    /// `true`, `false`, `null` or a number.
    fn word(&mut self) -> Result<(), NoJson> {
        let rest = self.text.get(self.at..).unwrap_or("");
        let length = ["true", "false", "null"]
            .into_iter()
            .find(|word| rest.starts_with(word))
            .map_or_else(|| number(rest), str::len);
        if length == 0 {
            return Err(self.no("a value"));
        }
        self.push(Shape::Scalar, Style::Plain, self.at, self.at + length);
        self.at += length;
        Ok(())
    }

    fn string(&mut self) -> Result<(), NoJson> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let cooked = self.tree.cooked.len();
        let mut copied = start + 1;
        self.at += 1;
        loop {
            match self.byte() {
                Some(b'"') => break,
                Some(b'\\') => {
                    self.tree
                        .cooked
                        .push_str(self.text.get(copied..self.at).unwrap_or(""));
                    self.escape()?;
                    copied = self.at;
                }
                Some(0..=0x1f) => return Err(self.no("no control character in a string")),
                Some(_) => {
                    let rest = bytes.get(self.at..).unwrap_or(&[]);
                    let plain = rest
                        .iter()
                        .take_while(|&&byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
                    self.at += plain.count();
                }
                None => return Err(self.no("the end of the string")),
            }
        }
        let end = self.at + 1;
        let node = self.push(Shape::Scalar, Style::Double, start, end);
        if copied > start + 1 {
            self.tree
                .cooked
                .push_str(self.text.get(copied..self.at).unwrap_or(""));
            let length = offset(self.tree.cooked.len() - cooked);
            if let Some(raw) = self.tree.nodes.get_mut(node as usize) {
                raw.a = offset(cooked);
                raw.b = length;
            }
        }
        self.at = end;
        Ok(())
    }

    /// Reads an escape into the cooked text. Half a surrogate pair becomes U+FFFD, as in Go.
    fn escape(&mut self) -> Result<(), NoJson> {
        let character = match self.text.as_bytes().get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let unit = self
                    .unit(self.at)
                    .ok_or_else(|| self.no("four hexadecimal digits"))?;
                let low = self
                    .unit(self.at + 6)
                    .filter(|_| (0xd800..0xdc00).contains(&unit));
                let pair = low.filter(|low| (0xdc00..0xe000).contains(low));
                let code = match pair {
                    Some(low) => 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00),
                    None => unit,
                };
                self.at += if pair.is_some() { 12 } else { 6 };
                self.tree
                    .cooked
                    .push(char::from_u32(code).unwrap_or('\u{fffd}'));
                return Ok(());
            }
            _ => return Err(self.no("an escape of JSON")),
        };
        self.at += 2;
        self.tree.cooked.push(character);
        Ok(())
    }

    /// The number behind `\u` at `at`.
    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at + 6)?.strip_prefix("\\u")?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        u32::from_str_radix(digits, 16).ok()
    }
}

/// The length of the number at the beginning of `text`, 0 if there is none.
fn number(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut length = usize::from(text.starts_with('-'));
    let rest = |length: usize| text.get(length..).unwrap_or("");
    match digits(rest(length)) {
        0 => return 0,
        _ if rest(length).starts_with('0') => length += 1,
        more => length += more,
    }
    if let Some(fraction) = rest(length).strip_prefix('.') {
        match digits(fraction) {
            0 => return 0,
            more => length += 1 + more,
        }
    }
    if let Some(exponent) = rest(length).strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        match digits(exponent.get(sign..).unwrap_or("")) {
            0 => return 0,
            more => length += 1 + sign + more,
        }
    }
    length
}
