//! The estimate beside what tokenizers count.

use super::*;
use crate::session::{Role, Source};

/// What a text is, the text, and how many tokens it is in two vocabularies that
/// everybody can look up: `o200k_base`, which knows many languages, and
/// `cl100k_base`, which is older. Other models' lie between or near them.
#[rustfmt::skip]
const COUNTED: &[(&str, &str, u64, u64)] = &[
    ("English", "A session is a log that only grows: what was written once never changes. When another session is cited, each source is read once, and the newest messages are kept as long as there is room for them. Whatever has to be left out is said, and the full text is saved beside it.", 61, 61),
    ("Rust", r"/// Gives back what it shadows, in order.
pub fn last(&self) -> Option<&T> {
    let node = self.nodes.get(self.last?)?;
    if node.value.is_none() && !self.is_damaged {
        return Err(SurfaceError::NotOnSurface { seq, missing });
    }
    node.value.as_ref()
}
", 71, 71),
    ("Python", r#"def parse(self, lines, strict=False):
    """Reads every line that holds a record."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except ValueError as error:
            self.problems.append((number, str(error)))
"#, 68, 68),
    ("JSON", r#"{"seq":17,"time":1733100000000,"type":"user/message","data":{"role":"user","content":[{"type":"text","text":"why is it flaky?"}]},"surfaceOp":"append"}"#, 46, 46),
    ("a log", r"2026-12-02T07:18:53.204Z WARN  http::pool  retry 3/5 for https://api.example.org/v1/models (status 503, 1204 ms)
2026-12-02T07:18:55.991Z ERROR http::pool  gave up: connection reset by peer (os error 104)
", 78, 78),
    ("a list of files", r"-rw-r--r-- 1 root root   8214 Nov 30 23:10 Cargo.toml
drwxr-xr-x 2 root root   4096 Dec  2 07:01 benches
-rwxr-xr-x 1 root root 918224 Dec  1 18:45 run.sh
", 73, 73),
    ("base64", "aGVsbG8sIHdvcmxkISBUaGlzIGlzIGEgdGVzdCBvZiBhIHRleHQgdGhhdCBubyBvbmUgcmVhZHMuIFdoYXQgYSBwaXR5Lg0KUXdlcnR5IDEyMzQ1Njc4OTA=", 71, 80),
    ("hashes", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", 80, 80),
    ("figures", "1048576, 2097152, 33554432; 3.14159 2.71828 1.41421; 192.168.10.254; 2026-12-02 07:18:53", 52, 52),
    ("German", "Eine Sitzung ist ein Protokoll, an das nur angehängt wird. Was einmal geschrieben ist, ändert sich nicht mehr. Wird eine andere Sitzung zitiert, so wird jede Quelle einmal gelesen und das Neueste behalten, solange der Platz dafür reicht.", 52, 67),
    ("French", "Une session est un journal auquel on ne fait qu'ajouter. Ce qui a été écrit ne change plus. Quand une autre session est citée, chaque source est lue une seule fois et l'on garde le plus récent tant que la place suffit.", 51, 57),
    ("Russian", "Сеанс — это журнал, в который только дописывают. Записанные события больше не меняются. Когда цитируют другой сеанс, каждый источник читают один раз и оставляют самое новое, пока хватает места.", 46, 85),
    ("Arabic", "الجلسة سجل لا يقبل إلا الإضافة. ما كُتب مرة لا يتغير بعد ذلك. وعند الاستشهاد بجلسة أخرى يُقرأ كل مصدر مرة واحدة ويُحتفظ بالأحدث ما دام المكان يتسع.", 50, 108),
    ("Hindi", "सत्र एक ऐसा अभिलेख है जिसमें केवल जोड़ा जाता है। जो एक बार लिखा गया वह फिर नहीं बदलता।", 26, 91),
    ("Chinese", "会话是只追加的日志，事件一旦写入就不再改变。引用其他会话时，先读取每个来源的当前表面，然后在预算之内保留最新的内容。", 44, 56),
    ("Japanese", "会話は追記だけのログです。いちど書かれた出来事は変わりません。ほかの会話を引用するときは、それぞれの元を一度だけ読み、新しいものから残します。", 52, 70),
    ("Korean", "세션은 덧붙이기만 하는 로그입니다. 한번 기록된 사건은 바뀌지 않습니다. 다른 세션을 인용할 때는 각 원본을 한 번씩 읽고 새로운 것부터 남깁니다.", 50, 74),
    ("emoji", "👍🎉 ok 🚀🚀 done ✅ 👩‍💻 works ❤️ 🇩🇪", 21, 31),
];

#[test]
fn the_estimate_lies_above_what_a_new_vocabulary_counts_and_not_far_above_an_old_one() {
    for (what, text, new, old) in COUNTED {
        let about = estimate(text);
        assert!(about >= *new, "{what}: {about} of {new}");
        assert!(
            about * 100 <= old.max(new) * 155,
            "{what}: {about} of {old}"
        );
    }
}

#[test]
fn english_prose_and_code_are_not_taken_for_half_as_long_again() {
    for (what, text, new, _) in COUNTED {
        if ["English", "Rust", "Python"].contains(what) {
            let about = estimate(text);
            assert!(about * 100 <= new * 135, "{what}: {about} of {new}");
        }
    }
}

#[test]
fn nothing_takes_nothing_and_more_text_never_takes_less() {
    assert_eq!(estimate(""), 0);
    for (what, text, ..) in COUNTED {
        let ends = text.char_indices().map(|(end, _)| end);
        let estimates = ends.filter_map(|end| text.get(..end)).map(estimate);
        assert!(estimates.is_sorted(), "{what}");
    }
}

#[test]
fn a_message_counts_its_texts_and_a_little_more_but_no_reasoning() {
    let content = vec![Block::reasoning("hm ".repeat(100)), Block::text("abc")];
    let message = Message::new(Role::Assistant, Source::person(), content);
    assert_eq!(of_message(&message), 1 + AROUND_A_MESSAGE);
}
