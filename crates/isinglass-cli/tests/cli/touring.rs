//! The tour: its story, its files, and the commands that it ends with.

use crate::Room;

const VOTES: [&str; 5] = ["votes-network.svg", "votes.csv", "votes.html", "votes.json", "votes.svg"];
const DIGITS: [&str; 6] = [
    "digits-completed.svg",
    "digits-covered.csv",
    "digits-samples.svg",
    "digits.csv",
    "digits.html",
    "digits.json",
];

/// Names of the files in a folder, sorted; twins of pictures aside, which are there where PNG is
/// built in.
fn files(room: &Room, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(room.path().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_none_or(|ending| ending != "png"));
    let mut names: Vec<String> =
        paths.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_tour_tells_its_story_leaves_its_files_and_says_what_to_try() {
    let room = Room::new();
    let story = room.ok("demo");
    for words in [
        "physician_fee_freeze",
        "all pairs coupled",
        "5-fold cross-validation",
        "One known cell in ten hidden",
        "stopped, not converged",
        "The lower half of each digit held out",
        "What to try next:",
    ] {
        assert!(story.contains(words), "{words}\n{story}");
    }
    let mut expected: Vec<&str> = DIGITS.into_iter().chain(VOTES).collect();
    expected.sort_unstable();
    assert_eq!(files(&room, "isinglass-demo"), expected);
    for name in expected {
        assert!(story.contains(&format!("\n{name} ")), "{name} is not explained\n{story}");
    }
    for name in ["votes-network", "votes", "digits-completed", "digits-samples"] {
        let picture = room.read(&format!("isinglass-demo/{name}.svg"));
        // A light ground of its own, whatever the page around it looks like.
        assert!(picture.starts_with("<svg ") && picture.contains("fill=\"#FFFFFF\""), "{name}");
    }
    let commands: Vec<&str> = story.lines().filter_map(|line| line.strip_prefix("  isinglass ")).collect();
    assert_eq!(commands.len(), 6);
    for line in commands {
        room.ok(line);
    }
    assert!(room.read("isinglass-demo/digits-filled.csv").lines().all(|line| !line.contains(",,")));
}

#[test]
fn a_part_of_the_tour_is_that_part() {
    let room = Room::new();
    let document = room.json("demo --part votes -o some");
    assert_eq!(files(&room, "some"), VOTES);
    assert_eq!((document["rows"].as_u64(), document["missing_cells"].as_u64()), (Some(435), Some(392)));
    assert_eq!(
        (document["guarantee"].as_str(), document["converged"].as_bool()),
        (Some("exact"), Some(true))
    );
    assert_eq!(document["votes"].as_array().unwrap().len(), 16);
    for field in ["log_likelihood", "log_likelihood_factorized", "completion", "completion_factorized"] {
        assert!(document[field].is_f64(), "{field}");
    }
    for (study, baseline) in [("party", "majority"), ("imputation", "majority"), ("party", "single_vote")] {
        let share = |who: &str| document[study][who]["accuracy"].as_f64().unwrap();
        assert!(share("machine") > share(baseline), "{study} and {baseline}");
        assert!(document[study]["machine"]["error"].as_f64().unwrap() < 0.02, "{study}");
    }
    assert!(document["digits"].is_null() && document["seconds"].is_f64());
    let listed = document["files"].as_array().unwrap();
    assert!(listed.iter().all(|file| room.path().join(file.as_str().unwrap()).exists()));
    assert_eq!(room.fails("demo --part letters").0, 2);
}

#[test]
fn digits_are_told_in_json() {
    let room = Room::new();
    let document = room.json("demo --part digits --seed 1");
    assert_eq!(files(&room, "isinglass-demo"), DIGITS);
    let digits = &document["digits"];
    assert_eq!((digits["trained"].as_u64(), digits["held_out"].as_u64()), (Some(1497), Some(300)));
    assert_eq!((digits["guarantee"].as_str(), digits["converged"].as_bool()), (Some("exact"), Some(false)));
    assert!(digits["log_likelihood_held_out"].as_f64().unwrap() > -20.0);
    for half in ["lower", "right"] {
        let found = &digits["completed"][half];
        let share = |who: &str| found[who]["accuracy"].as_f64().unwrap();
        assert!(share("machine") > share("majority") + 0.05, "{half}");
        assert_eq!(found["guarantee"], "exact");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_before_anything_is_computed() {
    let room = Room::new();
    room.write("taken", "a file");
    let (code, message) = room.fails("demo -o taken");
    assert!(code == 1 && message.contains("taken: cannot be created"), "{message}");
    std::fs::create_dir_all(room.path().join("half/digits.html")).unwrap();
    let (code, message) = room.fails("demo -o half");
    assert!(code == 1 && message.contains("digits.html"), "{message}");
    assert_eq!(files(&room, "half"), ["digits.html"]);
}
