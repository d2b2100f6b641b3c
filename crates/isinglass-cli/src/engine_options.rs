//! Options that choose an engine, and its settings.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use isinglass::Budget;
use isinglass::settings::Common as CommonSettings;
use isinglass_plan::{Asked, EngineSettings};

pub(crate) use isinglass_plan::{EngineName, Task};

/// Which engine, and how much memory it may use.
#[derive(Args)]
pub(crate) struct EngineChoice {
    /// The engine that computes expectations
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = "Engine", value_parser = engines_for(Asked::Expectations))]
    pub(crate) engine: EngineName,
    /// Memory that an engine may use (enumerate: at 8 bytes a state), and reading a file, such as 512MiB
    /// or 6GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", help_heading = "Engine")]
    pub(crate) budget: Budget,
}

impl EngineChoice {
    /// Settings that all engines and learners share.
    pub(crate) fn common(&self, seed: u64) -> CommonSettings {
        CommonSettings { seed, budget: self.budget }
    }
}

/// Which engine, with what settings.
#[derive(Args)]
pub(crate) struct EngineOptions {
    #[command(flatten)]
    pub(crate) choice: EngineChoice,
    #[command(flatten)]
    settings: EngineSettings,
}

impl EngineOptions {
    /// The request, without the command line.
    pub(crate) fn settings(&self, seed: u64) -> EngineSettings {
        let mut settings = self.settings.clone();
        settings.engine = self.choice.engine;
        settings.with_common(self.choice.common(seed))
    }
}

/// The names of engines; the help lists only those that give what a command needs. The others are
/// refused with a message that names what can.
pub(crate) fn engines_for(asked: Asked) -> impl TypedValueParser<Value = EngineName> {
    let word =
        move |name: &EngineName| PossibleValue::new(name.word()).help(name.about()).hide(!name.gives(asked));
    PossibleValuesParser::new(EngineName::ALL.iter().map(word)).try_map(|word| word.parse::<EngineName>())
}
