//! `denoise`: small pictures with known answers, what it reports, and what it refuses.

use std::fs;

use isinglass::Budget;
use isinglass_files::read_picture;

use crate::Room;

/// A picture as text, `#` black and `.` white, written as PGM.
fn pgm(lines: &[&str]) -> String {
    let mut text = format!("P2\n{} {}\n255\n", lines[0].len(), lines.len());
    for line in lines {
        let row: Vec<&str> = line.chars().map(|c| if c == '#' { "0" } else { "255" }).collect();
        text += &(row.join(" ") + "\n");
    }
    text
}

/// The picture in a file, as text.
fn lines(room: &Room, name: &str) -> Vec<String> {
    let picture = read_picture(&room.path().join(name), 128, Budget::default()).unwrap();
    assert_eq!(picture.toned, 0);
    let letter = |&x: &i8| if x == 1 { '.' } else { '#' };
    picture.pixels.chunks(picture.columns).map(|row| row.iter().map(letter).collect()).collect()
}

#[test]
fn specks_go_and_shapes_stay() {
    let room = Room::new();
    let noisy = [".........", "..####...", "..####...", "..#.##.#.", "..####...", ".........", "#........"];
    let clean = [".........", "..####...", "..####...", "..####...", "..####...", ".........", "........."];
    room.write("noisy.pgm", pgm(&noisy));
    for engine in ["mean-field", "bethe", "gibbs"] {
        let document = room.json(&format!("denoise noisy.pgm -o {engine}.png --engine {engine}"));
        assert_eq!(lines(&room, &format!("{engine}.png")), clean, "{engine}");
        assert_eq!((&document["rows"], &document["columns"]), (&7.into(), &9.into()));
        assert_eq!((&document["changed"], &document["neighbours"]), (&3.into(), &4.into()));
        assert_eq!(document["engine"], engine);
        assert!((document["data"].as_f64().unwrap() - 3f64.ln()).abs() < 1e-12, "half the log-odds of 0.1");
        assert_eq!(document["free_energy"].is_array(), engine == "mean-field");
    }
    // A line one pixel wide along the diagonal hangs together by corners alone.
    let line = ["#.....", ".#....", "..#...", "...#..", "....#.", ".....#"];
    room.write("line.pgm", pgm(&line));
    room.ok("denoise line.pgm -o four.png --coupling 0.6");
    assert_eq!(lines(&room, "four.png"), ["......"; 6]);
    room.ok("denoise line.pgm -o none.png --coupling 0");
    assert_eq!(lines(&room, "none.png"), line);
    room.ok("denoise line.pgm -o sure.png --flip 0.0001");
    assert_eq!(lines(&room, "sure.png"), line);
    // Black on white is cleaned like white on black.
    room.write(
        "turned.pgm",
        pgm(&noisy.map(|line| line.replace('#', "x").replace('.', "#")).each_ref().map(String::as_str)),
    );
    room.ok("denoise turned.pgm -o turned.png --neighbours 8");
    room.ok("denoise noisy.pgm -o eight.png --neighbours 8");
    let turned = lines(&room, "turned.png").join("");
    assert_eq!(
        turned.replace('#', "x").replace('.', "#").replace('x', "."),
        lines(&room, "eight.png").join("")
    );
}

#[test]
fn noise_on_the_sample_is_mostly_removed_and_told() {
    let room = Room::new();
    for engine in ["mean-field", "bethe", "gibbs"] {
        let document = room.json(&format!(
            "denoise --sample --add-noise 0.1 --noisy noisy.png -o clean.png --engine {engine} --seed 4"
        ));
        let number = |key: &str| document[key].as_f64().unwrap();
        assert!((number("wrong_before") / 65_536.0 - 0.1).abs() < 0.01, "{engine}");
        assert!(number("wrong_after") < number("wrong_before") / 8.0, "{engine}: {document}");
        assert_eq!(document["converged"], true);
    }
    let story = room.ok("denoise --sample --add-noise 0.05 -o clean.png");
    assert!(story.contains("engine mean-field: lower-bound") && story.contains("wrong after"), "{story}");
    let energies = room.json("denoise --sample --add-noise 0.05 -o clean.png")["free_energy"].clone();
    let energies: Vec<f64> = serde_json::from_value(energies).unwrap();
    assert!(energies.len() > 3 && energies.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12 * pair[0].abs()));
    // A picture of one colour has nothing to be changed.
    room.write("white.pgm", pgm(&["....", "...."]));
    assert_eq!(room.json("denoise white.pgm -o white.png")["changed"], 0);
}

#[test]
fn greys_and_searches_that_end_early_are_told() {
    let room = Room::new();
    room.write("grey.pgm", "P2\n3 2\n255\n0 90 128\n255 255 200\n");
    let messages = |line: &str| String::from_utf8(room.run(line).stderr).unwrap();
    let note = messages("denoise grey.pgm -o out.png");
    assert!(note.contains("3 of 6 pixels are neither black nor white; divided at 128"), "{note}");
    room.ok("denoise grey.pgm -o out.png --coupling 0 --threshold 90");
    assert_eq!(lines(&room, "out.png"), ["#..", "..."]);
    assert_eq!(messages("denoise grey.pgm -o out.png --quiet"), "");
    let warning = messages("denoise --sample --add-noise 0.1 -o out.png --iterations 2");
    assert!(warning.contains("not converged after 2 sweeps (residual"), "{warning}");
    let warning = messages("denoise --sample --add-noise 0.1 -o out.png --iterations 2 --engine bethe");
    assert!(warning.contains("--damping"), "{warning}");
}

#[test]
fn seeds_and_threads() {
    let room = Room::new();
    room.ok("denoise --sample --add-noise 0.1 --noisy noisy.png -o x.png");
    room.ok("denoise --sample --add-noise 0.1 --noisy other.png -o x.png --seed 1");
    let bytes = |name: &str| fs::read(room.path().join(name)).unwrap();
    assert_ne!(bytes("noisy.png"), bytes("other.png"));
    for engine in ["mean-field", "bethe", "gibbs"] {
        let on = |threads: usize| {
            let line = format!("denoise noisy.png -o out.png --engine {engine} --threads {threads} --json");
            (room.ok(&line), bytes("out.png"))
        };
        assert_eq!(on(1), on(2), "{engine}");
        assert_eq!(on(1), on(3), "{engine}");
    }
}

#[test]
fn what_cannot_be_done_is_refused_and_leaves_nothing() {
    let room = Room::new();
    room.write("p.pgm", pgm(&["#.", ".#"])).write("cut.pgm", "P2\n9 9\n255\n0 255").write("t.csv", "a\n1\n");
    room.ok("denoise p.pgm -o p.png");
    let before = room.files();
    for (line, code, words) in [
        ("denoise -o o.png", 2, "IMAGE"),
        ("denoise p.pgm", 2, "--output"),
        ("denoise p.pgm --sample -o o.png", 2, "--sample"),
        ("denoise p.pgm -o o.png --engine magic", 2, "magic"),
        ("denoise p.pgm -o o.png --neighbours 6", 2, "4 or 8"),
        ("denoise p.pgm -o o.png --flip 0", 2, "above 0 and below 1"),
        ("denoise p.pgm -o o.png --flip 0.1 --data 1", 2, "--data"),
        ("denoise p.pgm -o o.png --add-noise 1.5", 2, "from 0 to 1"),
        ("denoise p.pgm -o o.png --noisy n.png", 2, "--add-noise"),
        ("denoise p.pgm -o o.png --threshold 256", 2, "256"),
        ("denoise p.pgm -o o.png --iterations 0", 2, "at least 1"),
        ("denoise p.pgm -o o.png --coupling nan", 2, "--coupling: found NaN"),
        ("denoise p.pgm -o o.png --data 1e9", 2, "--data: found 1000000000"),
        ("denoise p.pgm -o o.png --damping 0.5", 2, "--damping belongs to --engine bethe, not to mean-field"),
        ("denoise p.pgm -o o.png --burn-in 5 --engine bethe", 2, "--burn-in belongs to --engine gibbs"),
        ("denoise p.pgm -o o.png --tolerance 1 --engine gibbs", 2, "--tolerance belongs to"),
        ("denoise p.pgm -o o.png --engine bethe --damping 1", 2, "--damping: found 1"),
        ("denoise p.pgm -o o.png --tolerance -1", 2, "--tolerance: found -1"),
        ("denoise p.pgm -o o.png --engine gibbs --iterations 3", 2, "--iterations: found 3, expected from 4"),
        (
            "denoise p.pgm -o o.png --noisy o.png --add-noise 0.1",
            2,
            "--noisy and --output name the same file",
        ),
        ("denoise p.png -o p.png", 2, "would replace the input"),
        ("denoise p.png -o o.png --add-noise 0.1 --noisy p.png", 2, "would replace the input"),
        ("denoise p.pgm -o o.jpg", 1, ".png"),
        ("denoise p.pgm -o o.png --noisy n.bmp --add-noise 0.1", 1, ".png"),
        ("denoise cut.pgm -o o.png", 1, "cut.pgm"),
        ("denoise t.csv -o o.png", 1, "t.csv"),
        ("denoise absent.png -o o.png", 1, "absent.png: no such file"),
        ("denoise p.pgm -o absent/o.png", 1, "absent"),
        ("denoise --sample -o o.png --budget 100kB", 1, "needs"),
    ] {
        let (found, message) = room.fails(line);
        assert!(message.contains(words), "isinglass {line}: no '{words}' in\n{message}");
        assert_eq!(found, code, "isinglass {line}\n{message}");
        assert_eq!(before, room.files(), "isinglass {line}: left files behind");
    }
}
