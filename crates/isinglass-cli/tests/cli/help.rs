//! Help: every command has an example, and it runs as printed.

use crate::Room;

const COMMANDS: [&str; 16] = [
    "demo", "fit", "infer", "query", "map", "sample", "complete", "denoise", "score", "report", "info",
    "make", "convert", "scan", "network", "compare",
];

#[test]
fn examples_in_help_run_as_printed() {
    for command in COMMANDS {
        let room = Room::new();
        let help = room.ok(&format!("{command} --help"));
        let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  isinglass ")).collect();
        assert!(examples.iter().any(|line| line.starts_with(command)), "{command} has no example\n{help}");
        for line in examples {
            // The others need the files of the first part alone; the whole tour for each would take long.
            let short = command != "demo" && line == "demo";
            room.ok(if short { "demo --part votes" } else { line });
        }
    }
}

#[test]
fn the_readme_runs_on_a_table_of_ones_own() {
    let room = Room::new();
    room.write("survey.csv", "asthma,smoker,urban\n0,0,1\n1,1,1\n0,1,0\n1,1,\n0,0,0\n1,0,1\n0,1,1\n");
    let readme = include_str!("../../../../README.md");
    let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("isinglass ")).collect();
    assert_eq!(commands.len(), 8);
    for line in commands {
        room.ok(line);
    }
}

#[test]
fn the_list_of_commands_is_complete() {
    let help = Room::new().ok("--help");
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let room = Room::new();
    room.ok("make chain -n 12 -o chain.json");
    let program = assert_cmd::cargo::cargo_bin("isinglass");
    let script =
        format!("set -o pipefail; '{}' sample chain.json -n 200000 --quiet | head -n 1", program.display());
    let output =
        std::process::Command::new("bash").args(["-c", &script]).current_dir(room.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What a command cannot do with, it does not offer; named all the same, it is refused in words
/// that say what can.
#[test]
fn help_offers_the_engines_that_a_command_can_use() {
    let room = Room::new();
    room.ok("make chain -n 4 --coupling 0.3 -o m.json");
    room.ok("sample m.json -n 40 -o t.csv");
    let all = room.ok("infer --help");
    let all: Vec<&str> = engines(&all);
    assert_eq!(all.len(), 15, "all but max-product: {all:?}");
    let commands = [
        ("map", "map m.json", 6),
        ("sample", "sample m.json -n 3", 6),
        ("scan", "scan m.json --temperatures 1,2", 5),
        ("fit", "fit t.csv --visible-links chain --iterations 2 -o f.json", 14),
    ];
    for (command, line, count) in commands {
        let help = room.ok(&format!("{command} --help"));
        let offered = engines(&help);
        assert_eq!(offered.len(), count, "{command}: {offered:?}");
        for engine in all.iter().copied().chain(["max-product"]) {
            let line = format!("{line} --engine {engine}");
            if offered.contains(&engine) {
                room.ok(&line);
            } else {
                let (_, message) = room.fails(&line);
                assert!(message.contains("cannot") || message.contains("is for isinglass map"), "{message}");
            }
        }
    }
}

/// The engines that a help text lists.
fn engines(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| !line.contains("--engine <ENGINE>")).skip(1);
    let of_option = lines.take_while(|line| !line.trim_start().starts_with("--"));
    of_option.filter_map(|line| line.trim_start().strip_prefix("- ")?.split(':').next()).collect()
}
