//! Settings of engines and learners: one definition each, for Rust, the command line and Python.
//!
//! The macro `settings!` defines a struct with its defaults, the texts of the help, the accepted
//! ranges and the builder methods of the engine or learner. With the feature `clap` the struct is a
//! group of command-line options. Front ends that have keywords set fields by name
//! ([`Settings::set`]). The macro [`choices!`] does the same for settings that are one of several
//! words.

use std::fmt;

/// For [`choices!`](crate::choices).
#[doc(hidden)]
pub use serde;
use serde::Deserializer;

use crate::{Budget, Result};

/// The settings of an engine or learner.
pub trait Settings: Clone + fmt::Debug + Default {
    /// The names of the settings that users choose. Others are for Rust alone.
    const FIELDS: &'static [&'static str];

    /// Sets a field of [`FIELDS`](Self::FIELDS).
    ///
    /// # Errors
    /// What is expected, if the value is of another type. An unknown field is left alone.
    fn set<'de, D: Deserializer<'de>>(&mut self, field: &str, value: D) -> Result<(), String>;

    /// Describes each field of [`FIELDS`](Self::FIELDS), for help and reference pages.
    fn describe() -> Vec<Description>;

    /// Sets what all engines and learners share, where the struct has it.
    fn set_common(&mut self, common: Common);

    /// Checks every value, and the values against each other.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) that names the setting.
    fn validate(&self) -> Result<()>;

    /// What results depend on, in words: every field but the budget.
    fn fingerprint(&self) -> String;
}

/// What all engines and learners share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Common {
    /// The seed of everything random.
    pub seed: u64,
    /// The memory that may be used.
    pub budget: Budget,
}

/// What is said of a setting besides its name and the text of its help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The default; `None` where it depends on other settings.
    pub default: Option<String>,
    /// The accepted values.
    pub accepted: String,
    /// Its type in Python.
    pub python: &'static str,
}

/// A type that a setting may have.
pub trait Value: fmt::Debug + for<'de> serde::Deserialize<'de> {
    /// Its type in Python.
    const PYTHON: &'static str = "str";

    /// What users may write.
    fn expected() -> String;

    /// The value as users write it; `None` for a value that is absent.
    fn shown(&self) -> Option<String>;
}

macro_rules! plain_values {
    ($($ty:ty: $python:literal, $expected:literal;)*) => {$(
        impl Value for $ty {
            const PYTHON: &'static str = $python;

            fn expected() -> String {
                $expected.into()
            }

            fn shown(&self) -> Option<String> {
                let (plain, power) = (self.to_string(), format!("{self:?}"));
                Some(if power.len() < plain.len() { power } else { plain })
            }
        }
    )*};
}

plain_values! {
    usize: "int", "a whole number of at least 0";
    f64: "float", "a number";
    bool: "bool", "True or False";
}

impl<T: Value> Value for Option<T> {
    const PYTHON: &'static str = T::PYTHON;

    fn expected() -> String {
        T::expected()
    }

    fn shown(&self) -> Option<String> {
        self.as_ref().and_then(T::shown)
    }
}

/// Ranges of settings. Absent values are inside.
pub(crate) mod range {
    /// Whether a value is inside a range, and what is expected.
    #[derive(Clone, Copy)]
    pub(crate) struct Checked {
        pub(super) is_inside: bool,
        pub(super) expected: &'static str,
    }

    pub(crate) fn check<T>(
        value: Option<T>,
        is_inside: impl Fn(T) -> bool,
        expected: &'static str,
    ) -> Checked {
        Checked { is_inside: value.is_none_or(is_inside), expected }
    }

    pub(crate) fn at_least_1(count: impl Into<Option<usize>>) -> Checked {
        check(count.into(), |count| count >= 1, "a whole number of at least 1")
    }

    pub(crate) fn at_least_2(count: impl Into<Option<usize>>) -> Checked {
        check(count.into(), |count| count >= 2, "a whole number of at least 2")
    }

    pub(crate) fn at_least_4(count: impl Into<Option<usize>>) -> Checked {
        check(
            count.into(),
            |count| count >= 4,
            "a whole number of at least 4, so that chains can be compared",
        )
    }

    pub(crate) fn at_least_64(count: impl Into<Option<usize>>) -> Checked {
        check(count.into(), |count| count >= 64, "a whole number of at least 64")
    }

    pub(crate) fn width(width: impl Into<Option<usize>>) -> Checked {
        check(width.into(), |width| (1..=3).contains(&width), "1, 2 or 3")
    }

    pub(crate) fn below_1(number: impl Into<Option<f64>>) -> Checked {
        check(number.into(), |x| (0.0..1.0).contains(&x), "a number of at least 0 and below 1")
    }

    pub(crate) fn positive(number: impl Into<Option<f64>>) -> Checked {
        check(number.into(), |x| x.is_finite() && x > 0.0, "a finite number above 0")
    }

    pub(crate) fn not_negative(number: impl Into<Option<f64>>) -> Checked {
        check(number.into(), |x| x.is_finite() && x >= 0.0, "a finite number of at least 0")
    }
}

/// Defines a struct of settings.
///
/// Fields of the first block are chosen by users: documentation (the text of the help), name, type,
/// default and accepted range; the method of a field with `(into)` behind its name accepts whatever
/// can be turned into its type. Fields after `rust` are for Rust alone. `common` names which of
/// `seed` and `budget` it has; `also` names a function that checks settings against each other.
/// Each type after `for` must have a field `settings`; it gets a method for every setting.
macro_rules! settings {
    (
        $(#[$outer:meta])*
        pub struct $name:ident for $($owner:ty),+ {
            $($(#[doc = $doc:literal])+ $field:ident $(($into:ident))?: $ty:ty = $default:expr $(=> $range:path)?,)*
        }
        $(rust { $($(#[doc = $rust_doc:literal])+ $rust:ident: $rust_ty:ty = $rust_default:expr $(=> $rust_range:path)?,)* })?
        common { $($common:ident),* }
        $(also $also:path;)?
    ) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[cfg_attr(feature = "clap", derive(clap::Args))]
        #[non_exhaustive]
        pub struct $name {
            $($(#[doc = $doc])+ #[cfg_attr(feature = "clap", arg(long, required = false))] pub $field: $ty,)*
            $($($(#[doc = $rust_doc])+ #[cfg_attr(feature = "clap", arg(skip = <$name>::default().$rust))] pub $rust: $rust_ty,)*)?
            $(#[doc = $crate::settings::common_doc!($common)] #[cfg_attr(feature = "clap", arg(skip))]
            pub $common: $crate::settings::common_type!($common),)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $default,)*
                    $($($rust: $rust_default,)*)?
                    $($common: Default::default(),)*
                }
            }
        }

        impl $crate::settings::Settings for $name {
            const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];

            #[allow(unused_variables, reason = "some structs have no field to be set")]
            fn set<'de, D: serde::Deserializer<'de>>(&mut self, field: &str, value: D) -> Result<(), String> {
                match field {
                    $(stringify!($field) => {
                        self.$field = serde::Deserialize::deserialize(value)
                            .map_err(|_| <$ty as $crate::settings::Value>::expected())?;
                    })*
                    _ => {}
                }
                Ok(())
            }

            fn describe() -> Vec<$crate::settings::Description> {
                let _usual = Self::default();
                vec![$($crate::settings::describe(&_usual.$field, &[$($range(_usual.$field))?])),*]
            }

            #[allow(unused_variables, reason = "some structs have no seed")]
            fn set_common(&mut self, common: $crate::settings::Common) {
                $(self.$common = common.$common;)*
            }

            fn validate(&self) -> $crate::Result<()> {
                $($($crate::settings::in_range(stringify!($field), &self.$field, $range(self.$field))?;)?)*
                $($($($crate::settings::in_range(stringify!($rust), &self.$rust, $rust_range(self.$rust))?;)?)*)?
                $($also(self)?;)?
                Ok(())
            }

            fn fingerprint(&self) -> String {
                let _words: Vec<String> = vec![
                    $(format!("{} {:?}", stringify!($field), self.$field),)*
                    $($(format!("{} {:?}", stringify!($rust), self.$rust),)*)?
                    $($crate::settings::common_print!(self, $common),)*
                ];
                _words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
            }
        }

        impl $name {
            $crate::settings::builders!(($($(#[doc = $doc])+ $field $(($into))?: $ty,)* $($($(#[doc = $rust_doc])+ $rust: $rust_ty,)*)?) ($($common)*) self => self);
        }

        $crate::settings::owners!(($($owner),+) $name ($($(#[doc = $doc])+ $field $(($into))?: $ty,)* $($($(#[doc = $rust_doc])+ $rust: $rust_ty,)*)?) ($($common)*));
    };
}

/// A method for each setting, on a value whose settings are at a place.
macro_rules! builders {
    (($($(#[doc = $doc:literal])+ $field:ident $(($into:ident))?: $ty:ty,)*) ($($common:ident)*) $this:ident => $place:expr) => {
        $($(#[doc = $doc])+ #[must_use]
        pub fn $field(mut $this, $field: $crate::settings::argument!($ty $(, $into)?)) -> Self {
            $place.$field = $field $(.$into())?;
            $this
        })*
        $(#[doc = $crate::settings::common_doc!($common)] #[must_use]
        pub fn $common(mut $this, $common: $crate::settings::common_type!($common)) -> Self { $place.$common = $common; $this })*
    };
}

/// What the method of a setting accepts: its type, or whatever can be turned into it.
macro_rules! argument {
    ($ty:ty) => {
        $ty
    };
    ($ty:ty, into) => {
        impl Into<$ty>
    };
}

/// The engines or learners that have settings.
macro_rules! owners {
    (($($owner:ty),+) $name:ident $fields:tt $common:tt) => {$(
        $crate::settings::owner!($owner, $name, $fields, $common);
    )+};
}

macro_rules! owner {
    ($owner:ty, $name:ident, ($($(#[doc = $doc:literal])+ $field:ident $(($into:ident))?: $ty:ty,)*), ($($common:ident)*)) => {
        impl $owner {
            $crate::settings::builders!(($($(#[doc = $doc])+ $field $(($into))?: $ty,)*) ($($common)*) self => self.settings);
        }

        /// Settings can be read like fields.
        impl std::ops::Deref for $owner {
            type Target = $name;

            fn deref(&self) -> &$name {
                &self.settings
            }
        }
    };
}

/// Constructors of engines and learners that consist of their settings.
macro_rules! constructors {
    ($($owner:ident($name:ident)),+) => {$(
        impl $owner {
            /// With default settings.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }
        }

        impl From<$name> for $owner {
            fn from(settings: $name) -> Self {
                Self { settings }
            }
        }
    )+};
}

macro_rules! common_type {
    (seed) => {
        u64
    };
    (budget) => {
        $crate::Budget
    };
}

macro_rules! common_doc {
    (seed) => {
        "The seed of everything random."
    };
    (budget) => {
        "The memory that may be used."
    };
}

macro_rules! common_print {
    ($this:ident, seed) => {
        format!("seed {}", $this.seed)
    };
    ($this:ident, budget) => {
        String::new()
    };
}

/// Defines an enum whose variants users choose by a word; their documentation is the text of the
/// help.
#[macro_export]
macro_rules! choices {
    ($(#[$outer:meta])* pub enum $name:ident = $default:ident { $($(#[doc = $about:literal])+ $variant:ident = $word:literal,)+ }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[doc = $about])+ $variant,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        }

        impl $name {
            /// All choices.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word by which users choose it.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// What it means.
            #[must_use]
            pub fn about(self) -> String {
                let lines: &[&str] = match self { $(Self::$variant => &[$($about),+],)+ };
                lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
            }

            fn words() -> String {
                Self::ALL.iter().map(|choice| choice.word()).collect::<Vec<_>>().join(", ")
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::settings::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().copied().find(|choice| choice.word() == word);
                found.ok_or_else(|| $crate::settings::UnknownWord { found: word.to_owned(), expected: Self::words() })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl<'de> $crate::settings::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::settings::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <String as $crate::settings::serde::Deserialize>::deserialize(deserializer)?;
                word.parse().map_err($crate::settings::serde::de::Error::custom)
            }
        }

        impl $crate::settings::Value for $name {
            fn expected() -> String {
                Self::words()
            }

            fn shown(&self) -> Option<String> {
                Some((*self).word().to_owned())
            }
        }

        #[cfg(feature = "clap")]
        impl clap::ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                Self::ALL
            }

            fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
                Some(clap::builder::PossibleValue::new((*self).word()).help((*self).about()))
            }
        }
    };
}

/// A word that is none of the choices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found '{found}', expected {expected}")]
pub struct UnknownWord {
    /// The word.
    pub found: String,
    /// The choices.
    pub expected: String,
}

pub(crate) use {
    argument, builders, choices, common_doc, common_print, common_type, constructors, owner, owners, settings,
};

/// Names the setting whose value is out of range.
pub(crate) fn in_range(field: &'static str, found: &impl Value, checked: range::Checked) -> Result<()> {
    if checked.is_inside {
        return Ok(());
    }
    let found = found.shown().unwrap_or_default();
    Err(crate::Error::setting(field, format!("found {found}, expected {}", checked.expected)))
}

/// Describes a setting by its default, and its range if it has one.
pub(crate) fn describe<T: Value>(default: &T, range: &[range::Checked]) -> Description {
    let accepted = range.first().map_or_else(T::expected, |range| range.expected.to_owned());
    Description { default: default.shown(), accepted, python: T::PYTHON }
}
