//! Python values as input of serde: settings are read from keywords by the same code as everywhere.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use serde::de::value::{Error, SeqDeserializer};
use serde::de::{Error as _, IntoDeserializer, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

/// A Python value. Numbers and truth values of numpy count as Python's; numbers are no truth
/// values.
#[derive(Clone)]
pub(crate) struct Value<'py>(pub(crate) Bound<'py, PyAny>);

impl IntoDeserializer<'_, Error> for Value<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.0;
        if value.is_none() {
            return visitor.visit_unit();
        }
        if let Ok(truth) = value.extract::<bool>() {
            return visitor.visit_bool(truth);
        }
        if let Ok(text) = value.extract::<String>() {
            return visitor.visit_string(text);
        }
        if let Ok(number) = value.extract::<u64>() {
            return visitor.visit_u64(number);
        }
        if let Ok(number) = value.extract::<i64>() {
            return visitor.visit_i64(number);
        }
        if let Ok(number) = value.extract::<f64>() {
            return visitor.visit_f64(number);
        }
        if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
            let items: Vec<Bound<'_, PyAny>> = value.extract().map_err(Error::custom)?;
            return visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Value)));
        }
        Err(Error::custom("a value of another type"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_none() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
