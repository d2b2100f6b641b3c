//! The same seed gives the same bytes, on any number of threads.

use crate::Room;

#[test]
fn threads_do_not_change_a_byte() {
    let room = Room::new();
    room.ok("make sk -n 14 --bias normal:0,0.3 --seed 5 -o sk.json");
    room.ok("make grid --rows 7 --columns 7 --coupling signs:0.4 -o grid.json");
    room.ok("sample sk.json -n 300 -o rows.csv");
    let lines = [
        "infer sk.json --pairs all --json",
        "query sk.json --ask x0,x5,x13 --json",
        "sample sk.json -n 200 --seed 9",
        "sample grid.json -n 200 --seed 9 --burn-in 50",
        "infer grid.json --engine gibbs --samples 100 --burn-in 50 --json",
        "map sk.json --json",
        "score sk.json rows.csv --json",
    ];
    for line in lines {
        let one = room.ok(&format!("{line} --threads 1"));
        assert_eq!(one, room.ok(&format!("{line} --threads 2")), "{line}");
        assert_eq!(one, room.ok(&format!("{line} --threads 3")), "{line}");
    }
    let rows = room.read("rows.csv");
    let holes = rows.lines().enumerate().map(|(k, line)| {
        let cell = |(c, cell)| if k > 0 && (c * c + 3 * k) % 5 == 0 { "NA" } else { cell };
        line.split(',').enumerate().map(cell).collect::<Vec<_>>().join(",") + "\n"
    });
    room.write("holes.csv", holes.collect::<String>());
    room.write("gaps.csv", "a,b,c,d\n1,,0,1\n0,1,,1\n,0,1,0\n1,1,0,\n0,0,1,1\n1,0,,0\n");
    for threads in [1, 2] {
        room.ok(&format!(
            "complete sk.json holes.csv --threads {threads} --probabilities -o exact{threads}.csv"
        ));
        room.ok(&format!(
            "complete sk.json holes.csv --threads {threads} --engine gibbs --samples 50 --burn-in 20 --probabilities -o drawn{threads}.csv"
        ));
        room.ok(&format!(
            "fit gaps.csv --inputs a --hidden 2 --iterations 9 --threads {threads} -o gaps{threads}.json"
        ));
        room.ok(&format!("fit rows.csv --hidden 1 --iterations 8 --threads {threads} -o fit{threads}.json"));
        room.ok(&format!("demo --part votes --threads {threads} -o demo{threads}"));
    }
    assert_eq!(room.read("exact1.csv"), room.read("exact2.csv"));
    assert_eq!(room.read("drawn1.csv"), room.read("drawn2.csv"));
    assert_ne!(room.read("exact1.csv"), room.read("drawn1.csv"));
    assert_eq!(room.read("fit1.json"), room.read("fit2.json"));
    assert_eq!(room.read("gaps1.json"), room.read("gaps2.json"));
    for name in ["votes.json", "votes.svg", "votes-network.svg", "votes.html"] {
        assert_eq!(room.read(&format!("demo1/{name}")), room.read(&format!("demo2/{name}")), "{name}");
    }
}

#[test]
fn seeds_matter_where_chance_does() {
    let room = Room::new();
    room.ok("make sk -n 8 --seed 1 -o a.json");
    room.ok("make sk -n 8 --seed 2 -o b.json");
    assert_ne!(room.read("a.json"), room.read("b.json"));
    assert_ne!(room.ok("sample a.json -n 50 --seed 1"), room.ok("sample a.json -n 50 --seed 2"));
    assert_eq!(room.ok("infer a.json --seed 1"), room.ok("infer a.json --seed 2"));
}
