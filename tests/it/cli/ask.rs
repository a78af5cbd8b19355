//! `ibid ask`: one turn without a screen, against a server on loopback.

mod aimock;
mod citing;
mod exits;
mod input;
mod requests;
mod streams;
mod torn;

use std::io::Read as _;
use std::process::{Child, Stdio};

use ibid::model::Api;
use ibid::session::Session;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Ended, Place};
use crate::models::server::{Server, Step};
use crate::models::support::{answer, framed, head};

/// The variable that holds the key of [`settings`].
const KEY_NAME: &str = "IBID_ASK_TEST_KEY";
const KEY: &str = "sk-ask-0123456789";

/// Settings of a provider `NAME` at this address.
fn provider(name: &str, api: Api, url: &str) -> String {
    format!(
        "[providers.{name}]\napi = \"{}\"\nbase-url = \"{url}\"\nproxy = \"\"\n\
         key = {{ env = \"{KEY_NAME}\" }}\n",
        api.as_str()
    )
}

/// A home whose setting is the model `local/m` at this address.
fn place(api: Api, url: &str) -> Place {
    let place = Place::new();
    place.home().create().unwrap();
    let settings = format!("model = \"local/m\"\n{}", provider("local", api, url));
    place.write("home/config.toml", settings);
    place
}

/// A home and the server that answers there, a script a request.
async fn served(api: Api, scripts: Vec<Vec<Step>>) -> (Place, Server) {
    let server = Server::start(scripts).await;
    (place(api, &server.url), server)
}

impl Place {
    /// Asks, with nothing on stdin.
    fn ask(&self, args: &[&str]) -> Ended {
        self.ask_with(args, "")
    }

    fn ask_with(&self, args: &[&str], stdin: impl Into<Vec<u8>>) -> Ended {
        let mut command = self.command();
        let command = command.env(KEY_NAME, KEY).arg("ask").args(args);
        let output = command.write_stdin(stdin).output().unwrap();
        Ended {
            code: output.status.code(),
            out: output.stdout,
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Begins to ask.
    fn asking(&self, args: &[&str]) -> Asking {
        let mut command = self.process();
        command.arg("ask").args(args);
        Self::begun(command)
    }

    /// Begins to ask, started by a shell that has it ignore these signals.
    fn asking_without(&self, signals: &str, args: &[&str]) -> Asking {
        let plain = self.process();
        let mut command = std::process::Command::new("sh");
        let script = format!("trap '' {signals}; exec \"$0\" ask \"$@\"");
        command.args(["-c", &script]).arg(plain.get_program());
        command.args(args);
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = plain.get_current_dir() {
            command.current_dir(folder);
        }
        Self::begun(command)
    }

    fn begun(mut command: std::process::Command) -> Asking {
        let pipes = command
            .env(KEY_NAME, KEY)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Asking(pipes.spawn().unwrap())
    }

    /// The one session that is not `other`, as its log tells.
    fn session_but(&self, other: &[&str]) -> Session {
        let files = ibid::store::list_files(&self.home()).unwrap();
        let ids = files.into_iter().map(|file| file.id.unwrap());
        let mut ids: Vec<_> = ids.filter(|id| !other.contains(&id.as_str())).collect();
        assert_eq!(ids.len(), 1, "{ids:?}");
        self.session(ids.remove(0).as_str())
    }

    fn session(&self, id: &str) -> Session {
        let file = self.home().session_file(&id.into());
        ibid::store::log::read_session(&file).unwrap().session
    }
}

/// A program that asks.
struct Asking(Child);

impl Asking {
    /// Waits until so much of the answer was printed.
    fn prints(&mut self, expected: &str) {
        let mut printed = vec![0; expected.len()];
        let out = self.0.stdout.as_mut().unwrap();
        out.read_exact(&mut printed).unwrap();
        assert_eq!(String::from_utf8(printed).unwrap(), expected);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// The rest of what it prints, once it has ended.
    fn end(self) -> Ended {
        let output = self.0.wait_with_output().unwrap();
        Ended {
            code: output.status.code(),
            out: output.stdout,
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    fn answer(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }

    /// What was told as JSON, an event a line.
    fn events(&self) -> Vec<Value> {
        let lines = self.answer().lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Those of one type.
    fn events_of(&self, kind: &str) -> Vec<Value> {
        let events = self.events().into_iter();
        events.filter(|event| event["type"] == kind).collect()
    }

    /// The id of the session that it told.
    fn session_id(&self) -> String {
        let told = self.err.split("ibid: session ").nth(1).unwrap();
        told.split_whitespace().next().unwrap().to_owned()
    }
}

/// A response of success that stops in the middle and stays open.
fn hanging(api: Api) -> Vec<Step> {
    let (text, _) = answer(api);
    vec![
        Step::Send(head("200 OK", "")),
        Step::Send(framed(api, &text, "\n")),
        Step::Hang,
    ]
}

/// A response of an error.
fn refusing(status: &str, headers: &str, body: &str) -> Vec<Step> {
    vec![
        Step::Send(head(status, headers)),
        Step::Send(body.as_bytes().to_vec()),
    ]
}

/// What came of an answer that did not come to its end.
fn attempts(session: &Session) -> Vec<String> {
    let events = session.events().iter();
    let attempts = events.filter_map(|event| match &event.payload {
        ibid::session::Payload::LogOnly { kind, data } if kind == ibid::chat::ATTEMPT => {
            Some(data["text"].as_str().unwrap_or_default().to_owned())
        }
        _ => None,
    });
    attempts.collect()
}

/// The texts of a session's surface.
fn texts(session: &Session) -> Vec<String> {
    let messages = session.derive_messages();
    messages.map(ibid::session::Message::text).collect()
}
