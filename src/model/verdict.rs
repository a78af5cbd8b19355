//! What an error of a server means.
//!
//! Servers tell the same thing in many ways: by status, by a word such as
//! `rate_limit_error`, or only in a sentence. This is the one place that reads
//! them.

use std::time::Duration;

use serde_json::Value;

/// What a server told, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) verdict: Verdict,
    /// `None` for an error within an answer.
    pub(super) status: Option<u16>,
    pub(super) message: String,
    pub(super) wait: Option<Duration>,
}

/// What an error means to the person who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Auth,
    Missing,
    TooLong,
    RateLimited,
    Quota,
    Overloaded,
    Refused,
    Rejected,
    /// An answer had begun, and nothing tells why it ended.
    BrokeOff,
    /// What came is no answer at all.
    Garbage,
}

impl Report {
    /// Something came that is no answer.
    pub(super) fn garbage(message: impl Into<String>) -> Self {
        Self::new(Verdict::Garbage, message)
    }

    /// The model or its provider would not answer.
    pub(super) fn refused(message: impl Into<String>) -> Self {
        Self::new(Verdict::Refused, message)
    }

    /// The same behind a part of an answer: a request that was answered so far
    /// was none that the server can't make anything of.
    pub(super) fn within_an_answer(self) -> Self {
        let verdict = match self.verdict {
            Verdict::Rejected => Verdict::BrokeOff,
            told => told,
        };
        Self { verdict, ..self }
    }

    pub(super) fn new(verdict: Verdict, message: impl Into<String>) -> Self {
        Self {
            verdict,
            status: None,
            message: message.into(),
            wait: None,
        }
    }

    /// An error as a server writes it in JSON: the value of `error`, or the
    /// whole object where there is none. `None` where it holds no error.
    pub(super) fn of_error(value: &Value) -> Option<Self> {
        let value = match value {
            // Gemini wraps the error of a stream in a list.
            Value::Array(list) => list.first()?,
            _ => value,
        };
        let error = match value.get("error") {
            None | Some(Value::Null) => value.get("detail").unwrap_or(value),
            Some(error) => error,
        };
        let message = match error {
            Value::String(text) => text.clone(),
            _ => match error.get("message").or_else(|| error.get("msg")) {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None if value.get("error").is_some() || value.get("detail").is_some() => {
                    error.to_string()
                }
                None => return None,
            },
        };
        let mut words = Vec::new();
        let mut status = None;
        for key in ["type", "code", "status"] {
            match error.get(key) {
                Some(Value::String(word)) => words.push(word.to_lowercase()),
                Some(Value::Number(number)) => status = status.or(http_status(number)),
                _ => {}
            }
        }
        let details = error.get("details").and_then(Value::as_array);
        let details = details.map(Vec::as_slice).unwrap_or_default();
        let told = |key| details.iter().find_map(|d| d.get(key)?.as_str());
        words.extend(told("reason").map(str::to_lowercase));
        Some(Self {
            verdict: judge(status, &words, &message),
            status: None,
            message,
            wait: told("retryDelay").and_then(super::wait::duration),
        })
    }

    /// The error of a response with a status that is none of success.
    pub(super) fn of_response(status: u16, body: &str) -> Self {
        let json: Option<Value> = serde_json::from_str(body).ok();
        let told = json.as_ref().and_then(Self::of_error);
        let (message, wait, verdict) = match told {
            Some(told) => (told.message, told.wait, told.verdict),
            None => (body.to_owned(), None, Verdict::Rejected),
        };
        // What the words tell is more exact than the status, where they tell.
        let verdict = match verdict {
            Verdict::Rejected => judge(Some(status), &[], &message),
            told => told,
        };
        Self {
            verdict,
            status: Some(status),
            message,
            wait,
        }
    }
}

fn http_status(number: &serde_json::Number) -> Option<u16> {
    let status = u16::try_from(number.as_u64()?).ok()?;
    (400..600).contains(&status).then_some(status)
}

/// Sentences that tell of a request that is too long; their servers have no
/// word for it.
const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "maximum context length",
    "maximum prompt length",
    "context window",
    "context length",
    "exceeds the maximum number of tokens",
    "exceeds the available context size",
];
const QUOTA: &[&str] = &["credit balance is too low", "insufficient balance"];

fn judge(status: Option<u16>, words: &[String], message: &str) -> Verdict {
    let message = message.to_lowercase();
    let says = |sentences: &[&str]| sentences.iter().any(|s| message.contains(s));
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let is_client_error = status.is_none_or(|status| matches!(status, 400 | 413 | 422));

    if has(&["context_length_exceeded", "exceed_context_size_error"])
        || is_client_error && says(TOO_LONG)
    {
        return Verdict::TooLong;
    }
    if has(&["insufficient_quota", "billing_error"]) || says(QUOTA) || status == Some(402) {
        return Verdict::Quota;
    }
    if has(&["content_filter", "content_policy_violation", "moderation"]) {
        return Verdict::Refused;
    }
    let auth = [
        "authentication_error",
        "permission_error",
        "invalid_api_key",
        "api_key_invalid",
        "unauthenticated",
        "permission_denied",
    ];
    if has(&auth) || matches!(status, Some(401 | 403)) {
        return Verdict::Auth;
    }
    if has(&["not_found_error", "model_not_found", "not_found"]) || status == Some(404) {
        return Verdict::Missing;
    }
    let rate = [
        "rate_limit_error",
        "rate_limit_exceeded",
        "resource_exhausted",
    ];
    if has(&rate) || status == Some(429) {
        return Verdict::RateLimited;
    }
    if has(&["request_too_large"]) || status == Some(413) {
        return Verdict::TooLong;
    }
    let overload = [
        "overloaded_error",
        "api_error",
        "server_error",
        "timeout_error",
        "unavailable",
        "internal",
        "deadline_exceeded",
    ];
    if has(&overload) || matches!(status, Some(408 | 500..)) {
        return Verdict::Overloaded;
    }
    Verdict::Rejected
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_servers_say_is_understood() {
        use Verdict::{Auth, Missing, Overloaded, Quota, RateLimited, Refused, Rejected, TooLong};
        #[rustfmt::skip]
        let rows = [
            (401, r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}"#, Auth),
            (403, r#"{"type":"error","error":{"type":"permission_error","message":"no"}}"#, Auth),
            (400, r#"{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#, Auth),
            (404, r#"{"error":"model \"x\" not found, try pulling it first"}"#, Missing),
            (404, "404 page not found", Missing),
            (400, r#"{"error":{"message":"This model's maximum context length is 8192 tokens","type":"invalid_request_error","code":"context_length_exceeded"}}"#, TooLong),
            (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#, TooLong),
            (400, r#"{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#, TooLong),
            (400, r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000","type":"BadRequestError","code":400}"#, TooLong),
            (400, r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}"#, TooLong),
            (413, r#"{"type":"error","error":{"type":"request_too_large","message":"too large"}}"#, TooLong),
            (413, r#"{"error":{"message":"Request too large: tokens per minute","code":"rate_limit_exceeded"}}"#, RateLimited),
            (429, r#"{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}"#, RateLimited),
            (429, r#"[{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}]"#, RateLimited),
            (429, r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#, Quota),
            (402, r#"{"error":{"message":"Insufficient Balance"}}"#, Quota),
            (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#, Quota),
            (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, Overloaded),
            (500, "", Overloaded),
            (502, "<html>Bad gateway</html>", Overloaded),
            (400, r#"{"error":{"message":"flagged","code":"content_policy_violation"}}"#, Refused),
            (422, r#"{"detail":[{"msg":"Extra inputs are not permitted"}]}"#, Rejected),
            (400, r#"{"error":{"message":"unknown field"}}"#, Rejected),
        ];
        for (status, body, verdict) in rows {
            let report = Report::of_response(status, body);
            assert_eq!(report.verdict, verdict, "{status} {body}");
            assert_eq!(report.status, Some(status));
        }
    }

    #[test]
    fn an_error_within_an_answer_has_no_status_but_its_own_code() {
        let value = serde_json::json!({"error": {"code": 502, "message": "upstream"}});
        let report = Report::of_error(&value).unwrap();
        assert_eq!((report.verdict, report.status), (Verdict::Overloaded, None));
        assert_eq!(report.message, "upstream");
        assert_eq!(Report::of_error(&serde_json::json!({"choices": []})), None);
    }

    #[test]
    fn the_wait_in_an_error_is_read() {
        let body = r#"{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED",
            "details":[{"@type":"a"},{"retryDelay":"37s"}]}}"#;
        let report = Report::of_response(429, body);
        assert_eq!(report.wait, Some(Duration::from_secs(37)));
    }
}
