//! Values of other programs' records, read leniently: a key with a value of
//! another kind than it had when the adapter was written reads as absent, and
//! the rest of the record is not lost for it.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::moment;
use crate::text::Text;

/// How much of a tool's result is kept, in bytes: enough to see what it was.
pub(super) const MAX_RESULT_BYTES: usize = 4096;

/// What takes one kind of value and lets the others pass.
trait Take<'de>: Default {
    fn text(_: &str) -> Self {
        Self::default()
    }
    fn flag(_: bool) -> Self {
        Self::default()
    }
    fn whole(_: i64) -> Self {
        Self::default()
    }
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

struct Taking<T>(PhantomData<T>);

impl<'de, T: Take<'de>> Visitor<'de> for Taking<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::text(text))
    }
    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(T::flag(flag))
    }
    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(T::whole(number))
    }
    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(i64::try_from(number).map_or_else(|_| T::default(), T::whole))
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a fraction is dropped, and what is too large becomes the largest"
    )]
    fn visit_f64<E>(self, number: f64) -> Result<T, E> {
        Ok(T::whole(number as i64))
    }
    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::list(list)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::map(map)
    }
}

/// A string, when the value is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word(pub(super) Option<Box<str>>);

impl Word {
    pub(super) fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Whether it is this very string.
    pub(super) fn is(&self, word: &str) -> bool {
        self.get() == Some(word)
    }

    /// A moment as Unix milliseconds; 0 when it is none.
    pub(super) fn millis(&self) -> i64 {
        self.get().and_then(moment::millis).unwrap_or(0)
    }
}

impl Take<'_> for Word {
    fn text(text: &str) -> Self {
        Self(Some(text.into()))
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Taking(PhantomData))
    }
}

/// A text, when the value is one. It shares its memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words(pub(super) Option<Text>);

impl Take<'_> for Words {
    fn text(text: &str) -> Self {
        Self(Some(text.into()))
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Taking(PhantomData))
    }
}

/// A truth, when the value is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flag(pub(super) bool);

impl Take<'_> for Flag {
    fn flag(flag: bool) -> Self {
        Self(flag)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Taking(PhantomData))
    }
}

#[derive(Default)]
struct Whole(Option<i64>);

impl Take<'_> for Whole {
    fn whole(number: i64) -> Self {
        Self(Some(number))
    }
}

/// A whole number, when the value is one; of another its whole part.
pub(super) fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    let Whole(number) = from.deserialize_any(Taking(PhantomData))?;
    Ok(number)
}

/// An object of a known form, when the value is an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de> + Default> Take<'de> for Object<T> {
    fn map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Self)
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Taking(PhantomData))
    }
}

/// The members of a list, when the value is one.
#[derive(Clone, Debug)]
pub(super) struct List<T>(pub(super) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Take<'de> for List<T> {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = list.next_element()? {
            members.push(member);
        }
        Ok(Self(members))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Taking(PhantomData))
    }
}

/// One piece of a message: bare text, or a block of a known form.
#[derive(Clone, Debug, Default)]
pub(super) enum Piece<B> {
    Text(Text),
    Block(B),
    #[default]
    Other,
}

impl<'de, B: Deserialize<'de>> Take<'de> for Piece<B> {
    fn text(text: &str) -> Self {
        Self::Text(text.into())
    }
    fn map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        B::deserialize(MapAccessDeserializer::new(map)).map(Self::Block)
    }
}

impl<'de, B: Deserialize<'de>> Deserialize<'de> for Piece<B> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Taking(PhantomData))
    }
}

/// A message's content: a string, a block, or a list of them; `None` when the
/// value is nothing of the kind.
#[derive(Clone, Debug)]
pub(super) struct Content<B>(pub(super) Option<Vec<Piece<B>>>);

impl<B> Default for Content<B> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, B: Deserialize<'de>> Take<'de> for Content<B> {
    fn text(text: &str) -> Self {
        Self(Some(vec![Piece::Text(text.into())]))
    }
    fn list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        List::list(list).map(|list| Self(Some(list.0)))
    }
    fn map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        Piece::map(map).map(|piece| Self(Some(vec![piece])))
    }
}

impl<'de, B: Deserialize<'de>> Deserialize<'de> for Content<B> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Taking(PhantomData))
    }
}

/// The beginning of what a tool returned: a string, or the texts of a list or
/// of an object that holds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Excerpt(pub(super) String);

impl Excerpt {
    fn add(&mut self, text: &str) {
        if !self.0.is_empty() && !text.is_empty() && self.0.len() < MAX_RESULT_BYTES {
            self.0.push('\n');
        }
        let room = MAX_RESULT_BYTES.saturating_sub(self.0.len());
        let end = text.floor_char_boundary(room);
        self.0.push_str(text.get(..end).unwrap_or_default());
    }
}

impl<'de> Take<'de> for Excerpt {
    fn text(text: &str) -> Self {
        let mut excerpt = Self::default();
        excerpt.add(text);
        excerpt
    }
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut all = Self::default();
        while let Some(part) = list.next_element::<Self>()? {
            all.add(&part.0);
        }
        Ok(all)
    }
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut all = Self::default();
        while let Some(key) = map.next_key::<Word>()? {
            match key.get() {
                Some("text" | "output" | "content" | "response" | "functionResponse" | "error") => {
                    all.add(&map.next_value::<Self>()?.0);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(all)
    }
}

impl<'de> Deserialize<'de> for Excerpt {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Taking(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Known {
        text: Word,
        on: Flag,
        inner: Object<Inner>,
        list: List<Word>,
        content: Content<Inner>,
        result: Excerpt,
    }

    #[derive(Clone, Debug, Default, Deserialize)]
    #[serde(default)]
    struct Inner {
        text: Word,
    }

    #[test]
    fn a_value_of_another_kind_reads_as_absent_and_the_rest_is_read() {
        for other in ["null", "1", "-1", "1.5", "[1,{}]", "{\"x\":[2]}"] {
            let json = format!(r#"{{"text":{other},"on":true}}"#);
            let known: Known = serde_json::from_str(&json).unwrap();
            assert_eq!((known.text.get(), known.on.0), (None, true), "{other}");
        }
        let known: Known =
            serde_json::from_str(r#"{"on":"yes","inner":[1],"list":{"a":1},"content":7}"#).unwrap();
        assert!(!known.on.0 && known.inner.0.text.get().is_none() && known.list.0.is_empty());
        assert!(known.content.0.is_none());
    }

    #[test]
    fn content_is_a_string_a_block_or_a_list_of_both() {
        let pieces = |json: &str| {
            let known: Known = serde_json::from_str(&format!(r#"{{"content":{json}}}"#)).unwrap();
            let text = |piece: &Piece<Inner>| match piece {
                Piece::Text(text) => (**text).to_owned(),
                Piece::Block(block) => block.text.get().unwrap_or("-").to_owned(),
                Piece::Other => "?".to_owned(),
            };
            let texts: Vec<String> = known.content.0.unwrap().iter().map(text).collect();
            texts.join("|")
        };
        assert_eq!(pieces(r#""a""#), "a");
        assert_eq!(pieces(r#"{"text":"a"}"#), "a");
        assert_eq!(pieces(r#"["a",{"text":"b"},{},3]"#), "a|b|-|?");
    }

    #[test]
    fn of_a_tools_result_the_beginning_is_kept() {
        let long = "é".repeat(MAX_RESULT_BYTES);
        let json = format!(r#"{{"result":[{{"type":"text","text":"a"}},"{long}"]}}"#);
        let known: Known = serde_json::from_str(&json).unwrap();
        assert!(known.result.0.starts_with("a\né"));
        assert!(known.result.0.len() <= MAX_RESULT_BYTES);
    }
}
