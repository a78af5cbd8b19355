//! The lines that the tools write.

use std::fmt::Write as _;

use super::files::{Format, Shape};

/// How long the texts are that all others are cut from, and from how far in.
const TEXT_BYTES: usize = 1 << 20;
const CUT_BYTES: usize = TEXT_BYTES / 2;

/// Lines on their way, and what texts are cut from.
pub struct Writer {
    pub lines: String,
    prose: String,
    output: String,
    chance: u64,
    /// How many lines there are.
    count: u64,
    /// The last record that the next one follows.
    parent: Option<u64>,
}

/// What sentences are made of.
const PROSE: &str = "the flaky login test waits for \"ready\" before it clicks and then \
     session cookie <b>expires</b> so retry — as seen — fails `cargo test --lib` in module \
     index::matcher because cache holds stale rows while worker threads still fold blocks \
     naïve approach: compare every key, café, 世界 which costs more than one pass over lines \
     please look at src/main.rs:42 where parser refuses what is unusual; I think we should \
     rename this field, add a test that can fail, and measure again with ten times as many.\n";
/// What lines of output are made of.
const OUTPUT: &str = "drwxr-xr-x 3 u u 4096 Dec 1 20:34 src \t fn main() { println!(\"{}\", \
     ratio(\"a\\n\")); } test library::index::finds_what_was_typed ... ok warning: unused \
     variable: `seen`, crates/index/src/matcher.rs:214:9 ✓ passed (1.3 s) error[E0308]: \
     mismatched types expected `&str`, found `String` --> let value = map.get(\"key\"); \
     0x7f3a9c 18446744073709551615 https://example.org/a/b?c=d&e=f #include <stdio.h>";

impl Writer {
    pub fn new() -> Self {
        let mut writer = Self {
            lines: String::new(),
            prose: String::new(),
            output: String::new(),
            chance: 0x9e37_79b9_7f4a_7c15,
            count: 0,
            parent: None,
        };
        writer.prose = writer.mixed(PROSE, 90);
        writer.output = writer.mixed(OUTPUT, 9);
        writer
    }

    /// A long text of these words in disorder, `words` of them a line.
    fn mixed(&mut self, text: &str, words: u64) -> String {
        let all: Vec<&str> = text.split(' ').collect();
        let mut mixed = String::new();
        while mixed.len() < TEXT_BYTES {
            let chance = self.chance() >> 20;
            let at = usize::try_from(chance).unwrap_or_default() % all.len();
            mixed.push_str(all[at]);
            let is_end = (chance >> 20).is_multiple_of(words);
            mixed.push(if is_end { '\n' } else { ' ' });
        }
        mixed
    }

    fn chance(&mut self) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        self.chance
    }

    /// From half to one and a half of a usual length.
    fn around(&mut self, length: usize) -> usize {
        let chance = usize::try_from(self.chance() >> 33).unwrap_or_default();
        length / 2 + chance % length
    }

    /// About so many bytes of words, as JSON.
    pub fn prose(&mut self, length: usize) -> String {
        let (start, length) = (self.around(CUT_BYTES), self.around(length));
        cut(&self.prose, start, length)
    }

    /// About so many bytes of what a tool prints, as JSON.
    fn output(&mut self, length: usize) -> String {
        let (start, length) = (self.around(CUT_BYTES), self.around(length));
        cut(&self.output, start, length)
    }

    pub fn line(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
        self.count += 1;
    }

    /// A moment.
    fn time(&self) -> String {
        let n = self.count;
        format!(
            "2026-12-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            1 + n / 3_600_000 % 28,
            n / 60_000 % 24,
            n / 1_000 % 60,
            n / 17 % 60,
            n % 1_000
        )
    }

    // Claude Code.

    /// A record of the tree: what stands before its own id and behind it.
    fn claude(&mut self, before: &str, behind: &str) {
        let own = self.count;
        let parent = match self.parent.replace(own) {
            Some(parent) => format!("\"{}\"", uuid(parent)),
            None => "null".to_owned(),
        };
        let line = format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,{before},"uuid":"{}","timestamp":"{}",{behind}"userType":"external","entrypoint":"cli","cwd":"/home/u/project","sessionId":"5b0f4c9e-8a55-4c37-b1a5-0d4f7c1d2e3f","version":"2.1.332","gitBranch":"main"}}"#,
            uuid(own),
            self.time(),
        );
        self.line(&line);
    }

    fn claude_model(&mut self, block: &str) {
        let usage = r#""stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3122,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":40,"output_tokens_details":{"thinking_tokens":0},"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0},"inference_geo":"","iterations":[],"speed":"standard"},"stop_details":null"#;
        let before = format!(
            r#""message":{{"id":"msg_{}","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{block}],{usage}}},"apiBlockIndex":0,"requestRef":"caf640c8-feea-4421-90be-4c60cdd90577","type":"assistant""#,
            self.count
        );
        self.claude(&before, r#""effort":"medium","madeBy":"model","#);
    }

    fn claude_attachment(&mut self, kind: &str, inside: &str, rendered: &str) {
        let before = format!(r#""attachment":{{"type":"{kind}",{inside}}},"type":"attachment""#);
        let behind = if rendered.is_empty() {
            String::new()
        } else {
            format!(r#""rendered":[{{"content":{rendered}}}],"renderedRole":"system","#)
        };
        self.claude(&before, &behind);
    }

    pub fn claude_turn(&mut self, shape: Shape) {
        let words = self.prose(900);
        self.claude(
            &format!(r#""promptId":"2e0ffe7c-2801-4649-b002-ab0ae650a7c7","type":"user","message":{{"role":"user","content":{words}}}"#),
            r#""permissionMode":"default","#,
        );
        if shape == Shape::Work {
            let prompt = self.prose(24_000);
            self.claude_attachment(
                "prompt_snapshot",
                &format!(r#""systemPrompt":[{prompt}]"#),
                "",
            );
            let skills = self.prose(5_000);
            self.claude_attachment("skill_listing", &format!(r#""content":{skills}"#), &skills);
            let shape = self.prose(14_000);
            self.line(&format!(r#"{{"type":"api-request-shape","sessionId":"5b0f4c9e-8a55-4c37-b1a5-0d4f7c1d2e3f","hash":"697920000a2956b8","params":{{"system":{shape}}}}}"#));
            let blob = self.prose(4_000);
            self.line(&format!(r#"{{"type":"api-request-blob","sessionId":"5b0f4c9e-8a55-4c37-b1a5-0d4f7c1d2e3f","hash":"d43ab0e0b8ec9db7","message":{{"role":"user","content":{blob}}}}}"#));
        }
        let steps = match shape {
            Shape::Work => 2,
            Shape::Results => 4,
            Shape::Dialogue => 0,
        };
        for _ in 0..steps {
            let thought = self.prose(600);
            self.claude_model(&format!(
                r#"{{"type":"thinking","thinking":{thought},"signature":"c2lnbmF0dXJl"}}"#
            ));
            self.claude_model(r#"{"type":"tool_use","id":"toolu_1796158377544","name":"Bash","input":{"command":"cargo test --lib \"index\"","description":"Run the tests"}}"#);
            let printed = self.output(4_500);
            self.claude(
                &format!(r#""promptId":"2e0ffe7c-2801-4649-b002-ab0ae650a7c7","type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_1796158377544","type":"tool_result","content":{printed},"is_error":false}}]}}"#),
                &format!(r#""toolUseResult":{{"stdout":{printed},"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}},"sandboxed":false,"#),
            );
        }
        let words = self.prose(1_900);
        self.claude_model(&format!(r#"{{"type":"text","text":{words}}}"#));
    }

    // Codex.

    pub fn codex(&mut self, format: Format, outer: &str, payload: &str) {
        let mut line = format!(r#"{{"timestamp":"{}","#, self.time());
        if format == Format::CodexNew {
            let _ = write!(line, r#""ordinal":{},"#, self.count);
        }
        let _ = write!(line, r#""type":"{outer}","payload":{{{payload}}}"#);
        if format == Format::CodexNew && outer == "response_item" {
            let _ = write!(
                line,
                r#","metadata":{{"history_sequence":{},"sampled_through_sequence":0,"client_authored":false,"model_search_state":"unused"}}"#,
                self.count
            );
        }
        line.push('}');
        self.line(&line);
    }

    fn codex_message(&mut self, format: Format, role: &str, words: &str) {
        let (kind, shown, item) = match role {
            "user" => ("input_text", "user_message", "UserMessage"),
            _ => ("output_text", "agent_message", "AgentMessage"),
        };
        if format == Format::CodexNew {
            let kinds = match role {
                "user" => r#","content_item_kinds":["user.prompt"]"#,
                _ => "",
            };
            self.codex(format, "response_item", &format!(r#""type":"message","id":"msg_01a23350","role":"{role}","content":[{{"type":"{kind}","text":{words}}}],"internal_chat_message_metadata_passthrough":{{"turn_id":"01a23350-a4c9-7952-810d-0d254df67004"{kinds}}}"#));
            self.codex(format, "event_msg", &format!(r#""type":"item_completed","thread_id":"01a23350-a48b-72e2-8611-b88f257eb84a","turn_id":"01a23350-a4c9-7952-810d-0d254df67004","item":{{"type":"{item}","id":"01a23350-a5fc-77c2-bd9f-cc9bbd0646d4","content":[{{"type":"text","text":{words}}}]}},"started_at_ms":1796157253123,"completed_at_ms":1796157253123"#));
        } else {
            self.codex(format, "response_item", &format!(r#""type":"message","role":"{role}","content":[{{"type":"{kind}","text":{words}}}]"#));
            self.codex(
                format,
                "event_msg",
                &format!(r#""type":"{shown}","message":{words},"phase":null"#),
            );
        }
    }

    pub fn codex_turn(&mut self, format: Format, shape: Shape) {
        self.codex(format, "event_msg", r#""type":"task_started","turn_id":"01a23350-a4c9-7952-810d-0d254df67004","started_at":1796157252,"model_context_window":258400,"collaboration_mode_kind":"default""#);
        self.codex(format, "turn_context", r#""turn_id":"01a23350-a4c9-7952-810d-0d254df67004","cwd":"/home/u/project","approval_policy":"never","sandbox_policy":{"type":"danger-full-access"},"model":"gpt-5-codex","collaboration_mode":{"mode":"default","settings":{"model":"gpt-5-codex","reasoning_effort":null,"developer_instructions":null}},"summary":"auto""#);
        let words = self.prose(900);
        self.codex_message(format, "user", &words);
        let steps = if shape == Shape::Dialogue { 0 } else { 6 };
        for _ in 0..steps {
            let (thought, sealed) = (self.prose(300), self.prose(1_200));
            self.codex(format, "response_item", &format!(r#""type":"reasoning","id":"rs_1796157253193","summary":[{{"type":"summary_text","text":{thought}}}],"content":null,"encrypted_content":{sealed}"#));
            self.codex(format, "response_item", r#""type":"function_call","name":"exec_command","arguments":"{\"cmd\": \"cargo test --lib index\"}","call_id":"call_1796157253193""#);
            let printed = self.output(4_500);
            self.codex(format, "response_item", &format!(r#""type":"function_call_output","call_id":"call_1796157253193","output":{printed}"#));
            self.codex(format, "event_msg", &format!(r#""type":"exec_command_end","call_id":"call_1796157253193","aggregated_output":{printed},"exit_code":0"#));
            self.codex(format, "event_msg", r#""type":"token_count","info":{"total_token_usage":{"input_tokens":5257,"cached_input_tokens":0,"output_tokens":40,"reasoning_output_tokens":5,"total_tokens":200},"last_token_usage":{"input_tokens":5257,"cached_input_tokens":0,"output_tokens":40,"reasoning_output_tokens":5,"total_tokens":200},"model_context_window":258400},"rate_limits":{"limit_id":"codex","limit_name":null,"primary":null,"secondary":null,"credits":null,"plan_type":null}"#);
        }
        let words = self.prose(1_900);
        self.codex_message(format, "assistant", &words);
    }

    // DeepSeek Harness.

    fn dsh(&mut self, with_seq: bool, kind: &str, data: &str, rest: &str) {
        let at = if with_seq {
            let seq = self.count - 1;
            format!(r#""seq":{seq},"time":{},"#, 1_786_073_817_152 + seq)
        } else {
            String::new()
        };
        self.line(&format!(r#"{{"type":"{kind}",{at}"data":{data}{rest}}}"#));
    }

    fn dsh_user(&mut self, with_seq: bool) {
        let words = self.prose(900);
        self.dsh(
            with_seq,
            "user/message",
            &format!(r#"{{"content":[{{"type":"text","text":{words}}}],"source":{{"kind":"user"}},"role":"user","id":"737b2237-9133-472d-81d6-f6ccdadbfaf4"}}"#),
            r#","surfaceOp":"append""#,
        );
    }

    fn dsh_model(&mut self, with_seq: bool, blocks: &str) {
        self.dsh(
            with_seq,
            "assistant/message",
            &format!(r#"{{"turn":1,"step":1,"message":{{"role":"assistant","content":[{blocks}],"source":{{"kind":"model","provider":"deepseek-official","model":"deepseek-flash"}},"id":"346bd376-5517-4117-a0a4-98f4b8a54f2a"}}}}"#),
            r#","surfaceOp":"append""#,
        );
    }

    pub fn dsh0_turn(&mut self, shape: Shape) {
        self.dsh(false, "turn/start", r#"{"turn":1}"#, "");
        self.dsh_user(false);
        if shape != Shape::Dialogue {
            for _ in 0..6 {
                for kind in ["reasoning-chunks", "text-chunks"] {
                    let pieces = (0..150)
                        .map(|n| format!("\" piece{n}\","))
                        .collect::<Vec<_>>()
                        .concat();
                    let times = (0..150)
                        .map(|n| format!("{},", n % 29))
                        .collect::<Vec<_>>()
                        .concat();
                    self.dsh(
                        false,
                        kind,
                        &format!(
                            r#"{{"turn":1,"step":1,"index":0,"dt":[{}],"texts":[{}]}}"#,
                            times.trim_end_matches(','),
                            pieces.trim_end_matches(',')
                        ),
                        "",
                    );
                }
                for n in 0..20 {
                    let words = self.prose(100);
                    self.dsh(false, "assistant/chunk", &format!(r#"{{"turn":1,"step":1,"chunk":{{"type":"block-delta","index":{n},"delta":{{"type":"text","text":{words}}}}}}}"#), "");
                }
                let printed = self.output(1_000);
                self.dsh(false, "tool/result", &format!(r#"{{"turn":1,"step":1,"message":{{"source":{{"kind":"tool","callId":"call_00"}},"content":[{{"type":"tool-result","toolCallId":"call_00","content":[{{"type":"text","text":{printed}}}],"isError":false}}],"role":"user","id":"8458b9aa-bdff-4666-87d8-934efc183083"}}}}"#), r#","sourceEventSeqs":[266],"surfaceOp":"append""#);
            }
        }
        self.dsh_answer(false);
    }

    pub fn dsh4_turn(&mut self, shape: Shape) {
        self.dsh(true, "turn/start", r#"{"turn":1}"#, "");
        self.dsh_user(true);
        if shape != Shape::Dialogue {
            let tools = self.prose(20_000);
            self.dsh(true, "request/header", &format!(r#"{{"header":{{"config":{{"provider":"deepseek-official","model":"deepseek-flash","maxTokens":256000}},"tools":[{{"name":"bash","description":{tools}}}]}},"reason":"initial"}}"#), "");
            for _ in 0..3 {
                let thought = self.prose(600);
                self.dsh_model(true, &format!(r#"{{"type":"reasoning","text":{thought}}},{{"type":"tool-call","id":"toolu_1","name":"bash","arguments":"{{\"command\": \"ls -la\"}}"}}"#));
                self.dsh(true, "tool/call", r#"{"turn":1,"step":1,"callId":"toolu_1","name":"bash","arguments":"{\"command\": \"ls -la && cat notes.md\", \"description\": \"List files\"}"}"#, "");
                let printed = self.output(3_000);
                self.dsh(true, "job/settled", &format!(r#"{{"jobId":"bash-980ad95c9f084e93","kind":"bash","status":"completed","output":{printed}}}"#), "");
                self.dsh(true, "tool/result", &format!(r#"{{"turn":1,"step":1,"message":{{"role":"tool","source":{{"kind":"tool","callId":"toolu_1"}},"toolCallId":"toolu_1","content":[{{"type":"text","text":{printed}}}],"isError":false,"id":"0986a0ab-3a66-4ae7-99f1-3d16c38cbe36"}},"meta":{{"cwd":"/home/u/project"}}}}"#), r#","sourceEventSeqs":[16],"surfaceOp":"append""#);
            }
        }
        self.dsh_answer(true);
    }

    fn dsh_answer(&mut self, with_seq: bool) {
        let words = self.prose(1_900);
        self.dsh_model(with_seq, &format!(r#"{{"type":"text","text":{words}}}"#));
        self.dsh(
            with_seq,
            "turn/end",
            r#"{"turn":1,"reason":{"kind":"completed"}}"#,
            "",
        );
    }
}

fn uuid(n: u64) -> String {
    let n = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!(
        "{:08x}-{:04x}-4{:03x}-9{:03x}-{:012x}",
        n >> 32,
        n >> 16 & 0xffff,
        n & 0xfff,
        n >> 12 & 0xfff,
        n & 0xffff_ffff_ffff
    )
}

/// A part of a text, as JSON.
fn cut(text: &str, start: usize, length: usize) -> String {
    let start = text.ceil_char_boundary(start);
    let end = text.floor_char_boundary(start + length);
    serde_json::Value::from(&text[start..end]).to_string()
}
