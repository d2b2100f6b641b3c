//! The settings that say how couplings were estimated, in words.

use isinglass::learn::{L1, L2};
use isinglass::settings::Value;

use super::{FitSettings, Fitted};

impl FitSettings {
    /// The settings of a fit's learner that say how couplings were estimated, with the penalty that
    /// was chosen; only those that differ from doing nothing.
    pub fn described(&self, fitted: &Fitted) -> Vec<(&'static str, String)> {
        let group = fitted.penalty.as_ref().map_or(self.group, |penalty| penalty.applied(self.group));
        let mut found: Vec<(&'static str, Option<String>)> = match fitted.learner {
            "pseudo-likelihood" => {
                let settings = group.pseudo_likelihood;
                let mut found = vec![("l1", of_l1(settings.l1)), ("l2", of_l2(settings.l2))];
                if settings.l1 == Some(L1::Ebic) {
                    let usual = isinglass::learn::EbicSettings::default();
                    found.push(("gamma", settings.gamma.unwrap_or(usual.gamma).shown()));
                    found.push(("rule", settings.rule.unwrap_or(usual.rule).shown()));
                    found.push(("refit", settings.refit.unwrap_or(true).shown()));
                }
                found
            }
            "likelihood" => vec![("l1", of_l1(group.likelihood.l1)), ("l2", of_l2(group.likelihood.l2))],
            _ => Vec::new(),
        };
        found.retain(|(_, value)| value.is_some());
        found.into_iter().map(|(name, value)| (name, value.unwrap_or_default())).collect()
    }
}

fn of_l1(l1: Option<L1>) -> Option<String> {
    l1.filter(|l1| *l1 != L1::Weight(0.0)).shown()
}

fn of_l2(l2: L2) -> Option<String> {
    if l2.weight() == 0.0 { None } else { l2.shown() }
}
