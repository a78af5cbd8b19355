//! Records of which only the outside is read: which keys there are, and what
//! stands there as far as a short look tells.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A record. What is no object has no key.
#[derive(Debug, Default)]
pub(super) struct Brief(Vec<(Box<str>, Field)>);

#[derive(Debug)]
enum Field {
    Text(Box<str>),
    /// A number, if it is a whole one and not negative.
    Number(Option<u64>),
    Object,
    Other,
}

impl Brief {
    fn get(&self, key: &str) -> Option<&Field> {
        let mut fields = self.0.iter().rev();
        fields
            .find(|(own, _)| **own == *key)
            .map(|(_, field)| field)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Field::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_number(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Field::Number(_)))
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        match self.get(key)? {
            Field::Number(number) => *number,
            _ => None,
        }
    }

    pub(super) fn is_object(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Field::Object))
    }
}

impl<'de> Deserialize<'de> for Brief {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Outside)
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Inside)
    }
}

struct Outside;

impl<'de> Visitor<'de> for Outside {
    type Value = Brief;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Brief, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Brief(fields))
    }
}

struct Inside;

impl<'de> Visitor<'de> for Inside {
    type Value = Field;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_str<E>(self, text: &str) -> Result<Field, E> {
        Ok(Field::Text(text.into()))
    }
    fn visit_bool<E>(self, _: bool) -> Result<Field, E> {
        Ok(Field::Other)
    }
    fn visit_unit<E>(self) -> Result<Field, E> {
        Ok(Field::Other)
    }
    fn visit_u64<E>(self, number: u64) -> Result<Field, E> {
        Ok(Field::Number(Some(number)))
    }
    fn visit_i64<E>(self, _: i64) -> Result<Field, E> {
        Ok(Field::Number(None))
    }
    fn visit_f64<E>(self, _: f64) -> Result<Field, E> {
        Ok(Field::Number(None))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Field, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Field::Other)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Field, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Field::Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outside_of_a_record_is_read() {
        let record = r#"{"a":"x","b":7,"c":-1.5,"d":{"e":[1]},"f":[{}],"g":null,"a":"y"}"#;
        let record: Brief = serde_json::from_str(record).unwrap();
        assert_eq!(record.text("a"), Some("y"));
        assert_eq!((record.number("b"), record.number("c")), (Some(7), None));
        assert!(record.is_number("c") && !record.is_number("a"));
        assert!(record.is_object("d") && !record.is_object("f"));
        assert!(record.has("f") && record.has("g") && !record.has("e"));
        assert!(serde_json::from_str::<Brief>(r#"{"a":[}"#).is_err());
    }
}
