//! What a list shows of a session is what reading all of it tells.

use std::collections::HashMap;
use std::path::Path;

use ibid::reference::projection::capture;
use ibid::source::{Adapter, Kind, Listed, Look, Walk, adapters};

use super::support::{Expected, expectations};

/// What the tool keeps apart from the session in the folders above a file:
/// names, and whether a scan of one of them finds the file.
fn around(adapter: &dyn Adapter, file: &Path) -> (HashMap<String, String>, bool) {
    let (mut names, mut is_found) = (HashMap::new(), false);
    for place in file.ancestors().skip(1).take(6) {
        let mut walk = Walk::default();
        adapter.scan(place, &mut walk);
        let beside = place.join("session_index.jsonl");
        adapter.scan(&beside, &mut walk);
        // The first file that has a name for a session wins.
        walk.files.sort_by(|a, b| a.path.cmp(&b.path));
        for found in walk.files {
            if found.path == file {
                is_found = true;
                assert_eq!(adapter.find(place, file), Some(found));
            } else if !found.path.ends_with("opencode.db")
                && let Ok(Look::Names(named)) = adapter.look(&found.path)
            {
                for named in named {
                    names.entry(named.native_id).or_insert(named.title.text);
                }
            }
        }
    }
    (names, is_found)
}

fn check(adapter: &dyn Adapter, root: &Path, expected: &Expected) {
    let name = &expected.file;
    let path = root.join(name);
    let id = &expected.session_id;
    let read = adapter.read(&path, Some(id));
    let read = read.unwrap_or_else(|e| panic!("{name}: {e}"));
    let Look::Sessions(listed) = adapter.look(&path).unwrap() else {
        panic!("{name}: no sessions");
    };
    let listed: &Listed = listed
        .iter()
        .find(|listed| listed.native_id == *id)
        .unwrap_or_else(|| panic!("{name}: {id} is not listed"));
    let (names, is_found) = around(adapter, &path);
    // Some samples lie where the tool would not put them.
    let is_at_home = name.contains("-real/") || name.contains("-fork/");
    assert!(is_found || !is_at_home, "{name} is not found");

    let header = read.session.header();
    assert_eq!(listed.cwd, header.cwd, "{name}");
    assert_eq!(listed.created_at, header.created_at, "{name}");
    let parent = listed.parent.as_ref();
    let parent = parent.map(|parent| read.tool.session_id(parent));
    assert_eq!(parent, header.parent_session, "{name}");
    let conversation = capture(&read.session).conversation;
    let kind = match (conversation.is_empty(), read.is_subagent) {
        (true, _) => Kind::Stub,
        (false, true) => Kind::Subagent,
        (false, false) => Kind::Session,
    };
    assert_eq!(listed.kind, kind, "{name}");
    let notices: Vec<String> = listed.notices.iter().map(ToString::to_string).collect();
    assert_eq!(notices, [""; 0], "{name}");
    if let Some(updated_at) = listed.updated_at {
        assert!(updated_at >= listed.created_at, "{name}");
    }
    let shown = names.get(id).cloned();
    let own = listed.title.as_ref().map(|title| title.text.clone());
    // A compaction can take the first prompt away; the list goes by it still.
    let is_compacted = conversation.iter().any(|item| item.checkpoint);
    if read.session.title().is_some() || !is_compacted {
        assert_eq!(shown.or(own), read.session.display_title(), "{name}");
    }
    if let (Some(own), Some(title)) = (&listed.title, read.session.title())
        && !names.contains_key(id)
    {
        assert_eq!(own, title, "{name}");
    }
}

fn check_tool(tool: &str) {
    let adapter = adapters().find(|adapter| adapter.tool().name() == tool);
    let adapter = adapter.unwrap();
    let mut count = 0;
    for (root, expected) in expectations(tool) {
        check(adapter, &root, &expected);
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn sessions_of_codex_are_listed_as_they_are_read() {
    check_tool("codex");
}

#[test]
fn sessions_of_opencode_are_listed_as_they_are_read() {
    check_tool("opencode");
}

#[test]
fn sessions_of_dsh_are_listed_as_they_are_read() {
    check_tool("dsh");
}
