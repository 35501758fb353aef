//! What stands between scalars: blanks, comments, indicators, anchors and tags.
//!
//! The parser tells where scalars are; this walks what it passes over in silence, each byte once. It finds the
//! comments and the places that the parser does not tell, and sees what go-yaml refuses.

/// A fault of the text, with the bytes it stands at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: FaultKind,
}

impl Fault {
    pub(super) fn new(start: usize, end: usize, kind: FaultKind) -> Self {
        Self { start, end, kind }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    Tab,
    AnchorName,
    TagName,
    /// A `?` in a plain scalar in brackets.
    QuestionMark,
    /// A `:` without a key before it.
    NoKey,
    /// U+2028 or U+2029, which go-yaml takes for the end of a line, outside of quotes.
    LineSeparator,
    /// An escape that only JSON has.
    JsonEscape,
}

impl FaultKind {
    /// What is wrong, and what to do.
    pub(super) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Tab => ("a tab cannot indent", "use spaces"),
            Self::AnchorName => (
                "the name of an anchor may hold ASCII letters, digits, `-` and `_` only",
                "rename the anchor, or quote the text if it is none",
            ),
            Self::TagName => (
                "this is no tag",
                "put a space behind the tag, or quote the text if it is none",
            ),
            Self::QuestionMark => ("in brackets a `?` begins a key", "quote the text"),
            Self::NoKey => (
                "no key stands before the `:`",
                "quote the text if the `:` belongs to it",
            ),
            Self::LineSeparator => (
                "Kubernetes takes U+2028 and U+2029 for the end of a line",
                "remove the character, or quote the text and write it as `\\u2028`",
            ),
            Self::JsonEscape => (
                "this escape exists in JSON only",
                "write the character itself",
            ),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Gap {
    /// Up to here everything is walked.
    pub(super) at: usize,
    /// How many brackets are open.
    flow: u32,
    /// go-yaml: here a key may begin, so a tab would be indentation.
    key_allowed: bool,
    /// Nothing but blanks since the line began.
    line_start: bool,
    /// The last token was a plain scalar, whose reader takes the blanks after it along.
    after_plain: bool,
    /// The last `?` since [`Gap::forget`].
    pub(super) question: bool,
    /// The last `:` since [`Gap::forget`].
    pub(super) colon: Option<usize>,
    /// The first anchor or tag since [`Gap::forget`].
    pub(super) property: Option<usize>,
    /// The `|` or `>` since [`Gap::forget`].
    pub(super) header: Option<usize>,
    pub(super) comments: Vec<(usize, usize, bool)>,
    pub(super) fault: Option<Fault>,
}

impl Gap {
    pub(super) fn new(at: usize) -> Self {
        Self {
            at,
            key_allowed: true,
            line_start: true,
            ..Self::default()
        }
    }

    pub(super) fn in_flow(&self) -> bool {
        self.flow > 0
    }

    /// Forgets the indicators: a node has taken them.
    pub(super) fn forget(&mut self) {
        self.question = false;
        self.colon = None;
        self.property = None;
        self.header = None;
    }

    /// Where the blanks and comments that come next end, `end` at most.
    pub(super) fn blank_end(&self, text: &str, end: usize) -> usize {
        let mut at = self.at;
        let bytes = text.as_bytes().get(..end).unwrap_or(&[]);
        while let Some(byte) = bytes.get(at) {
            at += match byte {
                b' ' | b'\t' | b'\n' | b'\r' => 1,
                b'#' => {
                    let rest = bytes.get(at..).unwrap_or(&[]);
                    memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())
                }
                _ => break,
            };
        }
        at
    }

    /// Takes a scalar or an alias that the parser has told of.
    pub(super) fn token(&mut self, end: usize, plain: bool, block: bool) {
        self.at = self.at.max(end);
        self.key_allowed = block;
        self.line_start = block;
        self.after_plain = plain;
    }

    /// Walks up to `to`.
    pub(super) fn walk(&mut self, text: &str, to: usize, indent: impl FnMut() -> usize) {
        self.walk_until(text, to, None, indent);
    }

    /// Walks up to `to`, or behind the first `stop`; tells where that stands.
    pub(super) fn walk_until(
        &mut self,
        text: &str,
        to: usize,
        stop: Option<u8>,
        mut indent: impl FnMut() -> usize,
    ) -> Option<usize> {
        let bytes = text.as_bytes();
        while self.at < to {
            let at = self.at;
            let byte = *bytes.get(at)?;
            self.at += 1;
            match byte {
                b' ' => continue,
                b'\t' => {
                    self.tab(text, at, &mut indent);
                    continue;
                }
                b'\n' | b'\r' => {
                    self.key_allowed |= self.flow == 0;
                    self.line_start = true;
                    continue;
                }
                b'#' => {
                    let rest = bytes.get(at..).unwrap_or(&[]);
                    let end = memchr::memchr2(b'\n', b'\r', rest)
                        .map_or(bytes.len(), |length| at + length);
                    self.comments.push((at, end, self.line_start));
                    self.at = end;
                    self.after_plain = false;
                    continue;
                }
                _ => self.indicator(text, at, byte),
            }
            self.after_plain = false;
            self.line_start = false;
            if stop == Some(byte) {
                return Some(at);
            }
        }
        None
    }

    fn indicator(&mut self, text: &str, at: usize, byte: u8) {
        match byte {
            b'-' => self.key_allowed = true,
            b'?' => {
                self.question = true;
                self.key_allowed = self.flow == 0;
            }
            b':' => {
                self.colon = Some(at);
                self.key_allowed = self.flow == 0 && self.line_start;
            }
            b',' => self.key_allowed = true,
            b'[' | b'{' => {
                self.flow += 1;
                self.key_allowed = true;
            }
            b']' | b'}' => {
                self.flow = self.flow.saturating_sub(1);
                self.key_allowed = false;
            }
            b'&' | b'!' => self.property(text, at, byte == b'&'),
            b'|' | b'>' if self.flow == 0 => {
                self.header = Some(at);
                let rest = text.get(at..).unwrap_or("");
                let length = rest.find(['#', '\n', '\r']).unwrap_or(rest.len());
                self.at = at + length;
                self.key_allowed = false;
            }
            _ => {}
        }
    }

    /// An anchor or a tag: go-yaml knows fewer names, and wants a blank behind a tag in brackets too.
    fn property(&mut self, text: &str, at: usize, anchor: bool) {
        self.property.get_or_insert(at);
        self.key_allowed = false;
        let rest = text.get(at + 1..).unwrap_or("");
        let flow = self.flow > 0;
        let ends =
            |c: char| c.is_ascii_whitespace() || flow && matches!(c, ',' | '[' | ']' | '{' | '}');
        let (name, behind) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        self.at = at + 1 + name.len();
        let named = if anchor {
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        } else {
            let bare = name
                .strip_prefix('<')
                .and_then(|name| name.strip_suffix('>'))
                .unwrap_or(name);
            behind.is_empty()
                || behind.starts_with([' ', '\t', '\n', '\r']) && bare.bytes().all(is_uri)
        };
        if !named {
            self.fail(
                at,
                self.at,
                if anchor {
                    FaultKind::AnchorName
                } else {
                    FaultKind::TagName
                },
            );
        }
    }

    fn tab(&mut self, text: &str, at: usize, indent: &mut impl FnMut() -> usize) {
        let forbidden = if self.after_plain {
            self.line_start && column(text, at) < indent()
        } else {
            self.flow == 0 && self.key_allowed
        };
        if forbidden {
            self.fail(at, at + 1, FaultKind::Tab);
        }
    }

    fn fail(&mut self, start: usize, end: usize, kind: FaultKind) {
        self.fault.get_or_insert(Fault::new(start, end, kind));
    }
}

/// What a tag may be made of.
fn is_uri(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_;/?:@&=+$,.!~*'()[]%".contains(&byte)
}

/// The characters between the beginning of the line and `at`.
pub(super) fn column(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or("");
    let line = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
    before.get(line..).unwrap_or("").chars().count()
}
