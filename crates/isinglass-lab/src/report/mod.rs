//! The HTML page of `isinglass report`: a machine, and its fit to a table.
//!
//! [`Report::new`] computes with engines chosen by the caller; [`Report::to_html`] returns one page
//! that needs no network. Style and script of the page are files under `page/`; the numbers are
//! embedded as JSON.

mod drawing;
mod history;
mod html;
mod methods;
mod moments;
mod observed;
pub(crate) mod order;
mod pictures;
mod rounding;
mod structure;
mod study;
mod surprise;

pub use history::parse_history;
pub use pictures::Shape;
pub use structure::Structure;

use std::collections::BTreeMap;

use isinglass::engine::auto;
use isinglass::learn::{Check, Fit, Step};
use isinglass::likelihood::Phases;
use isinglass::network::Study;
use isinglass::score::{Score, score};
use isinglass::{Budget, Error, Evidence, Machine, Pairs, Result, Role, Table};
use serde::Serialize;
use serde_json::{Value, json};

use self::drawing::Drawing;
use self::methods::Methods;
use self::moments::Comparison;
use self::pictures::{Pictures, Pixels};
use self::rounding::Short;
use self::study::StudyCard;
use self::surprise::Surprise;

/// Settings of the page.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The shape of the visible units as a picture; `None` takes it from their names, if these
    /// contain row and column.
    pub shape: Option<Shape>,
    /// The pair moments to compare with the table's; `None` takes all pairs of up to 500 units, and
    /// otherwise the coupled ones.
    pub pairs: Option<Pairs>,
    /// The number of rows to show, the most surprising first.
    pub rows: usize,
    /// The number of states to draw, if units are pixels.
    pub draws: usize,
    /// The seed of draws and layout.
    pub seed: u64,
    /// The memory budget for listing engines.
    pub budget: Budget,
}

impl Default for Settings {
    fn default() -> Self {
        Self { shape: None, pairs: None, rows: 12, draws: 24, seed: 0, budget: Budget::default() }
    }
}

/// The origin of a machine, for the head of the page.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The title of the page.
    pub title: String,
    /// The name of the model file.
    pub model: String,
    /// The name of the table.
    pub table: Option<String>,
    /// How the machine was fitted, if known.
    pub fit: Option<FitSummary>,
    /// Iterations of the fit, if known.
    pub history: Vec<Step>,
    /// Centralities, intervals and stability, if known.
    pub study: Option<Study>,
}

/// How a machine was fitted.
#[derive(Debug, Clone, Serialize)]
pub struct FitSummary {
    learner: &'static str,
    engine: Option<&'static str>,
    clamped_engine: Option<&'static str>,
    guarantee: &'static str,
    iterations: usize,
    kept: usize,
    converged: bool,
    stopped: String,
    notes: Vec<String>,
    check: Option<CheckSummary>,
    /// The settings that the methods name.
    settings: Vec<(&'static str, String)>,
}

/// How draws from a machine compare with its table.
#[derive(Debug, Clone, Serialize)]
struct CheckSummary {
    verdict: &'static str,
    rms: f64,
    largest: f64,
    log_likelihood: Option<f64>,
    independent: f64,
}

impl FitSummary {
    /// With a check by fresh draws, and the log-likelihood of independent units.
    #[must_use]
    pub fn with_check(self, check: Option<&Check>, independent: f64) -> Self {
        let check = check.map(|check| CheckSummary {
            verdict: check.verdict.word(),
            rms: check.rms,
            largest: check.largest,
            log_likelihood: check.log_likelihood.as_ref().map(|found| found.value),
            independent,
        });
        Self { check, ..self }
    }

    /// With the settings of the learner that say how couplings were estimated, such as `l1`.
    #[must_use]
    pub fn with_settings(self, settings: Vec<(&'static str, String)>) -> Self {
        Self { settings, ..self }
    }

    /// Summarises a fit by a learner, with engines for the free and the clamped phase.
    pub fn of(
        fit: &Fit,
        learner: &'static str,
        engine: Option<&'static str>,
        clamped_engine: Option<&'static str>,
    ) -> Self {
        Self {
            learner,
            engine,
            clamped_engine,
            guarantee: fit.guarantee.word(),
            iterations: fit.iterations(),
            kept: fit.best().map_or(0, |step| step.iteration),
            converged: fit.converged,
            stopped: fit.stopped.to_string(),
            notes: fit.notes.iter().map(ToString::to_string).collect(),
            check: None,
            settings: Vec::new(),
        }
    }
}

/// The content of the page.
#[derive(Debug, Serialize)]
pub struct Report {
    version: &'static str,
    title: String,
    model: String,
    /// Names of the units on the page, by position in the machine.
    names: BTreeMap<usize, String>,
    structure: StructureCard,
    table: Option<TableCard>,
    fit: Option<FitSummary>,
    history: Option<Curve>,
    score: Option<ScoreCard>,
    drawing: Drawing,
    study: Option<StudyCard>,
    methods: Option<Methods>,
    moments: Option<Comparison>,
    surprise: Option<Surprise>,
    pictures: Option<Pictures>,
    /// Why parts of the page are unavailable.
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct StructureCard {
    units: usize,
    visible: usize,
    hidden: usize,
    input: usize,
    couplings: usize,
    components: usize,
    temperature: f64,
    treewidth: String,
    decimatable: &'static str,
    /// The size of the strongest coupling.
    strongest: Option<Short>,
}

#[derive(Debug, Serialize)]
struct TableCard {
    name: Option<String>,
    rows: usize,
    distinct: usize,
    columns: usize,
    missing: usize,
    weight: Short,
}

#[derive(Debug, Serialize)]
struct Curve {
    iterations: Vec<usize>,
    objective: Vec<Short>,
    gradient: Vec<Short>,
}

#[derive(Debug, Serialize)]
struct ScoreCard {
    engine: &'static str,
    clamped_engine: Option<&'static str>,
    guarantee: &'static str,
    converged: bool,
    log_likelihood: Option<Short>,
    log_likelihood_error: Option<Short>,
    independent_log_likelihood: Short,
    tree_log_likelihood: Option<Short>,
    kullback: Option<Short>,
    kullback_guarantee: &'static str,
    pseudo_log_likelihood: Option<Short>,
    completion: Option<Short>,
    notes: Vec<String>,
}

impl Report {
    /// Computes the page of a machine, and of its fit to a table.
    ///
    /// Parts that an engine cannot compute, or not within its budget, are left out with a note; any
    /// other failure is an error.
    ///
    /// # Errors
    /// A table or a shape that does not match the machine; failures of the engines.
    ///
    /// # Example
    /// ```
    /// use isinglass::likelihood::Phases;
    /// use isinglass::{Enumerate, Machine, Table, topology};
    /// use isinglass_lab::report::{Origin, Report, Settings};
    /// let machine = topology::chain(3).with_parameters(vec![1.0, -0.5], vec![0.1; 3])?;
    /// let table = Table::from_rows(["x0", "x1", "x2"], [[1, 1, -1], [1, 0, 1]])?;
    /// let engine = Enumerate::default();
    /// let phases = Phases::both(&engine);
    /// let origin = Origin { title: "a chain".into(), ..Origin::default() };
    /// let page = Report::new(&machine, Some(&table), phases, origin, &Settings::default())?.to_html();
    /// assert!(page.starts_with("<!doctype html>") && page.contains("<title>a chain</title>"));
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn new(
        machine: &Machine,
        table: Option<&Table>,
        phases: Phases<'_>,
        origin: Origin,
        settings: &Settings,
    ) -> Result<Self> {
        let pixels = match settings.shape {
            Some(shape) => Some(Pixels::all(machine, shape)?),
            None => Pixels::by_name(machine),
        };
        // With thousands of units the elimination order takes seconds, and so does the layout.
        let nothing = Evidence::none(machine.unit_count());
        let (structure, drawing) = rayon::join(
            || auto::offers(machine, &nothing, settings.budget).map(|offers| Structure::of(machine, &offers)),
            || Drawing::of(machine, settings.seed),
        );
        let structure = structure?;
        let mut notes = Vec::new();
        let (mut found, mut moments, mut surprise) = (None, None, None);
        if let Some(table) = table {
            found = Some(ScoreCard::of(&score(machine, table, phases)?, phases));
            let pairs = settings.pairs.unwrap_or_else(|| default_pairs(machine, &mut notes));
            let compared = Comparison::of(machine, table, phases.free, pairs);
            moments = or_note(compared, "modelled means and pair moments", &mut notes)?;
            let rows = Surprise::of(machine, table, phases, settings.rows);
            surprise = or_note(rows, "surprising rows", &mut notes)?;
        }
        let pictures =
            pixels.map(|pixels| Pictures::of(machine, &pixels, phases.free, settings.draws, settings.seed));
        let pictures = pictures.transpose()?;
        let study = origin.study.as_ref().map(|study| StudyCard::of(machine, study));
        let methods =
            origin.study.as_ref().map(|study| Methods::of(machine, table, origin.fit.as_ref(), study));
        let mut named = drawing.units.clone();
        named.extend(study.iter().flat_map(|study| &study.units));
        named.extend(
            moments.iter().flat_map(|moments| moments.means.units.iter().chain(&moments.pairs.units)),
        );
        let rows = surprise.iter().flat_map(|surprise| &surprise.rows);
        named.extend(rows.flat_map(|row| row.least.iter().map(|cell| cell.0)));
        named.extend(surprise.iter().flat_map(|surprise| &surprise.units));
        named.extend(pictures.iter().flat_map(|pictures| &pictures.units));
        let count = |role| machine.with_role(role).count();
        let sizes = machine.weights().iter().map(|weight| weight.abs());
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            title: origin.title,
            model: origin.model,
            names: named.iter().map(|&unit| (unit, machine.name(unit).to_owned())).collect(),
            structure: StructureCard {
                units: machine.unit_count(),
                visible: count(Role::Visible),
                hidden: count(Role::Hidden),
                input: count(Role::Input),
                couplings: machine.graph().edges().len(),
                components: structure.components,
                temperature: machine.temperature(),
                treewidth: structure.width_in_words(),
                decimatable: structure.decimatable_in_words(),
                strongest: sizes.max_by(f64::total_cmp).map(Short),
            },
            table: table.map(|table| TableCard {
                name: origin.table,
                rows: table.row_count(),
                distinct: table.distinct_count(),
                columns: table.columns().len(),
                missing: table.missing_count(),
                weight: Short(table.total_weight()),
            }),
            fit: origin.fit,
            history: (!origin.history.is_empty()).then(|| Curve::of(&origin.history)),
            score: found,
            drawing,
            study,
            methods,
            moments,
            surprise,
            pictures,
            notes,
        })
    }

    /// Returns the page.
    pub fn to_html(&self) -> String {
        html::page(&self.title, self)
    }

    /// Returns the main numbers as JSON.
    pub fn summary(&self) -> Value {
        let score = self.score.as_ref();
        json!({
            "units": self.structure.units,
            "edges": self.structure.couplings,
            "shown_units": self.drawing.units.len(),
            "rows": self.table.as_ref().map(|table| table.rows),
            "log_likelihood": score.and_then(|score| score.log_likelihood).map(|x| x.0),
            "pseudo_log_likelihood": score.and_then(|score| score.pseudo_log_likelihood).map(|x| x.0),
            "completion": score.and_then(|score| score.completion).map(|x| x.0),
            "guarantee": score.map(|score| score.guarantee),
            "engine": score.map(|score| score.engine),
            "clamped_engine": score.and_then(|score| score.clamped_engine),
            "moments": self.moments.as_ref().map(|moments| json!({
                "engine": moments.engine,
                "guarantee": moments.guarantee,
                "converged": moments.converged,
                "pairs": if moments.all_pairs { "all" } else { "edges" },
                "means_rms": moments.means.rms.map(|x| x.0),
                "means_noise": moments.means.noise.map(|x| x.0),
                "pairs_rms": moments.pairs.rms.map(|x| x.0),
                "pairs_noise": moments.pairs.noise.map(|x| x.0),
            })),
            "surprising_by": self.surprise.as_ref().map(|surprise| surprise.by),
            "surprising_guarantee": self.surprise.as_ref().map(|surprise| surprise.guarantee),
            "surprising_rows": self.surprise.as_ref().map(|surprise| {
                surprise.rows.iter().map(|row| json!({"row": row.number, "value": row.value.0})).collect::<Vec<_>>()
            }),
            "shape": self.pictures.as_ref().map(|pictures| pictures.shape.to_string()),
            "converged": self.converged(),
            "notes": self.notes().collect::<Vec<_>>(),
        })
    }

    /// Returns the reasons why scores or parts of the page are unavailable.
    pub fn notes(&self) -> impl Iterator<Item = &String> {
        self.score.iter().flat_map(|score| &score.notes).chain(&self.notes)
    }

    /// Returns whether all engines converged.
    pub fn converged(&self) -> bool {
        self.score.as_ref().is_none_or(|score| score.converged)
            && self.moments.as_ref().is_none_or(|moments| moments.converged)
            && self.surprise.as_ref().is_none_or(|surprise| surprise.converged)
    }
}

impl Curve {
    fn of(history: &[Step]) -> Self {
        Self {
            iterations: history.iter().map(|step| step.iteration).collect(),
            objective: rounding::short(history.iter().map(|step| step.objective)),
            gradient: rounding::short(history.iter().map(|step| step.gradient_norm)),
        }
    }
}

impl ScoreCard {
    fn of(found: &Score, phases: Phases<'_>) -> Self {
        let clamped = phases.clamped.name();
        Self {
            engine: phases.free.name(),
            clamped_engine: (clamped != phases.free.name()).then_some(clamped),
            guarantee: found.guarantee.word(),
            converged: found.diagnostics.converged,
            log_likelihood: found.log_likelihood.map(Short),
            log_likelihood_error: found.log_likelihood_error.map(Short),
            independent_log_likelihood: Short(found.independent_log_likelihood),
            tree_log_likelihood: found.tree_log_likelihood.map(Short),
            kullback: found.kullback.map(Short),
            kullback_guarantee: found.kullback_guarantee.word(),
            pseudo_log_likelihood: found.pseudo_log_likelihood.map(Short),
            completion: found.completion.map(Short),
            notes: found.notes.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The largest number of units of which all pairs are compared by default: a sampler then takes
/// some seconds.
const PAIRED_UNITS: usize = 500;

/// Chooses the pair moments to compare, with a note if these are not all.
fn default_pairs(machine: &Machine, notes: &mut Vec<String>) -> Pairs {
    if machine.unit_count() <= PAIRED_UNITS {
        return Pairs::All;
    }
    notes.push(format!("more than {PAIRED_UNITS} units: moments are compared for coupled pairs only"));
    Pairs::Edges
}

/// Returns a part of the page, or adds a note with the reason why it is unavailable.
fn or_note<T>(result: Result<T>, part: &str, notes: &mut Vec<String>) -> Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error @ (Error::CannotDo { .. } | Error::OverBudget { .. })) => {
            notes.push(format!("{part} unavailable: {error}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
