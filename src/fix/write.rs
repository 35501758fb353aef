//! Puts a new text in the place of a file, so that at every moment the whole old or the whole new one is there.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// Why a file was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("is read-only")]
    ReadOnly,
    #[error("has changed since it was read")]
    Changed,
    #[error("cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// Replaces the content of the file at `path`, which must still be `old`, by `new`. Permissions stay; of a link, the file that
/// it leads to is replaced. Of a file with several names (hard links) only this one gets the new text: writing into it could
/// leave half of each. The answer is how many others keep the old one.
///
/// # Errors
/// See [`WriteError`]; the file is then as it was.
pub fn write(path: &Path, old: &str, new: &str) -> Result<usize, WriteError> {
    let path = path.canonicalize()?;
    let data = fs::metadata(&path)?;
    let permissions = data.permissions();
    if permissions.readonly() {
        return Err(WriteError::ReadOnly);
    }
    if fs::read(&path)? != old.as_bytes() {
        return Err(WriteError::Changed);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".egress-lint-")
        .tempfile_in(folder)?;
    file.write_all(new.as_bytes())?;
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(other_names(&data))
}

#[cfg(unix)]
fn other_names(data: &fs::Metadata) -> usize {
    use std::os::unix::fs::MetadataExt as _;
    usize::try_from(data.nlink().saturating_sub(1)).unwrap_or(usize::MAX)
}

#[cfg(not(unix))]
fn other_names(_: &fs::Metadata) -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn other_names_keep_the_old_text() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("a.yaml"), folder.path().join("b.yaml"));
        fs::write(&file, "old").unwrap();
        fs::hard_link(&file, &other).unwrap();
        assert_eq!(write(&file, "old", "new").unwrap(), 1);
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::read_to_string(&other).unwrap(), "old");
        assert_eq!(write(&file, "new", "newer").unwrap(), 0);
    }

    #[test]
    fn replaces_through_links_and_keeps_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        fs::write(&file, "old").unwrap();
        #[cfg(unix)]
        let link = {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
            let link = folder.path().join("link.yaml");
            std::os::unix::fs::symlink(&file, &link).unwrap();
            link
        };
        #[cfg(not(unix))]
        let link = file.clone();
        write(&link, "old", "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert!(link.symlink_metadata().unwrap().is_symlink());
            assert_eq!(
                fs::metadata(&file).unwrap().permissions().mode() & 0o777,
                0o640
            );
        }
        assert!(matches!(
            write(&file, "old", "newer"),
            Err(WriteError::Changed)
        ));
        let mut permissions = fs::metadata(&file).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&file, permissions).unwrap();
        assert!(matches!(
            write(&file, "new", "newer"),
            Err(WriteError::ReadOnly)
        ));
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            if cfg!(unix) { 2 } else { 1 }
        );
    }
}
