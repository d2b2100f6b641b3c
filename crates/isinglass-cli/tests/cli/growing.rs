//! `fit` with hidden units whose number is found, that are added to a machine, or in layers.

use crate::Room;
use crate::learners::number;

/// Six columns, of which one is mostly the product of three others: no pair tells of it.
fn room() -> Room {
    let room = Room::new();
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    for name in ["t.csv", "v.csv"] {
        let mut text = "a,b,c,d,e,f\n".to_owned();
        for _ in 0..2000 {
            let bits: Vec<u64> = (0..5).map(|_| next() >> 20 & 1).collect();
            // One of eight is turned.
            let last = (bits[0] + bits[1] + bits[2] + u64::from((next() >> 20) % 8 == 0)) & 1;
            text += &format!("{},{},{},{},{},{last}\n", bits[0], bits[1], bits[2], bits[3], bits[4]);
        }
        room.write(name, text);
    }
    room
}

#[test]
fn hidden_auto_goes_up_until_held_out_rows_say_no() {
    let room = room();
    for validate in ["", "--validate v.csv"] {
        let fit = room.json(&format!("fit t.csv {validate} --hidden auto --threads 1 -o m.json"));
        let growth = &fit["hidden"];
        let path = growth["path"].as_array().unwrap();
        assert!(path.len() > 1 && path[0]["hidden"] == 0, "{growth}");
        let kept = path.len() - 2;
        for (number_of, size) in path.iter().enumerate().skip(1) {
            assert_eq!(number(&size["rise"]) > 0.0, number_of <= kept, "{growth}");
            assert!(number(&size["error"]) > 0.0 && size["guarantee"] == "exact");
        }
        assert_eq!(growth["chosen"], path[kept]["hidden"]);
        let info = room.json("info m.json");
        assert_eq!(info["roles"]["hidden"], growth["chosen"]);
        if !validate.is_empty() {
            // The machine is the one that was judged, and better than one of pairs alone.
            let score = room.json("score m.json v.csv");
            assert!((number(&score["log_likelihood"]) - number(&path[kept]["held_out"])).abs() < 1e-9);
            assert_eq!(score["guarantee"], "exact");
            assert!(number(&path[kept]["held_out"]) > number(&path[0]["held_out"]) + 0.1, "{growth}");
        }
        let first = room.read("m.json");
        room.ok(&format!("fit t.csv {validate} --hidden auto --threads 2 -o m.json"));
        assert_eq!(room.read("m.json"), first);
    }
}

#[test]
fn units_are_added_to_a_machine_and_fitted_with_it() {
    let room = room();
    let pairs = room.json("fit t.csv -o pairs.json");
    let fit = room.json("fit t.csv --init pairs.json --hidden 2 --iterations 100 -o more.json");
    assert!(number(&fit["log_likelihood"]) > number(&pairs["log_likelihood"]) + 0.05);
    let shape = room.json("info more.json");
    assert_eq!((shape["units"].as_u64(), shape["edges"].as_u64()), (Some(8), Some(15 + 12)));
    // Further ones, found from where the machine is.
    let grown =
        room.json("fit t.csv --init pairs.json --hidden auto --validate v.csv --l2 0.001 -o auto.json");
    assert_eq!(grown["hidden"]["path"][0]["hidden"], 0);
    assert_eq!(grown["hidden"]["l2"], 0.001);
}

#[test]
fn layers_are_each_joined_with_the_one_before() {
    let room = room();
    room.ok("fit t.csv --hidden 3,2 --iterations 5 -o deep.json");
    let shape = room.json("info deep.json");
    assert_eq!((shape["units"].as_u64(), shape["edges"].as_u64()), (Some(11), Some(15 + 18 + 6)));
    room.ok("fit t.csv --hidden 3,2 --hidden-links full --visible-links none --iterations 5 -o deep.json");
    assert_eq!(room.json("info deep.json")["edges"], 18 + 6 + 3 + 1);
}
