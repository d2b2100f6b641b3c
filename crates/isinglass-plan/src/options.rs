//! Settings as options of the command line.
//!
//! Structs that define a setting of the same name share one option. Its help lists who defines it,
//! with the default of each.

use std::any::TypeId;

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use isinglass::learn::CompareSettings;
use isinglass::settings::{Description, Settings as _};
use serde::de::IntoDeserializer;
use serde::de::value::{BoolDeserializer, Error as ValueError};

use crate::groups::{Definition, EngineGroup, LearnerGroup};
use crate::{EngineSettings, FitSettings};

/// The options of several definitions, each name once.
fn merged(definitions: Vec<Definition>, heading: &'static str, known: &[Arg]) -> Vec<Arg> {
    let mut order: Vec<String> = Vec::new();
    let mut parts: Vec<Vec<Definition>> = Vec::new();
    for definition in definitions {
        let id = definition.arg.get_id().to_string();
        match order.iter().position(|other| *other == id) {
            Some(place) => parts[place].push(definition),
            None => {
                order.push(id);
                parts.push(vec![definition]);
            }
        }
    }
    let is_new = |parts: &Vec<Definition>| !known.iter().any(|arg| arg.get_id() == parts[0].arg.get_id());
    parts.into_iter().filter(is_new).map(|parts| friendly(&parts, heading)).collect()
}

/// One option for all definitions of a setting.
fn friendly(definitions: &[Definition], heading: &'static str) -> Arg {
    // Definitions with the same text and default are one.
    let mut texts: Vec<(Vec<&str>, String)> = Vec::new();
    for definition in definitions {
        let help = definition.arg.get_help().map(ToString::to_string).unwrap_or_default();
        let takes_value = definition.arg.get_action().takes_values();
        let default = definition.description.default.as_ref().filter(|_| takes_value);
        let text = help + &default.map(|default| format!(" [default: {default}]")).unwrap_or_default();
        match texts.iter_mut().find(|(_, known)| *known == text) {
            Some((owners, _)) => owners.extend(&definition.owners),
            None => texts.push((definition.owners.clone(), text)),
        }
    }
    let line = |(owners, text): &(Vec<&str>, String)| format!("{}: {text}", owners.join(", "));
    let help = texts.iter().map(line).collect::<Vec<_>>().join("; ");
    typed(definitions[0].arg.clone().help(help).help_heading(heading).required(false))
}

/// An option that reads the words of its type.
fn typed(arg: Arg) -> Arg {
    let kind = arg.get_value_parser().type_id();
    if kind == TypeId::of::<usize>() {
        arg.value_name("N").value_parser(ValueParser::new(whole))
    } else if kind == TypeId::of::<f64>() {
        arg.value_name("X").value_parser(ValueParser::new(number)).allow_hyphen_values(true)
    } else if is_switch(&arg) {
        arg.num_args(0..=1).require_equals(true).default_missing_value("true").hide_possible_values(true)
    } else if arg.get_action().takes_values() {
        arg.allow_hyphen_values(true)
    } else {
        arg
    }
}

/// Whether an option is a yes or no whose default depends on other settings.
fn is_switch(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<bool>() && arg.get_action().takes_values()
}

/// Switches, each with the option that says no, as an identifier and as a flag.
const OPPOSITES: [(&str, &str, &str); 1] = [("refit", "no_refit", "no-refit")];

/// With an option that says no beside each switch.
fn with_opposites(args: Vec<Arg>, heading: &'static str) -> Vec<Arg> {
    let opposite = |(yes, no, flag): (&'static str, &'static str, &'static str)| {
        let help = format!("The opposite of --{yes}");
        Arg::new(no)
            .long(flag)
            .help(help)
            .help_heading(heading)
            .action(ArgAction::SetTrue)
            .conflicts_with(yes)
    };
    let has = |arg: &Arg, yes: &str| arg.get_id() == yes;
    let beside = |arg: Arg| {
        let no = OPPOSITES.into_iter().find(|(yes, ..)| has(&arg, yes)).map(opposite);
        [Some(arg), no].into_iter().flatten()
    };
    args.into_iter().flat_map(beside).collect()
}

fn whole(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a whole number of at least 0".into())
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "expected a number".into())
}

/// Whether an option was given on the command line.
fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches.value_source(id) == Some(ValueSource::CommandLine)
}

impl Args for EngineSettings {
    fn augment_args(command: Command) -> Command {
        command.args(merged(EngineGroup::definitions(), "Engine settings", &[]))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for EngineSettings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = Self::default();
        settings.update_from_arg_matches(matches)?;
        Ok(settings)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.group.update(matches)?;
        self.given.extend(EngineGroup::names().filter(|name| is_given(matches, name)));
        Ok(())
    }
}

/// The settings of a comparison as options.
#[derive(Debug, Clone, Default)]
pub struct CompareOptions(pub CompareSettings);

impl Args for CompareOptions {
    fn augment_args(command: Command) -> Command {
        let bare = CompareSettings::augment_args(Command::new(""));
        let option = |(arg, description): (&Arg, Description)| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let default = description.default.map(|default| format!(" [default: {default}]"));
            let help = help + &default.unwrap_or_default();
            typed(arg.clone().help(help).help_heading("Tests").required(false))
        };
        let options: Vec<Arg> = bare.get_arguments().zip(CompareSettings::describe()).map(option).collect();
        command.args(options)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CompareOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = Self::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for FitSettings {
    fn augment_args(command: Command) -> Command {
        let mut learners = LearnerGroup::definitions();
        let engines = EngineGroup::definitions();
        // Engines that share an option with learners stand beside them.
        let shared = |definition: &Definition| {
            learners.iter().any(|learner| learner.arg.get_id() == definition.arg.get_id())
        };
        let (both, engines): (Vec<_>, Vec<_>) = engines.into_iter().partition(shared);
        learners.extend(both);
        let learners = merged(learners, "Learner settings", &[]);
        let engines = merged(engines, "Engine settings", &learners);
        let alias = |arg: Arg| if arg.get_id() == "iterations" { arg.visible_alias("epochs") } else { arg };
        let learners = learners.into_iter().map(alias).collect();
        command.args(with_opposites(learners, "Learner settings")).args(engines)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FitSettings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = Self::default();
        settings.update_from_arg_matches(matches)?;
        Ok(settings)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.engine.update_from_arg_matches(matches)?;
        self.group.update(matches)?;
        for (yes, no, _) in OPPOSITES {
            let is_refused = matches.try_get_one::<bool>(no).ok().flatten() == Some(&true);
            if let Some(name) = LearnerGroup::known(yes).filter(|_| is_refused) {
                let value = || -> BoolDeserializer<ValueError> { false.into_deserializer() };
                self.group
                    .set(name, value)
                    .map_err(|error| clap::Error::raw(ErrorKind::InvalidValue, error))?;
                self.given.insert(name);
            }
        }
        self.given.extend(LearnerGroup::names().filter(|name| is_given(matches, name)));
        Ok(())
    }
}
