//! The numbers of the page, compared with plain loops over all states.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use isinglass::likelihood::Phases;
use isinglass::topology::{self, Links, Numbers};
use isinglass::{Budget, Enumerate, Gibbs, Machine, MeanField, Role, Table};
use isinglass_lab::report::{Origin, Report, Settings, Shape};
use serde_json::Value;

/// Returns the numbers embedded in a page.
fn numbers_of(page: &str) -> Value {
    let start = page.find("id=\"numbers\">").unwrap() + "id=\"numbers\">".len();
    let end = start + page[start..].find("</script>").unwrap();
    serde_json::from_str(&page[start..end]).unwrap()
}

fn page(machine: &Machine, table: Option<&Table>, settings: &Settings) -> String {
    let engine = Enumerate::default();
    let phases = Phases::both(&engine);
    let origin = Origin { title: "test".into(), model: "test.json".into(), ..Origin::default() };
    Report::new(machine, table, phases, origin, settings).unwrap().to_html()
}

/// Returns a fully coupled machine with given roles, and a table with missing cells.
fn example(roles: &[Role]) -> (Machine, Table) {
    let numbers = Numbers::Uniform { low: -0.8, high: 0.8 };
    let machine = topology::full(roles.len())
        .with_roles(roles.to_vec())
        .and_then(|machine| machine.with_numbers(&numbers, &numbers, 5))
        .and_then(|machine| machine.with_temperature(1.3))
        .and_then(|machine| machine.with_offset(2.5))
        .unwrap();
    let columns: Vec<usize> = (0..roles.len()).filter(|&unit| roles[unit] != Role::Hidden).collect();
    let mut table = Table::new(columns.iter().map(|unit| format!("x{unit}"))).unwrap();
    for k in 0..40u32 {
        let mixed = k.wrapping_mul(2_654_435_761);
        let cell = |c: usize| match mixed >> (3 * c + 2) & 7 {
            0 => 0,
            x if x % 2 == 0 => 1,
            _ => -1,
        };
        let row: Vec<i8> = (0..columns.len()).map(cell).collect();
        table.push(&row, f64::from(k % 3) + 0.5).unwrap();
    }
    (machine, table)
}

/// Returns Σ exp(−E/T) over the states that agree with the cells; 0 is free.
fn weight(machine: &Machine, cells: &[i8]) -> f64 {
    let n = machine.unit_count();
    let states =
        (0..1usize << n).map(|k| (0..n).map(|i| if k >> i & 1 == 1 { 1 } else { -1 }).collect::<Vec<i8>>());
    states
        .filter(|state| state.iter().zip(cells).all(|(s, cell)| *cell == 0 || s == cell))
        .map(|state| machine.log_weight(&state).exp())
        .sum()
}

/// Returns a row of the table in the machine's order.
fn cells(machine: &Machine, table: &Table, row: usize) -> Vec<i8> {
    let mut cells = vec![0; machine.unit_count()];
    for (name, &cell) in table.columns().iter().zip(table.row(row)) {
        cells[machine.position(name).unwrap()] = cell;
    }
    cells
}

fn inputs(machine: &Machine, cells: &[i8]) -> Vec<i8> {
    let given = |(&cell, &role): (&i8, &Role)| if role == Role::Input { cell } else { 0 };
    cells.iter().zip(machine.roles()).map(given).collect()
}

#[track_caller]
fn assert_near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() <= 1e-4 * expected.abs().max(1e-3), "{found}, expected {expected}");
}

#[test]
fn surprising_rows_have_the_smallest_likelihood_and_correct_cell_probabilities() {
    use Role::{Hidden, Input, Visible};
    for roles in [
        &[Visible; 5][..],
        &[Visible, Hidden, Visible, Visible, Hidden],
        &[Visible, Visible, Input, Hidden, Visible],
    ] {
        let (machine, table) = example(roles);
        let numbers = numbers_of(&page(&machine, Some(&table), &Settings { rows: 7, ..Settings::default() }));
        let found = &numbers["surprise"];
        assert_eq!(
            (found["by"].as_str(), found["guarantee"].as_str()),
            (Some("log-likelihood"), Some("exact"))
        );
        let mut expected: Vec<(f64, usize)> = (0..table.distinct_count())
            .filter(|&row| table.weight(row) > 0.0)
            .map(|row| {
                let cells = cells(&machine, &table, row);
                ((weight(&machine, &cells) / weight(&machine, &inputs(&machine, &cells))).ln(), row)
            })
            .collect();
        expected.sort_by(|x, y| x.0.total_cmp(&y.0));
        let rows = found["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 7);
        for (row, (value, distinct)) in rows.iter().zip(&expected) {
            assert_near(&row["value"], *value);
            let first = table.distinct_of().iter().position(|k| *k as usize == *distinct).unwrap();
            assert_eq!(row["number"], first + 1);
            let cells = cells(&machine, &table, *distinct);
            for (k, unit) in found["units"].as_array().unwrap().iter().enumerate() {
                let unit = unit.as_u64().unwrap() as usize;
                assert_eq!(machine.roles()[unit], Visible);
                let p = &row["probabilities"][k];
                if cells[unit] == 0 {
                    assert!(p.is_null());
                    continue;
                }
                let mut flipped = cells.clone();
                flipped[unit] = -flipped[unit];
                let own = weight(&machine, &cells);
                assert_near(p, own / (own + weight(&machine, &flipped)));
            }
        }
    }
}

#[test]
fn moments_match_the_table_and_the_machine() {
    use Role::{Hidden, Visible};
    let (machine, table) = example(&[Visible, Hidden, Visible, Visible, Visible]);
    let numbers = numbers_of(&page(&machine, Some(&table), &Settings::default()));
    let z = weight(&machine, &[0; 5]);
    let moment = |units: &[usize]| {
        let term = |k: usize| {
            let signs: Vec<i8> = (0..units.len()).map(|i| if k >> i & 1 == 1 { 1 } else { -1 }).collect();
            let mut cells = [0; 5];
            units.iter().zip(&signs).for_each(|(&unit, &sign)| cells[unit] = sign);
            f64::from(signs.iter().product::<i8>()) * weight(&machine, &cells) / z
        };
        (0..1 << units.len()).map(term).sum::<f64>()
    };
    let observed = |units: &[usize]| {
        let rows = (0..table.distinct_count()).map(|row| {
            let cells = cells(&machine, &table, row);
            (table.weight(row), units.iter().map(|&unit| cells[unit]).product::<i8>())
        });
        let (total, sum) = rows
            .filter(|(_, x)| *x != 0)
            .fold((0.0, 0.0), |(total, sum), (weight, x)| (total + weight, sum + weight * f64::from(x)));
        sum / total
    };
    for (kind, width, count) in [("means", 1, 4), ("pairs", 2, 6)] {
        let points = &numbers["moments"][kind];
        assert_eq!(points["count"], count);
        let units: Vec<usize> =
            points["units"].as_array().unwrap().iter().map(|unit| unit.as_u64().unwrap() as usize).collect();
        let mut squares = 0.0;
        for (k, units) in units.chunks(width).enumerate() {
            assert_near(&points["observed"][k], observed(units));
            assert_near(&points["modelled"][k], moment(units));
            squares += (observed(units) - moment(units)).powi(2);
        }
        assert_near(&points["rms"], (squares / f64::from(count)).sqrt());
    }
    assert_eq!(numbers["moments"]["guarantee"], "exact");
}

#[test]
fn moments_given_inputs_are_averages_over_rows() {
    use Role::{Input, Visible};
    let (machine, table) = example(&[Visible, Input, Visible, Input]);
    let numbers = numbers_of(&page(&machine, Some(&table), &Settings::default()));
    let points = &numbers["moments"]["means"];
    assert_eq!(points["count"], 2);
    assert_eq!(numbers["moments"]["all_pairs"], false);
    let mut sum = 0.0;
    for row in 0..table.distinct_count() {
        let given = inputs(&machine, &cells(&machine, &table, row));
        let mut up = given.clone();
        up[0] = 1;
        sum += table.weight(row) * (2.0 * weight(&machine, &up) / weight(&machine, &given) - 1.0);
    }
    assert_near(&points["modelled"][0], sum / table.total_weight());
}

#[test]
fn unavailable_parts_have_a_note_with_the_reason() {
    let (machine, table) = example(&[Role::Visible; 4]);
    let gibbs = Gibbs::default();
    let enumerate = Enumerate::default();
    let phases = Phases { clamped: &enumerate, free: &gibbs };
    let report =
        Report::new(&machine, Some(&table), phases, Origin::default(), &Settings::default()).unwrap();
    let numbers = numbers_of(&report.to_html());
    assert!(numbers["score"]["log_likelihood"].is_null());
    assert!(numbers["score"]["notes"][0].as_str().unwrap().contains("log Z"));
    assert_eq!(numbers["surprise"]["by"], "pseudo-log-likelihood");
    assert_eq!(numbers["moments"]["guarantee"], "estimate");

    let phases = Phases::both(&gibbs);
    let report =
        Report::new(&machine, Some(&table), phases, Origin::default(), &Settings::default()).unwrap();
    assert!(report.notes().any(|note| note.contains("surprising rows unavailable")));

    // The moments of a bound are not bounds.
    let field = MeanField::default();
    let phases = Phases::both(&field);
    let report =
        Report::new(&machine, Some(&table), phases, Origin::default(), &Settings::default()).unwrap();
    assert_eq!(numbers_of(&report.to_html())["moments"]["guarantee"], "approximation");
    assert_eq!(report.summary()["surprising_by"], "pseudo-log-likelihood");
}

#[test]
fn pictures_contain_couplings_of_hidden_units_and_draws() {
    let numbers = Numbers::Normal { mean: 0.0, deviation: 0.7 };
    let machine = topology::two_layer(6, &Links::None, 3, &Links::None).unwrap();
    let machine = machine.with_numbers(&numbers, &numbers, 2).unwrap();
    let settings = Settings { shape: Some(Shape { rows: 2, columns: 3 }), draws: 5, ..Settings::default() };
    let found = numbers_of(&page(&machine, None, &settings));
    let pictures = &found["pictures"];
    assert_eq!(pictures["draws"]["states"].as_array().unwrap().len(), 5);
    assert_eq!(pictures["draws"]["guarantee"], "exact");
    for hidden in pictures["hidden"].as_array().unwrap() {
        let unit = machine.position(hidden["name"].as_str().unwrap()).unwrap();
        for pixel in 0..6 {
            let edge = machine.graph().edge_between(unit, pixel).unwrap();
            assert_near(&hidden["weights"][pixel], machine.weights()[edge]);
        }
    }
    assert!(found["moments"].is_null() && found["score"].is_null() && found["surprise"].is_null());
}

#[test]
fn names_are_escaped() {
    let names = ["</script><b>", "\"quoted\"", "<!--", "a&b\u{2028}"];
    let machine = topology::chain(4).with_names(names).unwrap();
    let table = Table::from_rows(names, [[1, 1, -1, 1], [1, 0, -1, -1]]).unwrap();
    let page = page(&machine, Some(&table), &Settings::default());
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(!page.contains("<b>") && !page.contains("<!--") && !page.contains('\u{2028}'));
    let numbers = numbers_of(&page);
    for (unit, name) in names.iter().enumerate() {
        assert_eq!(numbers["names"][unit.to_string()], *name);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_a_dense_machine_stays_small() {
    let (machine, table) = example(&[Role::Visible; 6]);
    let settings = Settings::default();
    assert_eq!(page(&machine, Some(&table), &settings), page(&machine, Some(&table), &settings));

    let dense = topology::sherrington_kirkpatrick(400, 1.0, 0).unwrap();
    let engine = Gibbs::default();
    let phases = Phases::both(&engine);
    let settings = Settings { budget: Budget(1 << 24), ..settings };
    let page = Report::new(&dense, None, phases, Origin::default(), &settings).unwrap().to_html();
    // 79,800 couplings; a thousand units have 6.3 times as many, and 10 MB at most.
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
}

#[test]
fn degenerate_machines_have_pages() {
    for machine in [
        topology::full(1),
        topology::full(2).with_parameters(vec![0.0], vec![0.0; 2]).unwrap(),
        Machine::from_graph(Links::None.graph(5).unwrap()),
        topology::chain(3).with_parameters(vec![1e8, -1e8], vec![1e-8; 3]).unwrap(),
    ] {
        let row = vec![1i8; machine.unit_count()];
        let table = Table::from_rows(machine.names().to_vec(), [row]).unwrap();
        let numbers = numbers_of(&page(&machine, Some(&table), &Settings::default()));
        assert_eq!(numbers["structure"]["units"], machine.unit_count());
    }
}
