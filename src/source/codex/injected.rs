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
    ("<user_action>", "</user_action>"),
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

/// Whether software wrote a text of a person's message. `next` is the text
/// that follows it in the same message.
pub(super) fn is_injected(text: &str, next: Option<&str>) -> bool {
    let text = text.trim();
    let opens_with = |mark: &str| {
        text.get(..mark.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(mark))
    };
    let closes_with = |mark: &str| {
        let at = text.len().checked_sub(mark.len());
        at.and_then(|at| text.get(at..))
            .is_some_and(|tail| tail.eq_ignore_ascii_case(mark))
    };
    MARKED
        .iter()
        .any(|(open, close)| opens_with(open) && closes_with(close))
        || WARNINGS.iter().any(|warning| text.starts_with(warning))
        || (opens_with(AGENTS)
            && next.is_some_and(|next| next.trim_start().starts_with(ENVIRONMENT)))
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
    fn an_environment_tells_its_directory_in_either_form() {
        let tagged = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>";
        let said = "<environment_context>\nCurrent working directory: /w\n</environment_context>";
        assert_eq!(directory(tagged), Some("/w"));
        assert_eq!(directory(said), Some("/w"));
        assert_eq!(directory("<cwd>/w</cwd>"), None);
    }
}
