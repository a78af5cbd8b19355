//! Makes the first inputs: every file that some tool wrote, below the
//! project's fixtures and the folders that are named, alone and together with
//! those around it.

use std::fs;
use std::path::{Path, PathBuf};

use ibid::source::detect;
use ibid::tool::Tool;
use ibid_fuzz::{Part, default_path, frame};

/// The largest file that becomes a part of an input, in bytes.
const MAX_BYTES: u64 = 200 << 10;
/// How many files of a folder become one input.
const MAX_TOGETHER: usize = 24;

fn main() -> std::io::Result<()> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = fuzz.join("../tests/fixtures");
    let given = std::env::args_os().skip(1).map(PathBuf::from);
    let mut made = 0;
    for folder in std::iter::once(own).chain(given) {
        // `<tool>/<home>/…` is how fixtures lie.
        for home in folders(&folder).iter().flat_map(|tool| folders(tool)) {
            made += seeds_of(&home, &fuzz.join("corpus"))?;
        }
    }
    println!("{made} inputs");
    Ok(())
}

/// Makes the inputs of one home.
fn seeds_of(home: &Path, corpus: &Path) -> std::io::Result<usize> {
    let mut all = files(home);
    all.retain(|path| fs::metadata(path).is_ok_and(|file| file.len() <= MAX_BYTES));
    let mut made = 0;
    let mut of = None;
    let name = |bytes: &[u8]| format!("{:08x}-{}", bytes.len(), made_of(home));
    for path in &all {
        let is_sql = path.extension().is_some_and(|end| end == "sql");
        let tool = match detect::read_file(path) {
            Ok(session) => session.tool,
            Err(_) if is_sql => Tool::Opencode,
            Err(_) => continue,
        };
        of = of.or(Some(tool));
        let bytes = fs::read(path)?;
        let folder = corpus.join(target(tool));
        fs::create_dir_all(&folder)?;
        let mut part = Part {
            path: place(tool, home, path),
            bytes,
        };
        for end in ["", ".zst"] {
            let input = frame(std::slice::from_ref(&part));
            fs::write(folder.join(name(&input)), &input)?;
            made += 1;
            if !matches!(tool, Tool::Codex | Tool::Dsh) || !end.is_empty() {
                break;
            }
            let more = if tool == Tool::Dsh { ".zstd" } else { ".zst" };
            part.path.as_mut_os_string().push(more);
        }
    }
    let Some(tool) = of.filter(|_| all.len() > 1) else {
        return Ok(made);
    };
    let parts = all.iter().take(MAX_TOGETHER).map(|path| {
        Ok(Part {
            path: place(tool, home, path),
            bytes: fs::read(path)?,
        })
    });
    let input = frame(&parts.collect::<std::io::Result<Vec<_>>>()?);
    fs::write(corpus.join(target(tool)).join(name(&input)), &input)?;
    Ok(made + 1)
}

fn made_of(home: &Path) -> String {
    let name = home.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn target(tool: Tool) -> &'static str {
    match tool {
        Tool::ClaudeCode => "claude_code",
        other => other.name(),
    }
}

/// Where in a home a file lies, as its tool would have it.
fn place(tool: Tool, home: &Path, path: &Path) -> PathBuf {
    let within = path.strip_prefix(home).unwrap_or(path);
    let text = within.to_string_lossy();
    let root = match tool {
        Tool::ClaudeCode if text.starts_with("projects/") => ".claude",
        Tool::ClaudeCode => ".claude/projects/-p",
        Tool::Codex if text.contains('/') || text == "session_index.jsonl" => ".codex",
        Tool::Codex => return default_path(tool).into(),
        Tool::Gemini => ".gemini",
        Tool::Opencode => ".local/share/opencode",
        _ if text.starts_with("sessions/") || text.starts_with("storages/") => ".dsh",
        _ if text.contains('/') => ".dsh/sessions",
        _ => return default_path(tool).into(),
    };
    Path::new(root).join(within)
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut all = entries(folder);
    all.retain(|path| path.is_dir());
    all
}

/// Every file below a folder, in one order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push(path);
        }
    }
    all
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    all.sort();
    all
}
