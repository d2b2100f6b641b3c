//! Pages: written whole, reported in JSON, refused with a reason.

use crate::Room;

const TABLE: &str = "a,b,c\n1,0,1\n0,0,1\n1,1,\n0,1,0\n1,0,0\n0,0,1\n";

#[test]
fn a_report_is_one_page_and_json_tells_what_is_in_it() {
    let room = Room::new();
    room.write("t.csv", TABLE);
    room.ok("fit t.csv --l2 0.1 -o m.json --history h.csv --quiet");
    let document = room.json("report m.json t.csv -o page.html --history h.csv --title A<b>");
    let score = room.json("score m.json t.csv");
    for field in ["log_likelihood", "pseudo_log_likelihood", "completion"] {
        let (found, expected) = (document[field].as_f64().unwrap(), score[field].as_f64().unwrap());
        assert_eq!(found, expected, "{field}");
    }
    assert_eq!(
        (document["engine"].as_str(), document["guarantee"].as_str()),
        (Some("decimate"), Some("exact"))
    );
    assert_eq!(document["surprising_by"], "log-likelihood");
    // Two of the six rows are alike.
    assert_eq!(document["surprising_rows"].as_array().unwrap().len(), 5);
    let page = room.read("page.html");
    assert_eq!(document["bytes"], page.len());
    assert!(page.contains("<title>A&lt;b&gt;</title>") && page.contains("\"gradient\":["));
    room.ok("report m.json -o alone.html");
    assert!(room.read("alone.html").contains("\"score\":null"));
    assert_eq!(room.ok("report m.json t.csv -o page.html"), "wrote page.html\n");
}

#[test]
fn a_fit_writes_its_report_with_its_history() {
    let room = Room::new();
    room.write("t.csv", TABLE);
    let document = room.json("fit t.csv --l2 0.1 -o m.json --report page.html");
    assert_eq!(document["report"], "page.html");
    let page = room.read("page.html");
    assert!(page.contains("\"learner\":\"likelihood\"") && page.contains("\"objective\":["));
    room.ok("fit t.csv --learner closed-form -o m.json --report page.html");
    assert!(room.read("page.html").contains("\"learner\":\"closed-form\""));
}

#[test]
fn the_same_seed_gives_the_same_page_on_any_number_of_threads() {
    let room = Room::new();
    room.ok("make grid --rows 4 --columns 5 -o grid.json");
    room.ok("sample grid.json -n 200 -o draws.csv");
    for (threads, page) in [(1, "one.html"), (3, "three.html")] {
        room.ok(&format!(
            "report grid.json draws.csv --engine gibbs --shape 4x5 -o {page} --threads {threads} --seed 4"
        ));
    }
    assert_eq!(room.read("one.html"), room.read("three.html"));
}

#[test]
fn reports_that_cannot_be_are_refused() {
    let room = Room::new();
    room.write("t.csv", TABLE).write("h.csv", "a,b\n");
    room.ok("fit t.csv --l2 0.1 -o m.json --quiet");
    let before = room.files();
    let refused = |line: &str, code: i32, reason: &str| {
        let (found, message) = room.fails(line);
        assert_eq!(found, code, "{line}\n{message}");
        assert!(message.contains(reason), "{line}\n{message}");
    };
    refused("report m.json t.csv -o page.pdf", 2, "page.pdf: a report is written to a .html file");
    refused("fit t.csv -o n.json --report n.txt", 2, "n.txt: a report is written to a .html file");
    refused("report m.json t.csv -o p.html --shape 2x2", 1, "found 2x2, expected 3 pixels");
    refused("report m.json t.csv -o p.html --shape 2", 2, "expected rows and columns such as 8x8");
    refused("report m.json t.csv -o p.html --history h.csv", 1, "h.csv: line 1: found the header 'a,b'");
    refused(
        "report m.json t.csv -o p.html --samples 9 --engine bethe",
        2,
        "--samples belongs to --engine gibbs",
    );
    refused("report m.json --drop a -o p.html", 2, "TABLE");
    refused("fit t.csv -o n.json --history same.html --report same.html", 2, "name the same file");
    assert_eq!(room.files(), before);
}
