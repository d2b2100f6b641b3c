//! Requests for an engine, and engines from them.

use std::collections::BTreeSet;

use isinglass::message::Setting;
use isinglass::search::MaxProduct;
use isinglass::settings::Common;
use isinglass::{
    Ais, Bethe, Budget, Decimate, Eliminate, Engine, Enumerate, Gibbs, LinearResponse, LogDet, MeanField,
    Mixture, Structured, Tap, Temper, Trw,
};
use serde::Deserializer;

use crate::groups::EngineGroup;
use crate::{EngineName, Result, Usage};

/// Which engine, with what settings. The core's defaults hold where nothing was given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EngineSettings {
    /// The engine.
    pub engine: EngineName,
    pub(crate) group: EngineGroup,
    pub(crate) common: Common,
    /// The settings that were given.
    pub(crate) given: BTreeSet<&'static str>,
}

impl EngineName {
    /// The engines of which `auto` takes one where no exact engine is within the budget.
    const SAMPLING: [Self; 2] = [Self::Temper, Self::Gibbs];

    /// Whether it accepts a setting.
    #[must_use]
    pub fn accepts(self, setting: &str) -> bool {
        EngineGroup::owners(setting).contains(&self)
            // `auto` may fall back to sampling.
            || (self == Self::Auto && EngineGroup::owners(setting).iter().any(|owner| Self::SAMPLING.contains(owner)))
    }
}

impl EngineSettings {
    /// An engine with default settings.
    pub fn for_engine(engine: EngineName) -> Self {
        Self { engine, ..Self::default() }
    }

    /// With the seed and the budget of everything.
    #[must_use]
    pub fn with_common(mut self, common: Common) -> Self {
        self.common = common;
        self.group.set_common(common);
        self
    }

    /// The memory that may be used.
    pub fn budget(&self) -> Budget {
        self.common.budget
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.common.seed
    }

    /// Whether no setting of an engine was given.
    pub fn is_default(&self) -> bool {
        self.given.is_empty()
    }

    /// The settings of all engines.
    pub fn group(&self) -> &EngineGroup {
        &self.group
    }

    /// Sets a setting by its name.
    ///
    /// # Errors
    /// An unknown name; a value of the wrong type.
    pub fn set<'de, D: Deserializer<'de>>(
        &mut self,
        setting: &str,
        value: impl Fn() -> D,
    ) -> Result<(), Usage> {
        let name = EngineGroup::known(setting).ok_or_else(|| Usage::Unknown { name: setting.to_owned() })?;
        self.group
            .set(setting, value)
            .map_err(|expected| Usage::Type { setting: setting.to_owned(), expected })?;
        self.given.insert(name);
        Ok(())
    }

    /// Refuses settings that the engine does not accept, and values out of range.
    pub fn check(&self) -> Result<(), Usage> {
        self.check_for(&[self.engine], &|_| false)
    }

    /// Refuses settings that none of the engines accepts, unless something else does.
    pub(crate) fn check_for(
        &self,
        engines: &[EngineName],
        elsewhere: &dyn Fn(&str) -> bool,
    ) -> Result<(), Usage> {
        for setting in &self.given {
            if engines.iter().any(|engine| engine.accepts(setting)) || elsewhere(setting) {
                continue;
            }
            let owners = EngineGroup::owners(setting).into_iter().map(EngineName::word).collect();
            return Err(Usage::Belongs {
                setting: Setting(setting),
                to: Setting("engine"),
                owners,
                chosen: None,
            });
        }
        for &engine in engines {
            let engine = if engine == EngineName::Auto { self.sampling() } else { engine };
            self.group.validate(engine).map_err(Usage::Value)?;
        }
        Ok(())
    }

    /// Refuses settings that a bracket does not accept.
    pub fn check_bracket(&self) -> Result<(), Usage> {
        use EngineName::{Auto, LogDet, MeanField, Mixture, Structured, Trw};
        let engines: &[EngineName] = match self.engine {
            Auto => &[Mixture, Structured, Trw, LogDet],
            Trw => &[Mixture, Structured, Trw],
            LogDet => &[Mixture, Structured, LogDet],
            MeanField => &[MeanField, Trw, LogDet],
            Mixture => &[Mixture, Trw, LogDet],
            Structured => &[Structured, Trw, LogDet],
            _ => return self.check(),
        };
        self.check_for(engines, &|_| false)
    }

    /// Whether a bracket shows the moments of its upper bound.
    #[must_use]
    pub fn shows_upper(&self) -> bool {
        matches!(self.engine, EngineName::Trw | EngineName::LogDet)
    }

    /// The engine of a name; none for `auto` and for what finds states only.
    pub(crate) fn named(&self, name: EngineName) -> Option<Box<dyn Engine>> {
        let group = &self.group;
        Some(match name {
            EngineName::Auto | EngineName::MaxProduct => return None,
            EngineName::Enumerate => Box::new(Enumerate::from(group.exact)),
            EngineName::Decimate => Box::new(Decimate::from(group.exact)),
            EngineName::Eliminate => Box::new(Eliminate::from(group.exact)),
            EngineName::MeanField => Box::new(MeanField::from(group.variational)),
            EngineName::Mixture => Box::new(Mixture::from(group.mixture)),
            EngineName::Structured => Box::new(Structured::from(group.structured)),
            EngineName::Trw => Box::new(Trw::from(group.trw)),
            EngineName::LogDet => Box::new(LogDet::from(group.logdet)),
            EngineName::Tap => Box::new(Tap::from(group.variational)),
            EngineName::LinearResponse => Box::new(LinearResponse::from(group.linear_response)),
            EngineName::Bethe => Box::new(Bethe::from(group.variational)),
            EngineName::Temper => Box::new(Temper::from(group.temper)),
            EngineName::Gibbs => Box::new(Gibbs::from(group.gibbs)),
            EngineName::Ais => Box::new(Ais::from(group.ais)),
        })
    }

    /// The engine that `auto` takes where no exact one is within the budget: tempering, unless settings
    /// were given that only plain chains have.
    pub(crate) fn sampling(&self) -> EngineName {
        let fits = |name: &EngineName| self.given.iter().all(|setting| name.accepts(setting));
        EngineName::SAMPLING.into_iter().find(fits).unwrap_or(EngineName::Temper)
    }

    /// The search for most probable states.
    pub(crate) fn max_product(&self) -> MaxProduct {
        MaxProduct::from(self.group.max_product)
    }
}
