//! Whether Go's RE2 reads a regular expression, and with it Istio.

/// What is wrong with it; the syntax is that of Go's `regexp` package.
pub(super) fn fault(pattern: &str) -> Option<String> {
    Parser {
        rest: pattern,
        groups: Vec::new(),
        most: 1,
        operand: None,
        repeated: false,
        names: Vec::new(),
    }
    .run()
    .err()
}

struct Parser<'p> {
    rest: &'p str,
    /// For each group that is not closed yet, what `most` was before it.
    groups: Vec<u32>,
    /// How often the things of the group in hand are repeated at most.
    most: u32,
    /// What the next operator can repeat, and how often that is repeated within itself.
    operand: Option<u32>,
    /// Whether the last thing was a repetition.
    repeated: bool,
    names: Vec<&'p str>,
}

const TOO_OFTEN: &str = "it repeats something more than 1000 times, or backwards";

type Fault = Result<(), String>;

impl<'p> Parser<'p> {
    fn run(mut self) -> Fault {
        while let Some(first) = self.rest.chars().next() {
            let repeated = std::mem::take(&mut self.repeated);
            match first {
                '(' => self.group()?,
                ')' => {
                    let before = self.groups.pop().ok_or("a `)` has no `(`")?;
                    self.operand = Some(self.most);
                    self.most = self.most.max(before);
                    self.advance(1);
                }
                '|' => {
                    self.advance(1);
                    self.operand = None;
                }
                '[' => self.class()?,
                '*' | '+' | '?' => {
                    self.advance(1);
                    self.repeat(first, repeated, 1)?;
                }
                '{' => match self.counts() {
                    Some((length, least, most)) => {
                        if least > 1000 || most.is_some_and(|most| most > 1000 || most < least) {
                            return Err(TOO_OFTEN.to_owned());
                        }
                        self.advance(length);
                        self.repeat('{', repeated, most.unwrap_or(least))?;
                    }
                    None => self.literal(1),
                },
                '\\' => self.escape()?,
                other => self.literal(other.len_utf8()),
            }
        }
        if !self.groups.is_empty() {
            return Err("a `(` is not closed".to_owned());
        }
        Ok(())
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or("");
    }

    fn literal(&mut self, bytes: usize) {
        self.advance(bytes);
        self.operand = Some(1);
    }

    fn repeat(&mut self, operator: char, repeated: bool, times: u32) -> Fault {
        let Some(inner) = self.operand else {
            return Err(format!(
                "nothing stands before `{operator}` that it could repeat"
            ));
        };
        if repeated {
            return Err(format!("`{operator}` follows another repetition"));
        }
        if self.rest.starts_with('?') {
            self.advance(1);
        }
        let total = times.saturating_mul(inner);
        if total > 1000 {
            return Err(TOO_OFTEN.to_owned());
        }
        self.operand = Some(total.max(inner));
        self.most = self.most.max(total);
        self.repeated = true;
        Ok(())
    }

    fn open(&mut self) {
        self.groups.push(self.most);
        self.most = 1;
        self.operand = None;
    }

    /// `{n}`, `{n,}` or `{n,m}`; any other `{` is itself.
    fn counts(&self) -> Option<(usize, u32, Option<u32>)> {
        let inner = self.rest.get(1..self.rest.find('}')?)?;
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let plain = digits && (text.len() == 1 || !text.starts_with('0'));
            plain.then(|| text.parse().unwrap_or(u32::MAX))
        };
        let (least, most) = match inner.split_once(',') {
            None => (number(inner)?, Some(number(inner)?)),
            Some((least, "")) => (number(least)?, None),
            Some((least, most)) => (number(least)?, Some(number(most)?)),
        };
        Some((inner.len() + 2, least, most))
    }

    fn group(&mut self) -> Fault {
        let Some(special) = self.rest.strip_prefix("(?") else {
            self.open();
            self.advance(1);
            return Ok(());
        };
        if let Some(name) = special
            .strip_prefix("P<")
            .or_else(|| special.strip_prefix('<'))
        {
            let (name, after) = name.split_once('>').ok_or("a named group has no `>`")?;
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(word) {
                return Err(format!(
                    "`(?<{name}>` is no named group; RE2 cannot look behind"
                ));
            }
            if self.names.contains(&name) {
                return Err(format!("the group `{name}` is there twice"));
            }
            self.names.push(name);
            self.rest = after;
            self.open();
            return Ok(());
        }
        self.flags(special)
    }

    /// `(?i)`, `(?i-s:…)`.
    fn flags(&mut self, special: &'p str) -> Fault {
        let (mut minus, mut seen) = (false, false);
        for (at, c) in special.char_indices() {
            match c {
                'i' | 'm' | 's' | 'U' => seen = true,
                '-' if !minus => {
                    minus = true;
                    seen = false;
                }
                ':' | ')' if !minus || seen => {
                    // `(?i)` leaves nothing behind: a repetition after it repeats what stood before.
                    if c == ':' {
                        self.open();
                    }
                    self.rest = special.get(at + 1..).unwrap_or("");
                    return Ok(());
                }
                '=' | '!' => return Err(format!("RE2 cannot look ahead: `(?{c}`")),
                _ => break,
            }
        }
        Err("`(?` begins no group that RE2 knows".to_owned())
    }

    fn escape(&mut self) -> Fault {
        let mut after = self.rest.chars();
        after.next();
        match after.next() {
            None => return Err("it ends with a `\\`".to_owned()),
            Some('A' | 'b' | 'B' | 'z' | 'd' | 'D' | 's' | 'S' | 'w' | 'W') => self.literal(2),
            Some('Q') => {
                let text = self.rest.get(2..).unwrap_or("");
                let end = text.find("\\E").map_or(self.rest.len(), |end| 2 + end + 2);
                if !text.is_empty() && !text.starts_with("\\E") {
                    self.operand = Some(1);
                }
                self.advance(end);
            }
            Some('p' | 'P') => {
                self.unicode()?;
                self.operand = Some(1);
            }
            Some(_) => {
                self.character()?;
                self.operand = Some(1);
            }
        }
        Ok(())
    }

    /// `\pL`, `\p{Greek}`. Which classes there are is not checked.
    fn unicode(&mut self) -> Fault {
        let text = self.rest.get(2..).unwrap_or("");
        match text.chars().next() {
            None => Err("a class of characters has no name".to_owned()),
            Some('{') => {
                let end = text.find('}').ok_or("a class of characters has no `}`")?;
                self.advance(2 + end + 1);
                Ok(())
            }
            Some(name) => {
                self.advance(2 + name.len_utf8());
                Ok(())
            }
        }
    }

    /// One character behind a `\`.
    fn character(&mut self) -> Result<u32, String> {
        let mut chars = self.rest.chars();
        chars.next();
        let Some(c) = chars.next() else {
            return Err("it ends with a `\\`".to_owned());
        };
        let wrong = || format!("RE2 does not know `\\{c}`");
        let text = self.rest.get(1 + c.len_utf8()..).unwrap_or("");
        let octal = |text: &str| {
            text.bytes()
                .take_while(|byte| matches!(byte, b'0'..=b'7'))
                .take(2)
                .count()
        };
        let (value, length) = match c {
            '1'..='7' if !text.starts_with(|c: char| matches!(c, '0'..='7')) => return Err(wrong()),
            '0'..='7' => {
                let count = octal(text);
                let digits = self.rest.get(1..2 + count).unwrap_or("0");
                (u32::from_str_radix(digits, 8).map_err(|_| wrong())?, count)
            }
            'x' => {
                let (digits, length) = match text.strip_prefix('{') {
                    Some(inner) => {
                        let (digits, _) = inner.split_once('}').ok_or_else(wrong)?;
                        (digits, digits.len() + 2)
                    }
                    None => (text.get(..2).ok_or_else(wrong)?, 2),
                };
                let value = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
                if value > 0x10_FFFF || digits.starts_with('+') {
                    return Err(wrong());
                }
                (value, length)
            }
            'a' => (7, 0),
            'f' => (12, 0),
            'n' => (10, 0),
            'r' => (13, 0),
            't' => (9, 0),
            'v' => (11, 0),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => (u32::from(c), 0),
            _ => return Err(wrong()),
        };
        self.advance(1 + c.len_utf8() + length);
        Ok(value)
    }

    fn class(&mut self) -> Fault {
        self.advance(1);
        if self.rest.starts_with('^') {
            self.advance(1);
        }
        let mut first = true;
        loop {
            if self.rest.starts_with(']') && !first {
                break;
            }
            first = false;
            if let Some(inner) = self.rest.strip_prefix("[:")
                && let Some((name, after)) = inner.split_once(":]")
            {
                if !POSIX.contains(&name.strip_prefix('^').unwrap_or(name)) {
                    return Err(format!("`[:{name}:]` is no class of characters"));
                }
                self.rest = after;
                continue;
            }
            if self.rest.starts_with("\\p") || self.rest.starts_with("\\P") {
                self.unicode()?;
                continue;
            }
            if ["\\d", "\\D", "\\s", "\\S", "\\w", "\\W"]
                .iter()
                .any(|it| self.rest.starts_with(it))
            {
                self.advance(2);
                continue;
            }
            let low = self.class_character()?;
            if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                self.advance(1);
                if self.class_character()? < low {
                    return Err("a range of characters runs backwards".to_owned());
                }
            }
        }
        self.literal(1);
        Ok(())
    }

    fn class_character(&mut self) -> Result<u32, String> {
        match self.rest.chars().next() {
            None => Err("a `[` is not closed".to_owned()),
            Some('\\') => self.character(),
            Some(c) => {
                self.advance(c.len_utf8());
                Ok(u32::from(c))
            }
        }
    }
}

const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

#[cfg(test)]
mod tests;
