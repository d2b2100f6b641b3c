//! `network`, and what `fit` says about a network: centralities, intervals, differences, stability.

use crate::Room;

/// A ring of six units in which one has further couplings.
fn room() -> Room {
    let room = Room::new();
    room.ok("make chain --units 6 --coupling 0.6 -o truth.json");
    room.ok("sample truth.json -n 400 --seed 3 -o t.csv");
    room
}

/// The cells of a CSV file, by column.
fn column(text: &str, name: &str) -> Vec<String> {
    let mut lines = text.lines();
    let place = lines.next().unwrap().split(',').position(|cell| cell == name).unwrap();
    lines.map(|line| line.split(',').nth(place).unwrap().to_owned()).collect()
}

#[test]
fn a_network_is_written_for_every_program_and_is_the_same_each_time() {
    let room = room();
    for file in ["n.svg", "n.graphml", "n.dot"] {
        room.ok(&format!("network truth.json -o {file} --layout circle"));
        let first = room.read(file);
        room.ok(&format!("network truth.json -o {file} --layout circle --threads 1"));
        assert_eq!(first, room.read(file), "{file}");
        assert!((0..6).all(|unit| first.contains(&format!("x{unit}"))), "{file}");
    }
    let graphml = room.read("n.graphml");
    assert_eq!((graphml.matches("<node ").count(), graphml.matches("<edge ").count()), (6, 5));
    assert!(
        graphml.contains("edgedefault=\"undirected\"") && graphml.contains("<data key=\"weight\">0.6</data>")
    );
    let dot = room.read("n.dot");
    assert!(dot.starts_with("graph ") && dot.matches(" -- ").count() == 5, "{dot}");
    // Weak couplings are left out; the seed moves the spring layout.
    let found = room.json("network truth.json -o few.dot --least 0.7");
    assert_eq!(found["networks"][0]["edges"], 0);
    room.ok("network truth.json -o a.svg --seed 1");
    room.ok("network truth.json -o b.svg --seed 2");
    assert_ne!(room.read("a.svg"), room.read("b.svg"));
}

#[test]
fn several_networks_share_a_layout_and_groups_have_colours() {
    let room = room();
    room.ok("fit t.csv -o m.json");
    room.ok("network truth.json m.json -o two.svg --titles truth,fitted");
    let two = room.read("two.svg");
    assert!(two.contains("\ntruth\n") && two.contains("\nfitted\n") && two.matches("\nx3\n").count() == 2);
    // The same places as in the other network's own figure.
    let places = |file: &str| -> Vec<String> {
        room.ok(&format!("network m.json -o own.dot {file}"));
        room.read("own.dot")
            .lines()
            .filter(|line| line.contains("pos="))
            .map(|line| line.split(", bias").next().unwrap().to_owned())
            .collect()
    };
    room.ok("network truth.json -o truth.dot");
    let of_truth: Vec<String> = room
        .read("truth.dot")
        .lines()
        .filter(|line| line.contains("pos="))
        .map(|line| line.split(", bias").next().unwrap().to_owned())
        .collect();
    assert_eq!(places("--layout-from truth.json"), of_truth);
    assert_ne!(places(""), of_truth);
    room.write("groups.csv", "x0,left\nx1,left\nx2,left\nx3,right\nx4,right\nx5,right\n");
    room.ok("network m.json -o groups.svg --layout groups --groups groups.csv");
    assert!(room.read("groups.svg").contains("\nleft\n"));
    for (line, code, expected) in [
        ("network truth.json -o n.txt", 2, "a network is written to"),
        ("network truth.json -o n.svg --layout groups", 2, "--groups FILE.csv"),
        ("network truth.json m.json -o n.dot", 2, "holds one network"),
        ("network truth.json m.json -o n.svg --titles one", 2, "--titles: found 1, expected 2"),
        ("network truth.json -o truth.json", 2, "a network is written to"),
        ("network truth.json", 2, "--output"),
    ] {
        let (found, message) = room.fails(line);
        assert!(found == code && message.contains(expected), "{line}: {found} {message}");
    }
    room.write("bad.csv", "x0,left\n");
    let (code, message) = room.fails("network truth.json -o n.svg --groups bad.csv");
    assert!(code == 1 && message.contains("unit 'x1' has no group"), "{message}");
}

#[test]
fn a_fit_writes_centralities_differences_and_stability() {
    let room = room();
    let line = "fit t.csv --learner pseudo-likelihood --bootstrap 40 --case-dropping 40 -o m.json";
    let files = "--centrality c.csv --differences d.csv --stability s.csv --network n.csv --report r.html";
    let found = room.json(&format!("{line} {files}"));
    let centrality = room.read("c.csv");
    assert_eq!(column(&centrality, "unit"), ["x0", "x1", "x2", "x3", "x4", "x5"]);
    for measure in
        ["strength", "expected_influence", "closeness", "betweenness", "accuracy", "normalised_accuracy"]
    {
        let numbers = |name: &str| -> Vec<f64> {
            column(&centrality, name).iter().map(|cell| cell.parse().unwrap()).collect()
        };
        let (values, low, high) =
            (numbers(measure), numbers(&format!("{measure}_lower")), numbers(&format!("{measure}_upper")));
        assert!(low.iter().zip(&high).all(|(low, high)| low <= high), "{measure}");
        for (unit, value) in values.iter().enumerate() {
            assert_eq!(found["centrality"][unit][measure].as_f64().unwrap(), *value, "{measure}");
        }
    }
    // Six measures of 15 pairs, and 15 couplings with 105 pairs.
    assert_eq!(room.read("d.csv").lines().count(), 1 + 6 * 15 + 105);
    assert_eq!(room.read("s.csv").lines().count(), 1 + 5 * 10);
    assert_eq!(found["stability"]["levels"].as_array().unwrap().len(), 10);
    let cs = found["stability"]["cs"]["couplings"].as_f64().unwrap();
    assert!(cs >= 0.5, "{cs}");
    let first = &found["bootstrap"]["couplings"][0];
    assert!(first["lower"].as_f64() <= first["fitted"].as_f64() && first["a"] == "x0");
    let page = room.read("r.html");
    for part in [
        "\"bootstrap\":{\"level\":0.95,\"resamples\":40",
        "CS coefficients, the largest share",
        "@article{epskamp2018",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // The page shows the network's numbers also without a table.
    room.ok("report m.json -o plain.html");
    assert!(room.read("plain.html").contains("\"name\":\"strength\""));
    let (code, message) = room.fails("fit t.csv --bootstrap 10 -o n.json");
    assert!(code == 2 && message.contains("--network, --centrality, --report or --json"), "{message}");
}

#[test]
fn predictability_needs_a_table() {
    let room = room();
    room.ok("fit t.csv --learner pseudo-likelihood -o m.json --centrality c.csv");
    let header = room.read("c.csv").lines().next().unwrap().to_owned();
    assert_eq!(header, "unit,strength,expected_influence,closeness,betweenness,accuracy,normalised_accuracy");
    room.ok("network m.json --centrality alone.csv");
    assert_eq!(
        room.read("alone.csv").lines().next().unwrap(),
        "unit,strength,expected_influence,closeness,betweenness"
    );
    assert_eq!(column(&room.read("alone.csv"), "closeness"), column(&room.read("c.csv"), "closeness"));
}

/// Every command of the tutorial, with twenty resamples in place of a thousand.
#[test]
fn the_tutorial_runs_as_printed() {
    let room = Room::new();
    let text = include_str!("../../../../docs/tutorials/symptom-network.md").replace("\\\n", " ");
    let mut run = 0;
    for block in text.split("```sh\n").skip(1) {
        let lines = block.split("```").next().unwrap().lines();
        for line in lines.filter_map(|line| line.trim().strip_prefix("isinglass ")) {
            let line = line.split('#').next().unwrap().replace("\"$TABLE\"", "isinglass-demo/votes.csv");
            room.ok(line.replace("1000", "20").trim());
            run += 1;
        }
    }
    assert_eq!(run, 7, "all commands were found");
    let files = [
        "edges.csv",
        "centrality.csv",
        "differences.csv",
        "stability.csv",
        "study.html",
        "network.svg",
        "both.svg",
        "network.graphml",
    ];
    let found = room.files();
    assert!(files.iter().all(|file| found.contains(&(*file).to_owned())), "{found:?}");
}
