//! Experiments of the sources: names, files and what is printed.

use crate::Room;

#[test]
fn an_experiment_writes_its_numbers_figure_and_text() {
    let room = Room::new();
    let printed = room.ok("reproduce kappen-6 --quick -o figures");
    assert!(printed.starts_with("kappen-6: ") && printed.contains(": holds in part ("), "{printed}");
    assert!(printed.contains("\n  holds          small weights: "), "{printed}");
    assert!(
        printed.contains("\n  does not hold  the exact weight as printed is exact – K up to "),
        "{printed}"
    );
    let csv = room.read("figures/kappen-6.csv");
    assert!(csv.starts_with("m,a,w_exact,w_lr,theta_exact,theta_lr,"), "{csv}");
    assert!(room.read("figures/kappen-6.svg").starts_with("<svg "));
    assert!(room.read("figures/kappen-6.md").contains("**Verdict: holds in part.**"));

    let document = room.json("reproduce ruger-3 -o figures");
    let found = &document["experiments"][0];
    assert_eq!((found["name"].as_str(), found["verdict"].as_str()), (Some("ruger-3"), Some("holds")));
    for check in found["checks"].as_array().unwrap() {
        let [claim, measured, what] =
            ["claim", "measured", "what"].map(|field| check[field].as_str().unwrap());
        assert!(what == format!("{claim}: {measured}") && check["holds"] == true, "{check}");
    }
    let files = found["files"].as_array().unwrap();
    assert!(files.len() >= 3 && files.iter().all(|file| room.path().join(file.as_str().unwrap()).exists()));
}

#[test]
fn the_list_names_every_experiment() {
    let room = Room::new();
    let list = room.ok("reproduce --list");
    let document = room.json("reproduce --list");
    let all = document["experiments"].as_array().unwrap();
    assert!(all.len() >= 14);
    assert!(all.iter().all(|entry| list.contains(entry["name"].as_str().unwrap())));
    assert!(room.files().is_empty());
}

#[test]
fn what_cannot_be_run_is_refused_with_the_right_code() {
    let room = Room::new();
    let (code, message) = room.fails("reproduce kapen-3 -o figures");
    assert!(code == 2 && message.contains("did you mean 'kappen-3'"), "{message}");
    assert_eq!(room.fails("reproduce -o figures").0, 2);
    assert_eq!(room.fails("reproduce kappen-3").0, 2);
    room.write("narrow.csv", "a,b\n1,0\n0,1\n");
    let (code, message) = room.fails("reproduce lawrence-5 --quick --data narrow.csv -o figures");
    assert!(code == 1 && message.contains("64"), "{message}");
    assert!(
        std::fs::read_dir(room.path().join("figures")).unwrap().next().is_none(),
        "nothing is left behind"
    );
    assert_eq!(room.fails("reproduce lawrence-5 --data missing.csv -o figures").0, 1);
}

#[test]
fn the_same_bytes_come_out_on_any_number_of_threads() {
    let room = Room::new();
    room.ok("reproduce kappen-3 --quick --seed 5 --threads 1 -o one");
    room.ok("reproduce kappen-3 --quick --seed 5 --threads 3 -o three");
    for ending in ["csv", "svg", "md"] {
        assert_eq!(
            room.read(&format!("one/kappen-3.{ending}")),
            room.read(&format!("three/kappen-3.{ending}")),
            "{ending}"
        );
    }
}
