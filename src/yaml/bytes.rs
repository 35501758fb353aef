//! Which bytes a text holds that need a second look: one fast pass spares most texts all the others.

/// Kinds of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bytes(u8);

impl Bytes {
    pub(super) const TAB: Self = Self(1);
    pub(super) const RETURN: Self = Self(1 << 1);
    /// Other control characters of ASCII.
    pub(super) const CONTROL: Self = Self(1 << 2);
    /// The first byte of U+0080 to U+00BF: NEL and other control characters.
    pub(super) const C2: Self = Self(1 << 3);
    /// The first byte of U+2000 to U+2FFF: line separators.
    pub(super) const E2: Self = Self(1 << 4);
    /// The first byte of U+F000 to U+FFFF: the byte order mark and what is no character.
    pub(super) const EF: Self = Self(1 << 5);

    /// Those of a text.
    pub(super) fn of(text: &str) -> Self {
        // Without a branch, so that many bytes are looked at together.
        let kind = |found: bool, kind: Self| u8::from(found) * kind.0;
        Self(text.bytes().fold(0, |kinds, byte| {
            let blank = matches!(byte, b'\n' | b'\r' | b'\t');
            kinds
                | kind(byte == b'\t', Self::TAB)
                | kind(byte == b'\r', Self::RETURN)
                | kind((byte < 0x20) & !blank | (byte == 0x7f), Self::CONTROL)
                | kind(byte == 0xc2, Self::C2)
                | kind(byte == 0xe2, Self::E2)
                | kind(byte == 0xef, Self::EF)
        }))
    }

    /// Whether any byte of these kinds is among them.
    pub(super) fn hold(self, kinds: Self) -> bool {
        self.0 & kinds.0 != 0
    }
}

impl std::ops::BitOr for Bytes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
