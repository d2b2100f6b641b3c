//! Where the units of networks are drawn.

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use std::fmt;
use std::str::FromStr;

use isinglass::{Error, Machine, Result, Role};

use super::layout;

/// How units are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// Strongly coupled units are near each other: distances in the drawing follow the shortest
    /// paths along couplings.
    #[default]
    Spring,
    /// On a circle, in the order of the units.
    Circle,
    /// Each group of units on a circle of its own.
    Groups,
}

impl Layout {
    /// All.
    pub const ALL: [Self; 3] = [Self::Spring, Self::Circle, Self::Groups];

    /// Its name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Spring => "spring",
            Self::Circle => "circle",
            Self::Groups => "groups",
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|layout| layout.word() == text);
        found.ok_or_else(|| {
            Error::invalid("layout", format!("found '{text}', expected spring, circle or groups"))
        })
    }
}

/// Positions by the names of units, so that networks with the same units can share them, and the
/// groups of units.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Places {
    at: BTreeMap<String, [f64; 2]>,
    group_of: BTreeMap<String, usize>,
    /// Names of the groups; empty if there are none.
    pub(super) groups: Vec<String>,
}

impl Places {
    /// Places the units of one or several machines.
    ///
    /// Units with the same name are the same; `spring` uses the mean size of their couplings over
    /// the machines. Groups are pairs of a unit and the name of its group; without any, they are
    /// the roles, if the machines have several. A seed gives the same positions on every computer.
    ///
    /// # Errors
    /// No machine; `groups` without any; a unit without a group, or an unknown unit with one.
    pub fn of(machines: &[&Machine], layout: Layout, groups: &[(String, String)], seed: u64) -> Result<Self> {
        let mut names: Vec<&str> = Vec::new();
        let mut number = BTreeMap::new();
        for name in machines.iter().flat_map(|machine| machine.names()) {
            number.entry(name.as_str()).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            });
        }
        let (group_names, group_of) = grouped(machines, &number, &names, groups)?;
        let at = match layout {
            Layout::Spring => {
                let mut sums: BTreeMap<(usize, usize), f64> = BTreeMap::new();
                for machine in machines {
                    for (&(a, b), weight) in machine.graph().edges().iter().zip(machine.weights()) {
                        let (a, b) = (number[machine.name(a)], number[machine.name(b)]);
                        *sums.entry((a.min(b), a.max(b))).or_default() += weight.abs();
                    }
                }
                let edges: Vec<_> = sums.into_iter().map(|((a, b), sum)| (a, b, sum)).collect();
                layout::places(names.len(), &edges, seed)
            }
            Layout::Circle => {
                let radius = (names.len() as f64 / TAU).max(0.5);
                (0..names.len()).map(|k| on_circle([0.0, 0.0], radius, k, names.len())).collect()
            }
            Layout::Groups if group_names.is_empty() => {
                return Err(Error::invalid("layout", "groups needs the group of each unit"));
            }
            Layout::Groups => in_groups(&group_of, group_names.len()),
        };
        let named = |values: Vec<[f64; 2]>| {
            names.iter().map(|name| (*name).to_owned()).zip(values).collect::<BTreeMap<_, _>>()
        };
        let group_of = if group_names.is_empty() {
            BTreeMap::new()
        } else {
            names.iter().map(|name| (*name).to_owned()).zip(group_of).collect()
        };
        Ok(Self { at: named(at), group_of, groups: group_names })
    }

    /// The positions of a machine's units.
    ///
    /// # Errors
    /// A unit without a position.
    pub(super) fn for_machine(&self, machine: &Machine) -> Result<Vec<[f64; 2]>> {
        let place = |name: &String| {
            self.at.get(name).copied().ok_or_else(|| {
                Error::invalid(
                    "layout",
                    format!("there is no place for unit '{name}', which the networks that were placed lack"),
                )
            })
        };
        machine.names().iter().map(place).collect()
    }

    /// The number of a unit's group.
    pub(super) fn group(&self, name: &str) -> Option<usize> {
        self.group_of.get(name).copied()
    }
}

/// The names of groups, and the group of each unit.
fn grouped(
    machines: &[&Machine],
    number: &BTreeMap<&str, usize>,
    names: &[&str],
    given: &[(String, String)],
) -> Result<(Vec<String>, Vec<usize>)> {
    let mut of = vec![usize::MAX; names.len()];
    let mut groups: Vec<String> = Vec::new();
    if given.is_empty() {
        for machine in machines {
            for unit in 0..machine.unit_count() {
                let role = [Role::Visible, Role::Hidden, Role::Input];
                let place = role.iter().position(|role| *role == machine.roles()[unit]);
                of[number[machine.name(unit)]] = place.unwrap_or(0);
            }
        }
        let mut used: Vec<usize> = of.clone();
        used.sort_unstable();
        used.dedup();
        if used.len() < 2 {
            return Ok((groups, of));
        }
        let words = [Role::Visible, Role::Hidden, Role::Input].map(|role| role.word().to_owned());
        for place in &mut of {
            *place = used.iter().position(|k| k == place).unwrap_or(0);
        }
        return Ok((used.into_iter().map(|k| words[k].clone()).collect(), of));
    }
    for (unit, group) in given {
        let Some(&unit) = number.get(unit.as_str()) else {
            return Err(Error::invalid("groups", format!("there is no unit named '{unit}'")));
        };
        let known = groups.iter().position(|name| name == group);
        of[unit] = known.unwrap_or_else(|| {
            groups.push(group.clone());
            groups.len() - 1
        });
    }
    match of.iter().position(|&group| group == usize::MAX) {
        Some(unit) => Err(Error::invalid("groups", format!("unit '{}' has no group", names[unit]))),
        None => Ok((groups, of)),
    }
}

/// A position on a circle, the first at the top, the others clockwise.
fn on_circle([x, y]: [f64; 2], radius: f64, k: usize, of: usize) -> [f64; 2] {
    if of == 1 {
        return [x, y];
    }
    let angle = TAU * k as f64 / of as f64 - 0.5 * PI;
    [x + radius * angle.cos(), y + radius * angle.sin()]
}

/// Each group on a circle of its own, the centres on a larger one.
fn in_groups(group_of: &[usize], groups: usize) -> Vec<[f64; 2]> {
    let mut sizes = vec![0; groups];
    for &group in group_of {
        sizes[group] += 1;
    }
    let radius = |group: usize| if sizes[group] > 1 { (sizes[group] as f64 / TAU).max(0.5) } else { 0.0 };
    let widest = (0..groups).map(radius).fold(0.0, f64::max);
    // Neighbouring circles are at least one unit apart.
    let apart = 2.0 * widest + 1.5;
    let large = if groups > 1 { 0.5 * apart / (PI / groups as f64).sin() } else { 0.0 };
    let mut met = vec![0; groups];
    let place = |&group: &usize| {
        let middle = on_circle([0.0, 0.0], large, group, groups);
        let at = on_circle(middle, radius(group), met[group], sizes[group]);
        met[group] += 1;
        at
    };
    group_of.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use isinglass::topology;

    use super::*;

    fn apart(a: [f64; 2], b: [f64; 2]) -> f64 {
        (a[0] - b[0]).hypot(a[1] - b[1])
    }

    #[test]
    fn networks_with_the_same_names_share_places_in_any_order() {
        let one = topology::chain(4).with_names(["a", "b", "c", "d"]).unwrap();
        let two = topology::chain(4).with_names(["d", "b", "a", "c"]).unwrap();
        for layout in [Layout::Spring, Layout::Circle] {
            let places = Places::of(&[&one, &two], layout, &[], 1).unwrap();
            let (first, second) = (places.for_machine(&one).unwrap(), places.for_machine(&two).unwrap());
            assert_eq!(
                [first[0], first[1], first[2], first[3]],
                [second[2], second[1], second[3], second[0]]
            );
        }
        let other = topology::chain(2).with_names(["a", "z"]).unwrap();
        let places = Places::of(&[&one], Layout::Circle, &[], 0).unwrap();
        assert!(places.for_machine(&other).unwrap_err().to_string().contains("unit 'z'"));
    }

    #[test]
    fn groups_are_nearer_to_themselves_than_to_others() {
        let machine = topology::full(9);
        let groups: Vec<(String, String)> =
            (0..9).map(|k| (format!("x{k}"), format!("g{}", k % 3))).collect();
        let at = Places::of(&[&machine], Layout::Groups, &groups, 0).unwrap().for_machine(&machine).unwrap();
        for a in 0..9 {
            let nearest = (0..9)
                .filter(|&b| b != a)
                .min_by(|&b, &c| apart(at[a], at[b]).total_cmp(&apart(at[a], at[c])));
            assert_eq!(nearest.unwrap() % 3, a % 3);
        }
        let missing = Places::of(&[&machine], Layout::Groups, &groups[1..], 0).unwrap_err();
        assert!(missing.to_string().contains("unit 'x0' has no group"), "{missing}");
        let none = Places::of(&[&machine], Layout::Groups, &[], 0).unwrap_err();
        assert!(none.to_string().contains("needs the group of each unit"));
    }
}
