//! What a list shows of a file is what reading all of it says.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ibid::reference::projection::capture;
use ibid::session::{Role, Title, title};
use ibid::source::{Adapter, ForeignSession, Kind, Listed, Look, Round, Walk, adapters};
use ibid::tool::Tool;

use super::support::files;

fn adapter(tool: Tool) -> &'static dyn Adapter {
    adapters().find(|adapter| adapter.tool() == tool).unwrap()
}

/// The one session that a look finds in a file.
fn look(tool: Tool, file: &Path) -> Listed {
    match adapter(tool).look(file, &Round::default()).unwrap() {
        Look::Sessions(mut listed) if listed.len() == 1 => listed.remove(0),
        other => panic!("{}: {other:?}", file.display()),
    }
}

/// The names that a tool keeps apart from its sessions, in the folders above
/// a file. Of two files that name one session the first counts.
fn names(tool: Tool, file: &Path) -> HashMap<String, Title> {
    let mut names = HashMap::new();
    for folder in file.ancestors().skip(1).take(5) {
        let mut walk = Walk::default();
        adapter(tool).scan(&folder.join("session_index.jsonl"), &mut walk);
        adapter(tool).scan(folder, &mut walk);
        let found = walk.files.iter().filter(|found| found.path != file);
        for found in found {
            if let Ok(Look::Names(named)) = adapter(tool).look(&found.path, &Round::default()) {
                for named in named {
                    names.entry(named.native_id).or_insert(named.title);
                }
            }
        }
    }
    names
}

fn agree(tool: Tool, file: &Path) {
    let Look::Sessions(sessions) = adapter(tool).look(file, &Round::default()).unwrap() else {
        panic!("{}", file.display());
    };
    assert!(!sessions.is_empty());
    let names = names(tool, file);
    for mut listed in sessions {
        if let Some(named) = names.get(&listed.native_id) {
            listed.title = Some(named.clone());
        }
        agree_on(tool, file, &listed);
    }
}

fn agree_on(tool: Tool, file: &Path, listed: &Listed) {
    let name = file.display();
    let read = adapter(tool).read(file, Some(&listed.native_id)).unwrap();
    let header = read.session.header();
    assert_eq!(listed.cwd, header.cwd, "{name}");
    let parent = listed.parent.as_deref().map(|id| tool.session_id(id));
    assert_eq!(parent, header.parent_session, "{name}");
    let conversation = capture(&read.session).conversation;
    if listed.kind != Kind::Stub {
        let is_subagent = listed.kind == Kind::Subagent;
        assert_eq!(is_subagent, read.is_subagent, "{name}");
        assert!(!conversation.is_empty(), "{name}");
    }
    assert_eq!(listed.notices, [], "{name}");
    // A stub's session is read from another file.
    if listed.kind != Kind::Stub {
        assert_eq!(listed.created_at, header.created_at, "{name}");
        agree_on_the_title(listed, &read, &name.to_string());
    }
    if let Some(messages) = listed.messages.filter(|_| listed.kind != Kind::Stub) {
        assert_eq!(
            messages,
            u32::try_from(conversation.len()).unwrap(),
            "{name}"
        );
    }
}

/// A session without a title of its own is listed by its first prompt, which
/// a compaction leaves out of the conversation.
fn agree_on_the_title(listed: &Listed, read: &ForeignSession, name: &str) {
    if let Some(own) = read.session.title() {
        assert_eq!(listed.title.as_ref(), Some(own), "{name}");
        return;
    }
    let conversation = capture(&read.session).conversation;
    if conversation.iter().any(|item| item.checkpoint) {
        return;
    }
    let prompt = conversation.iter().find(|item| item.role == Role::User);
    let expected = prompt.map(|item| title::fallback(&item.text));
    let shown = listed.title.as_ref().map(|title| title.text.clone());
    assert_eq!(shown, expected, "{name}");
}

/// The folder above a file in which its tool keeps all.
fn place(file: &Path, levels: usize) -> PathBuf {
    file.ancestors().nth(levels).unwrap().to_owned()
}

#[test]
fn files_of_claude_code_are_listed_as_they_are_read() {
    for file in files("claude-code") {
        agree(Tool::ClaudeCode, &file);
    }
}

#[test]
fn files_of_gemini_are_listed_as_they_are_read() {
    for file in files("gemini") {
        agree(Tool::Gemini, &file);
    }
}

#[test]
fn files_of_gemini_are_found_and_located_where_it_keeps_them() {
    for file in files("gemini") {
        let place = place(&file, 3);
        let mut walk = Walk::default();
        adapter(Tool::Gemini).scan(&place, &mut walk);
        assert!(walk.files.iter().any(|found| found.path == file));
        let listed = look(Tool::Gemini, &file);
        let located = adapter(Tool::Gemini).locate(&place, &listed.native_id);
        let located = look(Tool::Gemini, &located.unwrap());
        assert_eq!(located.native_id, listed.native_id);
        assert_eq!(located.kind, Kind::Session);
    }
}

#[test]
fn files_of_claude_code_are_found_where_it_keeps_them() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code");
    let mut walk = Walk::default();
    adapter(Tool::ClaudeCode).scan(&fixtures, &mut walk);
    assert!(walk.obstacles.is_empty());
    assert_eq!(walk.files.len(), 3);
    for found in &walk.files {
        let id = found.native_id.as_deref().unwrap();
        assert_eq!(look(Tool::ClaudeCode, &found.path).native_id, id);
        let located = adapter(Tool::ClaudeCode).locate(&fixtures, id);
        assert_eq!(located.as_ref(), Some(&found.path));
    }
}

#[test]
fn files_of_codex_are_listed_as_they_are_read() {
    for file in files("codex") {
        agree(Tool::Codex, &file);
    }
}

#[test]
fn files_of_dsh_are_listed_as_they_are_read() {
    for file in files("dsh") {
        agree(Tool::Dsh, &file);
    }
}

#[test]
fn files_of_opencode_are_listed_as_they_are_read() {
    for file in files("opencode") {
        agree(Tool::Opencode, &file);
    }
}

/// The paths below `root` that a scan of `place` finds, each of which can be
/// found and located again by the id that its name tells.
fn found(tool: Tool, place: &Path, root: &Path) -> Vec<String> {
    let adapter = adapter(tool);
    let mut walk = Walk::default();
    adapter.scan(place, &mut walk);
    assert!(walk.obstacles.is_empty(), "{:?}", walk.obstacles);
    let mut paths = Vec::new();
    for found in &walk.files {
        let id = found.native_id.as_deref().unwrap();
        assert_eq!(look(tool, &found.path).native_id, id);
        let located = adapter.locate(place, id).unwrap();
        assert_eq!(look(tool, &located).native_id, id);
        assert_eq!(adapter.find(place, &found.path).as_ref(), Some(found));
        let path = found.path.strip_prefix(root).unwrap();
        paths.push(path.to_str().unwrap().to_owned());
    }
    paths.sort();
    paths
}

#[test]
fn files_are_found_where_their_tools_keep_them() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for (tool, place) in [
        (Tool::Codex, "codex/v0.171/sessions"),
        (Tool::Codex, "codex/v0.171/archived_sessions"),
        (Tool::Codex, "codex/v0.171-zst/sessions"),
        (Tool::Codex, "codex/v0.171-fork/sessions"),
        (Tool::Codex, "codex/v0.120/sessions"),
        (Tool::Dsh, "dsh/v0-real/sessions"),
        (Tool::Dsh, "dsh/v4-real/sessions"),
        (Tool::Opencode, "opencode/v1.0.152-real"),
    ] {
        let place = fixtures.join(place);
        let found = found(tool, &place, &fixtures);
        let prefix = place.strip_prefix(&fixtures).unwrap();
        let mut expected: Vec<String> = files(tool.name())
            .iter()
            .filter_map(|file| file.strip_prefix(&fixtures).ok())
            .filter(|file| file.starts_with(prefix))
            .map(|file| file.to_str().unwrap().to_owned())
            .collect();
        expected.sort();
        assert_eq!(found, expected, "{}", place.display());
    }
}
