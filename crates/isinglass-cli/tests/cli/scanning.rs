//! What `scan` answers and writes.

use serde_json::Value;

use crate::Room;

const QUANTITIES: [&str; 6] =
    ["log_z", "energy", "heat_capacity", "magnetisation", "susceptibility", "entropy"];

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn a_chain_has_its_closed_form_in_every_output() {
    let room = Room::new();
    room.ok("make chain --units 9 --coupling 0.5 -o chain.json");
    let scan = room.json("scan chain.json --temperatures 0.5:2:4 --overlap -o scan.csv");
    assert_eq!(numbers(&scan["temperatures"]), [0.5, 1.0, 1.5, 2.0]);
    assert_eq!((scan["engine"].as_str(), scan["guarantee"].as_str()), (Some("decimate"), Some("exact")));
    for (t, u) in [0.5f64, 1.0, 1.5, 2.0].iter().zip(numbers(&scan["energy"])) {
        assert!((u + 8.0 * 0.5 * (0.5 / t).tanh()).abs() < 1e-12, "{t}: {u}");
    }
    for name in QUANTITIES {
        assert_eq!((numbers(&scan[name]).len(), numbers(&scan["errors"][name])), (4, vec![0.0; 4]), "{name}");
    }
    assert_eq!(scan["overlap"].as_array().unwrap().len(), 4);
    assert!((numbers(&scan["overlap"][0]["p"]).iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let table = room.read("scan.csv");
    let mut lines = table.lines();
    assert!(lines.next().unwrap().starts_with("temperature,log_z,log_z_error,energy,energy_error,"));
    assert_eq!(lines.count(), 4);
    assert_eq!(scan["output"], "scan.csv");
    // The temperature of the machine does not matter.
    room.ok("make chain --units 9 --coupling 0.5 --temperature 3 -o hot.json");
    assert_eq!(room.json("scan hot.json --temperatures 1,2")["energy"][1], scan["energy"][3]);
    room.ok("scan chain.json --temperatures 1,2 -o scan.svg");
    assert!(room.read("scan.svg").contains("heat capacity"));
    let text = room.ok("scan chain.json --temperatures 1,2 --given x0=+1");
    assert!(text.starts_with("engine decimate: exact\n") && text.contains("susceptibility"), "{text}");
}

#[test]
fn a_tempered_scan_has_errors_and_one_seed_one_answer() {
    let room = Room::new();
    room.ok("make sk --units 16 -o glass.json");
    let line = "scan glass.json --temperatures 0.7:2:3 --engine temper --sweeps 1024 --burn-in 512 --overlap";
    let scan = room.json(&format!("{line} --threads 1"));
    assert_eq!(scan, room.json(&format!("{line} --threads 3")));
    let exact = room.json("scan glass.json --temperatures 0.7:2:3");
    assert_eq!((scan["guarantee"].as_str(), exact["guarantee"].as_str()), (Some("estimate"), Some("exact")));
    for name in QUANTITIES {
        let truth = numbers(&exact[name]).into_iter().zip(numbers(&scan["errors"][name]));
        for (found, (truth, error)) in numbers(&scan[name]).into_iter().zip(truth) {
            assert!(error > 0.0 && (found - truth).abs() < 5.0 * error, "{name}: {found} ± {error}, {truth}");
        }
    }
    assert!(scan["mixing"]["round_trips"].as_u64().unwrap() > 0);
    let text = room.ok(line);
    assert!(text.contains(" ± ") && text.contains("Binder ratio"), "{text}");
}

#[test]
fn wrong_scans_are_refused() {
    let room = Room::new();
    room.ok("make chain --units 3 -o chain.json");
    for (line, code, part) in [
        ("scan chain.json", 2, "--temperatures"),
        ("scan chain.json --temperatures 5", 2, "LOW:HIGH:COUNT"),
        ("scan chain.json --temperatures 2:1:5", 2, "2:1:5"),
        ("scan chain.json --temperatures 0:1:5", 2, "0:1:5"),
        ("scan chain.json --temperatures 1:2:3 -o scan.png", 2, ".csv or .svg"),
        ("scan chain.json --temperatures 1:2:3 --engine bethe", 1, "cannot scan temperatures"),
        ("scan chain.json --temperatures 1:2:3 --engine decimate --levels 9", 2, "--levels belongs to"),
        ("scan chain.json --temperatures 1:2:3 --temperature 2", 2, "--temperature"),
    ] {
        let (found, message) = room.fails(line);
        assert!(found == code && message.contains(part), "{line}: {found}\n{message}");
    }
    assert_eq!(room.files(), ["chain.json"]);
}
