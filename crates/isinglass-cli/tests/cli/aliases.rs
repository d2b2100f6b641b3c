//! Outputs that are one file, or an input, by another name are refused before any work.

use crate::Room;

const TABLE: &str = "a,b,c\n1,0,1\n0,0,1\n1,1,0\n1,1,1\n0,1,0\n";

fn room() -> Room {
    let room = Room::new();
    room.write("t.csv", TABLE).write("edges.csv", "a,b\nb,c\n");
    std::fs::create_dir(room.path().join("d")).unwrap();
    room
}

#[track_caller]
fn refused(room: &Room, line: &str, words: &str) {
    let before: Vec<_> = room.files();
    let (code, message) = room.fails(line);
    assert!(code == 2 && message.contains(words), "{line}: {code} {message}");
    assert_eq!(room.files(), before, "{line}");
    assert_eq!(room.read("t.csv"), TABLE, "{line}");
    assert_eq!(room.read("edges.csv"), "a,b\nb,c\n", "{line}");
}

#[test]
fn two_outputs_of_one_file_are_refused_by_any_names() {
    let room = room();
    let whole = room.path().join("m.json").display().to_string();
    for other in ["m.json", "./m.json", "d/../m.json", &whole] {
        for option in ["--network", "--history", "--checkpoint"] {
            let line = format!("fit t.csv -o m.json {option} {other}");
            refused(&room, &line, &format!("{option} and --output name the same file"));
        }
    }
    refused(&room, "fit t.csv -o m.json --report p.html --history d/../p.html", "name the same file");
    let denoise = "denoise --sample --add-noise 0.1 -o a.png";
    for other in ["a.png", "./a.png", "d/../a.png"] {
        refused(&room, &format!("{denoise} --noisy {other}"), "--noisy and --output name the same file");
    }
    room.ok("fit t.csv -o m.json --network n.csv --history h.csv");
}

#[cfg(unix)]
#[test]
fn links_do_not_hide_that_two_outputs_are_one() {
    use std::os::unix::fs::symlink;
    let room = room();
    let at = |name: &str| room.path().join(name);
    symlink("m.json", at("n.csv")).unwrap();
    symlink("d", at("e")).unwrap();
    refused(&room, "fit t.csv -o m.json --network n.csv", "--network and --output name the same file");
    refused(&room, "fit t.csv -o d/m.json --network e/m.json", "e/m.json is d/m.json");
    std::fs::remove_file(at("n.csv")).unwrap();
    room.write("m.json", "old");
    std::fs::hard_link(at("m.json"), at("n.csv")).unwrap();
    refused(&room, "fit t.csv -o m.json --network n.csv", "--network and --output name the same file");
    symlink("p.png", at("a.png")).unwrap();
    refused(&room, "denoise --sample --add-noise 0.1 -o a.png --noisy p.png", "name the same file");
    assert_eq!(room.read("m.json"), "old");
    // A folder in which one name leads to another.
    symlink("kappen-3.csv", at("d/kappen-3.md")).unwrap();
    refused(&room, "reproduce kappen-3 --quick -o d", "name the same file");
    symlink("votes.csv", at("d/votes.json")).unwrap();
    refused(&room, "demo -o d", "name the same file");
}

#[test]
fn no_output_replaces_an_input_by_any_name() {
    let room = room();
    room.ok("make chain -n 3 -o m.json");
    room.write("m.evid", "0\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("t.csv", room.path().join("link.json")).unwrap();
    for line in [
        "fit t.csv -o m.json --history ./t.csv",
        "fit t.csv -o m.json --visible-links edges:edges.csv --network d/../edges.csv",
        "fit t.csv -o n.json --init m.json --history ./m.json",
        "fit t.csv -o n.json --validate edges.csv --network ./edges.csv",
        "complete m.json t.csv -o ./t.csv",
        #[cfg(unix)]
        "fit t.csv -o link.json",
    ] {
        refused(&room, line, "would replace the input");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("m.evid", room.path().join("draws.csv")).unwrap();
        refused(&room, "sample m.json -n 2 --evidence m.evid -o draws.csv", "would replace the input");
    }
    // A machine may be replaced by a better one.
    room.write("n.csv", TABLE.replace("a,b,c", "x0,x1,x2"));
    room.ok("fit n.csv --init m.json -o ./m.json");
}
