//! Reads one file, once.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::prefilter;
use super::{Input, Role};

/// The largest file that is read, in bytes.
pub const LARGEST: usize = 32 * 1024 * 1024;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot be read: {}", reason(.0))]
    Io(io::Error),
    #[error("is larger than {} MiB, the most that is read", LARGEST / (1024 * 1024))]
    TooLarge,
    #[error("is neither a file nor a folder")]
    Special,
    #[error("is a folder")]
    Folder,
}

/// The system's words without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or(&text);
    words.to_lowercase()
}

/// What a file holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    Text(String),
    /// Nothing that matters here.
    Nothing,
    /// Not UTF-8: the text with U+FFFD in place of what cannot be read, and where the first of it stands.
    NotUtf8 {
        text: String,
        at: u32,
        len: u32,
    },
    /// UTF-16 or UTF-32, by its byte order mark; the text is lossy.
    Wide {
        text: String,
    },
}

/// Reads `input`, using `buffer` for what may turn out to be of no interest. With `all`, nothing is.
///
/// # Errors
/// The file cannot be opened or read, is too large, or is no file.
pub fn read(input: &Input, buffer: &mut Vec<u8>, all: bool) -> Result<Content, ReadError> {
    let all = all || input.role != Role::Found || by_name(&input.path);
    if input.role == Role::Named && !is_open_already(&input.path) {
        // Opening a pipe that nobody writes to would wait for ever.
        let data = std::fs::metadata(&input.path).map_err(ReadError::Io)?;
        if data.is_dir() {
            return Err(ReadError::Folder);
        }
        if !data.is_file() {
            return Err(ReadError::Special);
        }
    }
    let file = File::open(&input.path).map_err(ReadError::Io)?;
    let size = file.metadata().map_or(0, |data| data.len());
    if size > LARGEST as u64 {
        return if all || mentions_istio(file) {
            Err(ReadError::TooLarge)
        } else {
            Ok(Content::Nothing)
        };
    }
    fill(file, usize::try_from(size).unwrap_or(0), buffer)?;
    Ok(
        match decode(buffer, |bytes| all || prefilter::matters(bytes)) {
            Some(content) => content,
            None => Content::Nothing,
        },
    )
}

/// Reads standard input to its end. Where that is no text, its bytes come too.
///
/// # Errors
/// It cannot be read or is too large.
pub fn read_stream(stream: impl Read) -> Result<(Content, Vec<u8>), ReadError> {
    let mut buffer = Vec::new();
    fill(stream, 0, &mut buffer)?;
    let content = decode(&mut buffer, |_| true).unwrap_or(Content::Nothing);
    if matches!(content, Content::Text(_)) {
        buffer = Vec::new();
    }
    Ok((content, buffer))
}

/// Reads to the end, or one byte too far. A file that holds as much as is expected of it is read at once.
fn fill(mut stream: impl Read, expected: usize, buffer: &mut Vec<u8>) -> Result<(), ReadError> {
    buffer.clear();
    buffer.resize(expected + 1, 0);
    let first = match stream.read(buffer) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
        read => read.map_err(ReadError::Io)?,
    };
    buffer.truncate(first);
    if first != expected || first == 0 {
        let rest = (LARGEST + 1).saturating_sub(first);
        stream
            .take(rest as u64)
            .read_to_end(buffer)
            .map_err(ReadError::Io)?;
    }
    if buffer.len() > LARGEST {
        return Err(ReadError::TooLarge);
    }
    Ok(())
}

/// Whether a file too large to be read would have mattered, by its first [`LARGEST`] bytes.
fn mentions_istio(file: File) -> bool {
    let mut chunk = vec![0; 1024 * 1024];
    let mut kept = 0;
    let mut stream = file.take(LARGEST as u64);
    while let Ok(more) = stream.read(chunk.get_mut(kept..).unwrap_or(&mut [])) {
        if more == 0 {
            return false;
        }
        let filled = kept + more;
        if prefilter::matters(chunk.get(..filled).unwrap_or(&[])) {
            return true;
        }
        kept = filled.min(prefilter::LONGEST);
        chunk.copy_within(filled - kept..filled, 0);
    }
    false
}

/// Files that are read for their name: they say what other files are.
fn by_name(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| {
        name.starts_with("kustomization.") || name == "Kustomization" || name == "Chart.yaml"
    })
}

/// What the shell opened for us (`<(kustomize build)`).
fn is_open_already(path: &Path) -> bool {
    path.starts_with("/dev/fd") || path == Path::new("/dev/stdin")
}

/// The text, if its bytes in UTF-8 matter.
fn decode(buffer: &mut Vec<u8>, matters: impl Fn(&[u8]) -> bool) -> Option<Content> {
    if let Some(text) = wide(buffer) {
        return matters(text.as_bytes()).then_some(Content::Wide { text });
    }
    if !matters(buffer) {
        return None;
    }
    let bytes = match buffer.len() > COPIED {
        true => std::mem::take(buffer),
        false => buffer.clone(),
    };
    Some(match String::from_utf8(bytes) {
        Ok(mut text) => {
            text.shrink_to_fit();
            Content::Text(text)
        }
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            *buffer = error.into_bytes();
            Content::NotUtf8 {
                text: String::from_utf8_lossy(buffer).into_owned(),
                at: u32::try_from(at).unwrap_or(u32::MAX),
                len: u32::try_from('\u{fffd}'.len_utf8()).unwrap_or(0),
            }
        }
    })
}

/// A longer text keeps the buffer that it was read into.
const COPIED: usize = 64 * 1024;

/// The text of a file that begins with a UTF-16 or UTF-32 byte order mark.
fn wide(bytes: &[u8]) -> Option<String> {
    let units = |width: usize, big: bool| {
        bytes.chunks_exact(width).map(move |unit| {
            let value = |sum: u32, byte: &u8| sum << 8 | u32::from(*byte);
            if big {
                unit.iter().fold(0, value)
            } else {
                unit.iter().rev().fold(0, value)
            }
        })
    };
    let utf32 = |big| {
        units(4, big)
            .map(|u| char::from_u32(u).unwrap_or('\u{fffd}'))
            .collect()
    };
    let utf16 = |big| {
        char::decode_utf16(units(2, big).map(|unit| unit as u16))
            .map(|c| c.unwrap_or('\u{fffd}'))
            .collect()
    };
    match bytes {
        [0, 0, 0xfe, 0xff, ..] => Some(utf32(true)),
        [0xff, 0xfe, 0, 0, ..] => Some(utf32(false)),
        [0xfe, 0xff, ..] => Some(utf16(true)),
        [0xff, 0xfe, ..] => Some(utf16(false)),
        _ => None,
    }
}
