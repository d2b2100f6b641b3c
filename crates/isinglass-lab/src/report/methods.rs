//! The methods of a study in words that a paper can take over, with citations.

use isinglass::network::{Kept, Study, UnitMeasure};
use isinglass::{Machine, Table};
use serde::Serialize;

use super::FitSummary;

/// What was done, in sentences, and what they cite.
#[derive(Debug, Serialize)]
pub(super) struct Methods {
    paragraphs: Vec<String>,
    bibtex: String,
}

/// A work that is cited.
struct Work {
    key: &'static str,
    entry: &'static str,
}

macro_rules! works {
    ($($name:ident: $key:literal, $entry:literal;)*) => {
        $(const $name: Work = Work { key: $key, entry: $entry };)*
    };
}

works! {
    ISING: "ackley1985", "@article{ackley1985,\n  author = {Ackley, David H. and Hinton, Geoffrey E. and Sejnowski, Terrence J.},\n  title = {A Learning Algorithm for {B}oltzmann Machines},\n  journal = {Cognitive Science},\n  volume = {9},\n  pages = {147--169},\n  year = {1985}\n}";
    BESAG: "besag1975", "@article{besag1975,\n  author = {Besag, Julian},\n  title = {Statistical Analysis of Non-Lattice Data},\n  journal = {The Statistician},\n  volume = {24},\n  pages = {179--195},\n  year = {1975}\n}";
    EBIC: "vanborkulo2014", "@article{vanborkulo2014,\n  author = {van Borkulo, Claudia D. and Borsboom, Denny and Epskamp, Sacha and Blanken, Tessa F. and Boschloo, Lynn and Schoevers, Robert A. and Waldorp, Lourens J.},\n  title = {A New Method for Constructing Networks from Binary Data},\n  journal = {Scientific Reports},\n  volume = {4},\n  pages = {5918},\n  year = {2014}\n}";
    FOYGEL: "foygel2010", "@inproceedings{foygel2010,\n  author = {Foygel, Rina and Drton, Mathias},\n  title = {Extended {B}ayesian Information Criteria for {G}aussian Graphical Models},\n  booktitle = {Advances in Neural Information Processing Systems 23},\n  year = {2010}\n}";
    RELAXED: "meinshausen2007", "@article{meinshausen2007,\n  author = {Meinshausen, Nicolai},\n  title = {Relaxed Lasso},\n  journal = {Computational Statistics \\& Data Analysis},\n  volume = {52},\n  pages = {374--393},\n  year = {2007}\n}";
    OPSAHL: "opsahl2010", "@article{opsahl2010,\n  author = {Opsahl, Tore and Agneessens, Filip and Skvoretz, John},\n  title = {Node Centrality in Weighted Networks: Generalizing Degree and Shortest Paths},\n  journal = {Social Networks},\n  volume = {32},\n  pages = {245--251},\n  year = {2010}\n}";
    ROBINAUGH: "robinaugh2016", "@article{robinaugh2016,\n  author = {Robinaugh, Donald J. and Millner, Alexander J. and McNally, Richard J.},\n  title = {Identifying Highly Influential Nodes in the Complicated Grief Network},\n  journal = {Journal of Abnormal Psychology},\n  volume = {125},\n  pages = {747--757},\n  year = {2016}\n}";
    HASLBECK: "haslbeck2018", "@article{haslbeck2018,\n  author = {Haslbeck, Jonas M. B. and Waldorp, Lourens J.},\n  title = {How Well Do Network Models Predict Observations? {O}n the Importance of Predictability in Network Models},\n  journal = {Behavior Research Methods},\n  volume = {50},\n  pages = {853--861},\n  year = {2018}\n}";
    EFRON: "efron1979", "@article{efron1979,\n  author = {Efron, Bradley},\n  title = {Bootstrap Methods: Another Look at the Jackknife},\n  journal = {The Annals of Statistics},\n  volume = {7},\n  pages = {1--26},\n  year = {1979}\n}";
    EPSKAMP: "epskamp2018", "@article{epskamp2018,\n  author = {Epskamp, Sacha and Borsboom, Denny and Fried, Eiko I.},\n  title = {Estimating Psychological Networks and Their Accuracy: A Tutorial Paper},\n  journal = {Behavior Research Methods},\n  volume = {50},\n  pages = {195--212},\n  year = {2018}\n}";
}

/// Sentences with their citations.
#[derive(Default)]
struct Text {
    paragraphs: Vec<String>,
    cited: Vec<&'static Work>,
}

impl Text {
    /// Adds sentences to the last paragraph.
    fn say(&mut self, sentence: &str, works: &[&'static Work]) {
        for &work in works {
            if self.cited.iter().all(|cited| cited.key != work.key) {
                self.cited.push(work);
            }
        }
        let keys: Vec<&str> = works.iter().map(|work| work.key).collect();
        let cited = if keys.is_empty() { String::new() } else { format!(" [{}]", keys.join("; ")) };
        let sentence = format!("{sentence}{cited}.");
        match self.paragraphs.last_mut() {
            Some(last) if !last.is_empty() => {
                last.push(' ');
                last.push_str(&sentence);
            }
            Some(last) => *last = sentence,
            None => self.paragraphs.push(sentence),
        }
    }

    fn paragraph(&mut self) {
        self.paragraphs.push(String::new());
    }
}

impl Methods {
    pub(super) fn of(
        machine: &Machine,
        table: Option<&Table>,
        fit: Option<&FitSummary>,
        study: &Study,
    ) -> Self {
        let mut text = Text::default();
        let edges = machine.weights().iter().filter(|weight| **weight != 0.0).count();
        let of = format!("{} binary variables with {edges} couplings that are not 0", machine.unit_count());
        let from = table.map_or_else(String::new, |table| {
            let missing = match table.missing_count() {
                0 => String::new(),
                count => format!(", {count} cells of which are missing"),
            };
            format!(", with {} rows{missing}", table.row_count())
        });
        text.say(
            &format!(
                "The network is a pairwise Markov random field (Ising model) of {of}{from}. A coupling is the association of two variables, coded −1 and +1, given all others; it has no direction"
            ),
            &[&ISING],
        );
        if let Some(fit) = fit {
            of_fit(&mut text, fit);
        }
        text.paragraph();
        text.say(
            "Strength is the sum of the sizes of a variable's couplings, expected influence their sum with signs; closeness and betweenness rest on shortest paths, where a coupling w has the length 1/|w| and all shortest paths count",
            &[&OPSAHL, &ROBINAUGH],
        );
        if study.has(UnitMeasure::Accuracy) {
            text.say(
                "Predictability is the share of cells that have the more probable value given all other cells of the row, and normalised accuracy this share in excess of that of the column's more frequent value; both are for the rows of the fit",
                &[&HASLBECK],
            );
        }
        if let Some(found) = &study.bootstrap {
            text.paragraph();
            let level = 100.0 * found.level();
            text.say(
                &format!(
                    "Intervals are {level}% percentile intervals over {} tables of rows drawn with replacement, to which the whole estimation was applied again; {} fits did not converge and {} failed",
                    found.resamples, found.unconverged, found.failed
                ),
                &[&EFRON],
            );
            text.say(
                "Two couplings or two centralities differ where the interval of their difference excludes 0; this is not corrected for the number of comparisons",
                &[&EPSKAMP],
            );
        }
        if let Some(found) = &study.stability {
            text.paragraph();
            let of = |(kept, cs): (&Kept, &f64)| format!("{} {cs:.2}", kept.word().replace('_', " "));
            let all: Vec<String> = Kept::ALL.iter().zip(&found.coefficients).map(of).collect();
            text.say(
                &format!(
                    "Stability was assessed with {} subsets of the rows with 5% to 75% left out. The CS coefficients, the largest share that can be left out so that the correlation with the values of all rows is at least 0.7 with probability 0.95, are: {}",
                    found.subsets,
                    all.join(", ")
                ),
                &[&EPSKAMP],
            );
        }
        text.paragraph();
        text.say(&format!("All was computed with isinglass {}", env!("CARGO_PKG_VERSION")), &[]);
        let entries: Vec<&str> = text.cited.iter().map(|work| work.entry).collect();
        Self { paragraphs: text.paragraphs, bibtex: entries.join("\n\n") }
    }
}

/// How the couplings were estimated.
fn of_fit(text: &mut Text, fit: &FitSummary) {
    let setting = |name: &str| fit.settings.iter().find(|(known, _)| *known == name).map(|(_, v)| v.as_str());
    let is_ebic = setting("l1") == Some("ebic");
    match fit.learner {
        "likelihood" => {
            let how = match (fit.engine, fit.guarantee) {
                (Some("temper"), _) => "with moments sampled by tempered Markov chains".to_owned(),
                (Some(engine), "exact") => format!("with exact moments (engine {engine})"),
                (Some(engine), _) => format!("with moments approximated by {engine}"),
                (None, _) => "with exact moments".to_owned(),
            };
            text.say(&format!("Couplings and biases were estimated by maximum likelihood, {how}"), &[]);
        }
        "pseudo-likelihood" if is_ebic => {
            let gamma = setting("gamma").unwrap_or("0.25");
            let rule = match setting("rule") {
                Some("or") => "either",
                _ => "both",
            };
            text.say(
                &format!(
                    "Each variable was regressed on all others by logistic regression with a lasso penalty that the extended BIC chose (γ = {gamma}); a coupling was kept if {rule} of its two regressions selected it"
                ),
                &[&EBIC, &FOYGEL],
            );
            if setting("refit") != Some("false") {
                text.say("The couplings that were kept were fitted again without that penalty", &[&RELAXED]);
            }
        }
        "pseudo-likelihood" => {
            text.say("Couplings and biases were estimated by maximum pseudo-likelihood", &[&BESAG]);
        }
        other => text.say(&format!("Couplings and biases were estimated by the learner {other}"), &[]),
    }
    for (name, on) in [("l2", "half the squares"), ("l1", "the absolute values")] {
        let value = setting(name).filter(|value| value.parse::<f64>().is_ok_and(|x| x > 0.0));
        if let Some(value) = value {
            text.say(&format!("Couplings had a penalty of {value} times {on} (per row)"), &[]);
        }
    }
    let ended = if fit.converged { "The fit converged" } else { "The fit did not converge" };
    // Paths of penalties have no iterations of their own.
    let after =
        if fit.iterations == 0 { String::new() } else { format!(" after {} iterations", fit.iterations) };
    text.say(&format!("{ended}{after}"), &[]);
    if let Some(check) = &fit.check {
        text.say(
            &format!(
                "Means and pair moments of draws from the fitted model deviate from those of the table by {:.1} standard errors on average (root mean square) and {:.1} at most",
                check.rms, check.largest
            ),
            &[],
        );
    }
}
