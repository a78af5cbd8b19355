//! What Codex puts into a person's mouth, told from what the person typed.
//! Only needed for records that do not say it themselves.

/// How an injected text begins and ends. Both must be there, so that a person
/// who writes about such a text is still heard.
const MARKED: &[(&str, &str)] = &[
    ("<environment_context>", "</environment_context>"),
    ("<user_instructions>", "</user_instructions>"),
    (AGENTS, "</INSTRUCTIONS>"),
    ("<permissions instructions>", "</permissions instructions>"),
    ("<skills_instructions>", "</skills_instructions>"),
    ("<apps_instructions>", "</apps_instructions>"),
    ("<plugins_instructions>", "</plugins_instructions>"),
    ("<recommended_plugins>", "</recommended_plugins>"),
    ("<collaboration_mode>", "</collaboration_mode>"),
    ("<model_switch>", "</model_switch>"),
    ("<personality_spec>", "</personality_spec>"),
    ("<realtime_conversation>", "</realtime_conversation>"),
    ("<skill>", "</skill>"),
    ("<user_shell_command>", "</user_shell_command>"),
    REVIEW,
    ("<turn_aborted>", "</turn_aborted>"),
    ("<subagent_notification>", "</subagent_notification>"),
    (
        "<agent_message_board_notification>",
        "</agent_message_board_notification>",
    ),
    ("<codex_internal_context", "</codex_internal_context>"),
    ("<goal_context>", "</goal_context>"),
    ("<hook_prompt", "</hook_prompt>"),
    ("<external_", ">"),
];
/// A review that a person asked for, and what it found.
const REVIEW: (&str, &str) = ("<user_action>", "</user_action>");
/// How the text of instruction files begins.
const AGENTS: &str = "# AGENTS.md instructions";
/// Warnings to the model that older versions wrote as a person's message.
const WARNINGS: &[&str] = &[
    "Warning: apply_patch was requested via ",
    "Warning: The maximum number of unified exec processes",
    "Warning: Your account was flagged",
];
/// How every summary of a compaction begins.
const SUMMARY: &str = "Another language model started to solve this problem and produced a summary of its thinking \
     process.";
const ENVIRONMENT: &str = "<environment_context>";

/// How a text begins that an editor or the desktop program wrote around what a
/// person asked for.
const AROUND: &[&str] = &[
    "# Context from my IDE setup:",
    "# Files mentioned by the user:",
    "# Files pasted by the user:",
    "# In app browser:",
    "# Browser comments:",
    "## Referenced chats with Codex:",
];
/// The line before what the person asked for.
const REQUEST: &[&str] = &["## My request for Codex:", "## My request:"];

/// Whether software wrote a text of a person's message. `next` is the text
/// that follows it in the same message.
pub(super) fn is_injected(text: &str, next: Option<&str>) -> bool {
    let text = text.trim();
    MARKED.iter().any(|marks| is_between(text, *marks))
        || WARNINGS.iter().any(|warning| text.starts_with(warning))
        || (opens_with(text, AGENTS)
            && next.is_some_and(|next| next.trim_start().starts_with(ENVIRONMENT)))
}

/// Whether a text of a person's message is context to the tool, with which no
/// turn begins: what software wrote, but for a review.
pub(super) fn is_context(text: &str, next: Option<&str>) -> bool {
    is_injected(text, next) && !is_between(text.trim(), REVIEW)
}

/// What was written around a person's request, and the request. `None` if it
/// stands alone.
pub(super) fn request(text: &str) -> Option<(&str, &str)> {
    let begins = text.trim_start();
    AROUND.iter().find(|head| begins.starts_with(**head))?;
    let mut at = 0;
    let mut lines = text.split_inclusive('\n');
    lines.find_map(|line| {
        let before = text.get(..at)?;
        at += line.len();
        let mark = REQUEST.iter().find(|mark| line.starts_with(**mark))?;
        let request = text.get(before.len() + mark.len()..)?;
        Some((before.trim_end(), request.trim()))
    })
}

/// Whether a text begins and ends with its marks, in either case.
fn is_between(text: &str, (open, close): (&str, &str)) -> bool {
    let at = text.len().checked_sub(close.len());
    let tail = at.and_then(|at| text.get(at..));
    opens_with(text, open) && tail.is_some_and(|tail| tail.eq_ignore_ascii_case(close))
}

fn opens_with(text: &str, mark: &str) -> bool {
    text.get(..mark.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(mark))
}

/// Whether a text is a summary that a compaction left.
pub(super) fn is_summary(text: &str) -> bool {
    text.starts_with(SUMMARY)
}

/// Whether a text only marks where an image begins or ends.
pub(super) fn is_image_tag(text: &str) -> bool {
    let text = text.trim();
    matches!(text, "<image>" | "</image>")
        || (text.starts_with("<image name=") && text.ends_with('>'))
}

/// The directory that an environment text tells.
pub(super) fn directory(text: &str) -> Option<&str> {
    let text = text.trim();
    text.starts_with(ENVIRONMENT).then_some(())?;
    let tagged = text
        .split_once("<cwd>")
        .and_then(|(_, rest)| rest.split_once("</cwd>"))
        .map(|(directory, _)| directory);
    let said = || {
        text.lines()
            .find_map(|line| line.trim().strip_prefix("Current working directory: "))
    };
    tagged
        .or_else(said)
        .map(str::trim)
        .filter(|directory| !directory.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_injected_text_begins_and_ends_with_its_marks() {
        for text in [
            "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>",
            "\n<user_instructions>\n\nBe brief\n\n</user_instructions>\n",
            "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe brief\n</INSTRUCTIONS>",
            "<SUBAGENT_NOTIFICATION>{}</subagent_notification>",
            "<turn_aborted>\nstopped\n</turn_aborted>",
            "<hook_prompt hook_run_id=\"1\">x</hook_prompt>",
            "<permissions instructions>\nnone\n</permissions instructions>",
        ] {
            assert!(is_injected(text, None), "{text}");
        }
    }

    #[test]
    fn a_person_may_write_about_injected_text() {
        for text in [
            "<environment_context> is what?",
            "# AGENTS.md instructions for /w: please write them",
            "why does it say </environment_context>",
            "",
        ] {
            assert!(!is_injected(text, None), "{text}");
        }
    }

    #[test]
    fn instructions_before_an_environment_are_injected_however_they_end() {
        let next = Some("<environment_context>\n</environment_context>");
        assert!(is_injected(
            "# AGENTS.md instructions for /w\n\nBe brief",
            next
        ));
        assert!(!is_injected("Be brief", next));
    }

    #[test]
    fn a_request_is_told_from_what_an_editor_wrote_around_it() {
        let around =
            "# Context from my IDE setup:\n\n## Active file: a.rs\n\n## Open tabs:\n- a.rs";
        for mark in ["## My request for Codex:", "## My request:"] {
            let text = format!("{around}\n\n{mark}\nfix it\n{mark} again\n");
            let asked = format!("fix it\n{mark} again");
            assert_eq!(request(&text), Some((around, &*asked)));
        }
        for alone in [
            around,
            "why does it say\n## My request for Codex:\n",
            "# Context from my IDE setup: `## My request:`",
            "",
        ] {
            assert_eq!(request(alone), None, "{alone}");
        }
    }

    #[test]
    fn with_a_review_a_turn_begins() {
        let review = "<user_action>\n<action>review</action>\n</user_action>";
        assert!(is_injected(review, None));
        assert!(!is_context(review, None));
        assert!(is_context("<skill>\nx\n</skill>", None));
    }

    #[test]
    fn an_environment_tells_its_directory_in_either_form() {
        let tagged = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>";
        let said = "<environment_context>\nCurrent working directory: /w\n</environment_context>";
        assert_eq!(directory(tagged), Some("/w"));
        assert_eq!(directory(said), Some("/w"));
        assert_eq!(directory("<cwd>/w</cwd>"), None);
    }
}
