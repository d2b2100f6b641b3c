//! Outputs appear complete or not at all, and nothing else is touched.

// A test may fail by panicking.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::Path;

use isinglass_files::{Output, discard_abandoned};

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn dropped_outputs_leave_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.txt");
    fs::write(&path, "old").unwrap();
    let mut output = Output::create(&path).unwrap();
    output.write_all(&vec![b'x'; 1 << 20]).unwrap();
    assert_eq!(output.path(), path);
    assert_eq!(files(folder.path()).len(), 2);
    drop(output);
    assert_eq!(files(folder.path()), ["old.txt"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}

#[test]
fn files_of_killed_programs_are_removed_and_work_in_progress_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.txt");
    fs::write(folder.path().join(".isinglass-dead00.tmp"), "half").unwrap();
    fs::write(folder.path().join(".isinglass-notes"), "mine").unwrap();
    fs::create_dir(folder.path().join(".isinglass-folder.tmp")).unwrap();
    let mut output = Output::create(&path).unwrap();
    discard_abandoned(&path);
    assert_eq!(files(folder.path()).len(), 3, "{:?}", files(folder.path()));
    assert!(!folder.path().join(".isinglass-dead00.tmp").exists());
    output.write_all(b"whole").unwrap();
    output.commit().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
    discard_abandoned(&folder.path().join("no/such/place"));
}

#[test]
fn committed_outputs_replace_the_target() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.txt");
    for text in ["one", "two"] {
        let mut output = Output::create(&path).unwrap();
        output.write_all(text.as_bytes()).unwrap();
        output.flush().unwrap();
        output.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    assert_eq!(files(folder.path()), ["file.txt"]);
}

#[test]
fn directories_and_missing_parents_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let message = |path: &Path| Output::create(path).unwrap_err().to_string();
    assert!(message(folder.path()).ends_with("is a directory, expected a file"));
    assert!(message(Path::new("")).ends_with("is a directory, expected a file"));
    assert!(message(Path::new("/")).ends_with("is a directory, expected a file"));
    let deep = folder.path().join("no/such/file.json");
    assert!(message(&deep).contains("file.json: cannot be written: there is no directory '"));
    fs::write(folder.path().join("plain"), "").unwrap();
    assert!(message(&folder.path().join("plain/file.json")).contains("there is no directory"));
    assert_eq!(files(folder.path()), ["plain"]);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn devices_are_written_to_and_stay() {
        let mut output = Output::create(Path::new("/dev/null")).unwrap();
        output.write_all(b"gone").unwrap();
        output.commit().unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn links_are_followed_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, link) = (folder.path().join("inner"), folder.path().join("link"));
        fs::create_dir(&inner).unwrap();
        symlink("inner/file", &link).unwrap();
        for text in ["dangling", "existing"] {
            let mut output = Output::create(&link).unwrap();
            output.write_all(text.as_bytes()).unwrap();
            output.commit().unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(inner.join("file")).unwrap(), text);
        }
        let circle = folder.path().join("circle");
        symlink("circle", &circle).unwrap();
        assert!(Output::create(&circle).unwrap_err().to_string().contains("too many symbolic links"));
    }

    #[test]
    fn permissions_are_those_of_an_ordinary_file_or_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (plain, ours) = (folder.path().join("plain"), folder.path().join("ours"));
        fs::write(&plain, "").unwrap();
        Output::create(&ours).unwrap().commit().unwrap();
        assert_eq!(mode(&ours), mode(&plain));
        fs::set_permissions(&ours, fs::Permissions::from_mode(0o640)).unwrap();
        Output::create(&ours).unwrap().commit().unwrap();
        assert_eq!(mode(&ours), 0o640);
    }
}
