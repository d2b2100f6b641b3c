//! The settings of all engines, and of all learners, as users give them: by name.
//!
//! Which setting belongs to which engine or learner follows from the fields of the settings
//! structs.

use isinglass::engine::{
    AisSettings, ExactSettings, GibbsSettings, LinearResponseSettings, LogDetSettings, MixtureSettings,
    StructuredSettings, TemperSettings, TrwSettings, VariationalSettings,
};
use isinglass::learn::{
    BayesSettings, ClosedFormSettings, ContrastiveDivergenceSettings, LikelihoodSettings,
    MeanFieldCdSettings, PlEmSettings, PseudoLikelihoodSettings, RiseSettings,
};
use isinglass::search::MaxProductSettings;
#[cfg(feature = "clap")]
use isinglass::settings::Description;
use isinglass::settings::{Common, Settings};
use serde::Deserializer;

use crate::{EngineName, LearnerName};

/// A setting as one of the structs defines it.
#[cfg(feature = "clap")]
pub(crate) struct Definition {
    /// The command-line option, without a default.
    pub(crate) arg: clap::Arg,
    /// The names of the engines or learners that have it.
    pub(crate) owners: Vec<&'static str>,
    /// Its default and accepted values.
    pub(crate) description: Description,
}

/// Defines a struct of settings structs, each with the names of its owners.
macro_rules! group {
    ($(#[$outer:meta])* pub struct $name:ident of $owner:ident { $($field:ident: $settings:ty => $($variant:ident)|+,)+ }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub struct $name {
            $(#[doc = concat!("Settings of ", $(stringify!($variant), " "),+)] pub $field: $settings,)+
        }

        impl $name {
            /// The engines or learners that have a setting.
            pub(crate) fn owners(setting: &str) -> Vec<$owner> {
                let mut owners = Vec::new();
                $(if <$settings as Settings>::FIELDS.contains(&setting) {
                    owners.extend([$($owner::$variant),+]);
                })+
                owners
            }

            /// The names of all settings, struct by struct.
            pub(crate) fn names() -> impl Iterator<Item = &'static str> {
                [$(<$settings as Settings>::FIELDS),+].into_iter().flatten().copied()
            }

            /// The name of a setting as it is known for ever, if there is one of that name.
            pub(crate) fn known(setting: &str) -> Option<&'static str> {
                Self::names().find(|known| *known == setting)
            }

            /// Sets a setting wherever there is one of that name.
            pub(crate) fn set<'de, D: Deserializer<'de>>(
                &mut self,
                setting: &str,
                value: impl Fn() -> D,
            ) -> Result<(), String> {
                $(if <$settings as Settings>::FIELDS.contains(&setting) {
                    self.$field.set(setting, value())?;
                })+
                Ok(())
            }

            /// Sets seed and budget everywhere.
            pub(crate) fn set_common(&mut self, common: Common) {
                $(self.$field.set_common(common);)+
            }

            /// Checks the values of one engine or learner.
            pub(crate) fn validate(&self, owner: $owner) -> isinglass::Result<()> {
                match owner {
                    $($($owner::$variant)|+ => self.$field.validate(),)+
                    _ => Ok(()),
                }
            }
        }

        #[cfg(feature = "clap")]
        impl $name {
            /// All settings, struct by struct.
            pub(crate) fn definitions() -> Vec<Definition> {
                let mut all = Vec::new();
                $({
                    let command = <$settings as clap::Args>::augment_args(clap::Command::new(""));
                    let owners = vec![$($owner::$variant.word()),+];
                    for (arg, description) in command.get_arguments().zip(<$settings>::describe()) {
                        all.push(Definition { arg: arg.clone(), owners: owners.clone(), description });
                    }
                })+
                all
            }

            /// Sets what was given on the command line.
            pub(crate) fn update(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
                $(clap::FromArgMatches::update_from_arg_matches(&mut self.$field, matches)?;)+
                Ok(())
            }
        }
    };
}

group! {
    /// The settings of all engines.
    pub struct EngineGroup of EngineName {
        exact: ExactSettings => Enumerate | Decimate | Eliminate,
        mixture: MixtureSettings => Mixture,
        structured: StructuredSettings => Structured,
        trw: TrwSettings => Trw,
        logdet: LogDetSettings => LogDet,
        linear_response: LinearResponseSettings => LinearResponse,
        variational: VariationalSettings => MeanField | Tap | Bethe,
        max_product: MaxProductSettings => MaxProduct,
        temper: TemperSettings => Temper,
        gibbs: GibbsSettings => Gibbs,
        ais: AisSettings => Ais,
    }
}

group! {
    /// The settings of all learners.
    pub struct LearnerGroup of LearnerName {
        likelihood: LikelihoodSettings => Likelihood,
        pseudo_likelihood: PseudoLikelihoodSettings => PseudoLikelihood,
        rise: RiseSettings => Rise,
        bayes: BayesSettings => Bayes,
        pl_em: PlEmSettings => PlEm,
        contrastive_divergence: ContrastiveDivergenceSettings => ContrastiveDivergence,
        mean_field_cd: MeanFieldCdSettings => MeanFieldCd,
        closed_form: ClosedFormSettings => ClosedForm,
    }
}
