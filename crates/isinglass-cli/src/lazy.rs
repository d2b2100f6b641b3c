//! Options that are defined when their subcommand is chosen: defining those of all subcommands takes
//! longer than many a job.

use std::ops::Deref;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// The arguments of a subcommand. The description of the subcommand is that of its variant.
pub(crate) struct Lazy<A>(Box<A>);

impl<A: Args> Args for Lazy<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| described(command, A::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| described(command, A::augment_args_for_update))
    }
}

/// Defines arguments, but keeps the description: flattened structs would bring theirs.
fn described(command: Command, define: fn(Command) -> Command) -> Command {
    let (short, long) = (command.get_about().cloned(), command.get_long_about().cloned());
    let command = define(command).about(short.unwrap_or_default());
    match long {
        Some(long) => command.long_about(long),
        None => command.long_about(None::<&str>),
    }
}

impl<A: FromArgMatches> FromArgMatches for Lazy<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches(matches).map(|arguments| Self(Box::new(arguments)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<A> Deref for Lazy<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}
