//! Whether two paths are one file, whatever they are called.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::folder_of;

/// The longest chain of symbolic links that is followed.
const LINKS: usize = 40;

/// What a path stands for: equal for two paths of one file, through symbolic links, hard links and
/// other ways to write the path.
///
/// # Example
/// ```
/// use isinglass_files::FileIdentity;
/// let folder = tempfile::tempdir()?;
/// let (one, other) = (folder.path().join("a.json"), folder.path().join("./a.json"));
/// assert_eq!(FileIdentity::of(&one), FileIdentity::of(&other));
/// std::fs::write(&one, "{}")?;
/// assert_eq!(FileIdentity::of(&one), FileIdentity::of(&other));
/// assert_ne!(FileIdentity::of(&one), FileIdentity::of(&folder.path().join("b.json")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileIdentity(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// A file that exists.
    File(Place),
    /// A file that does not exist yet: its folder, and its name there.
    New(Place, std::ffi::OsString),
}

/// Device and number of a file or folder.
#[cfg(unix)]
type Place = (u64, u64);
/// The path without links.
#[cfg(not(unix))]
type Place = PathBuf;

impl FileIdentity {
    /// The identity of a path; `None` if there is no file there and none can be made.
    pub fn of(path: &Path) -> Option<Self> {
        let end = follow(path).ok()?;
        match place_of(&end) {
            Some(place) => Some(Self(Kind::File(place))),
            None => Some(Self(Kind::New(place_of(folder_of(&end))?, end.file_name()?.to_owned()))),
        }
    }
}

#[cfg(unix)]
fn place_of(path: &Path) -> Option<Place> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn place_of(path: &Path) -> Option<Place> {
    fs::canonicalize(path).ok()
}

/// The path at the end of a chain of symbolic links, whether or not there is a file yet.
pub(crate) fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_owned();
    for _ in 0..LINKS {
        match fs::symlink_metadata(&end) {
            Ok(found) if found.is_symlink() => {
                let next = fs::read_link(&end)?;
                end = end.parent().unwrap_or(Path::new("")).join(next);
            }
            _ => return Ok(end),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_without_a_file_have_no_identity() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(FileIdentity::of(&folder.path().join("no/such/file")), None);
        assert_eq!(FileIdentity::of(Path::new("")), None);
        assert!(FileIdentity::of(folder.path()).is_some());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_detours_lead_to_one_file() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("inner")).unwrap();
        symlink("inner", at("linked")).unwrap();
        symlink("inner/m.json", at("l.json")).unwrap();
        let same = ["inner/m.json", "linked/m.json", "l.json", "inner/../inner/./m.json"];
        let all = || same.map(|name| FileIdentity::of(&at(name)).unwrap());
        let new = all();
        assert!(new.iter().all(|found| *found == new[0]), "{new:?}");
        fs::write(at("inner/m.json"), "").unwrap();
        fs::hard_link(at("inner/m.json"), at("hard.json")).unwrap();
        let existing = all();
        assert!(existing.iter().all(|found| *found == existing[0]), "{existing:?}");
        assert_eq!(FileIdentity::of(&at("hard.json")).unwrap(), existing[0]);
        assert_ne!(existing[0], new[0]);
        assert_ne!(FileIdentity::of(&at("m.json")).unwrap(), new[0]);
    }
}
