//! Which way a question to a server takes: the proxy of the settings, that of
//! the environment, or none.

use serde_json::Value;

use super::{Ended, Place};
use crate::support::tls::{Authority, Kind, Site};

/// The variables that name a proxy or the hosts that need none.
const VARIABLES: [&str; 8] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
];

/// The name of a host that no name server knows.
const FAR: &str = "llm.invalid";

fn list() -> Vec<u8> {
    let body = r#"{"data":[{"id":"far"}]}"#;
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").into()
}

/// A home with a provider, and a proxy that answers for every host.
struct Way {
    place: Place,
    proxy: Site,
}

impl Way {
    fn to(base_url: &str, settings: &str) -> Self {
        let authority = Authority::new();
        let place = Place::new();
        place.home().create().unwrap();
        let ca_file = place.write("own.pem", authority.pem());
        let proxy = Site::start(Kind::Proxy(authority.vouch_for(FAR)), list());
        let settings = settings.replace("PROXY", &format!("http://{}", proxy.address));
        place.write(
            "home/config.toml",
            format!(
                "[providers.own]\napi = \"openai-chat\"\nbase-url = \"{base_url}\"\n\
                 ca-file = \"{ca_file}\"\n{settings}\n"
            ),
        );
        Self { place, proxy }
    }

    /// Asks the provider for its models, in this environment, in which `PROXY`
    /// stands for the proxy's address.
    fn ask(&self, environment: &[(&str, &str)]) -> Ended {
        let mut command = self.place.command();
        for name in VARIABLES {
            command.env_remove(name);
        }
        let address = format!("http://{}", self.proxy.address);
        for (name, value) in environment {
            command.env(name, value.replace("PROXY", &address));
        }
        let args = ["models", "update", "--provider", "own", "--json"];
        let output = command.args(args).output().unwrap();
        Ended {
            code: output.status.code(),
            out: output.stdout,
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

#[track_caller]
fn assert_told(ended: Ended) {
    let told: Value = ended.json();
    assert_eq!(told["providers"][0]["models"], 1, "{told}");
}

/// Nobody answered; gives what is told of it.
#[track_caller]
fn unreached(ended: &Ended) -> String {
    let error: Value = serde_json::from_str(&ended.err).unwrap();
    assert_eq!(error["error"]["code"], "MODEL_NETWORK", "{error}");
    error["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn the_proxy_of_the_environment_is_asked_for_a_host_over_tls() {
    let way = Way::to("https://llm.invalid/v1", "");
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        assert_told(way.ask(&[(variable, "PROXY")]));
        let heads = way.proxy.heads();
        let [.., connect, get] = heads.as_slice() else {
            panic!("{heads:?}");
        };
        assert!(connect.starts_with("connect llm.invalid:443 "), "{connect}");
        assert!(get.starts_with("get /v1/models "), "{get}");
    }
}

#[test]
fn the_proxy_of_the_environment_is_asked_for_a_plain_host() {
    let way = Way::to("http://llm.invalid/v1", "");
    assert_told(way.ask(&[("HTTP_PROXY", "PROXY")]));
    let heads = way.proxy.heads();
    assert!(
        heads[0].starts_with("get http://llm.invalid/v1/models "),
        "{heads:?}"
    );
    unreached(&way.ask(&[("HTTPS_PROXY", "PROXY")]));
    assert_eq!(way.proxy.heads().len(), 1, "that one is for TLS alone");
}

#[test]
fn a_host_that_needs_no_proxy_is_asked_directly() {
    let way = Way::to("https://llm.invalid/v1", "");
    for hosts in ["llm.invalid", ".invalid", "*", "localhost,llm.invalid"] {
        unreached(&way.ask(&[("HTTPS_PROXY", "PROXY"), ("NO_PROXY", hosts)]));
    }
    assert!(way.proxy.heads().is_empty());
}

#[test]
fn the_proxy_of_the_settings_is_asked_before_that_of_the_environment() {
    let way = Way::to("https://llm.invalid/v1", "proxy = \"PROXY\"");
    assert_told(way.ask(&[("HTTPS_PROXY", "http://127.0.0.1:1")]));
    assert_eq!(way.proxy.heads().len(), 2);
    let none = Way::to("https://llm.invalid/v1", "proxy = \"\"");
    unreached(&none.ask(&[("HTTPS_PROXY", "PROXY")]));
    assert!(none.proxy.heads().is_empty());
}

#[test]
fn a_server_on_this_machine_is_asked_directly_unless_the_settings_name_a_proxy() {
    let here = Site::start(Kind::Plain, list());
    let address = format!("http://{}/v1", here.address);
    let every = [("HTTP_PROXY", "PROXY"), ("ALL_PROXY", "PROXY")];
    let way = Way::to(&address, "");
    assert_told(way.ask(&every));
    assert!(way.proxy.heads().is_empty());
    assert_eq!(here.heads().len(), 1);

    let way = Way::to(&address, "proxy = \"PROXY\"");
    assert_told(way.ask(&[]));
    assert_eq!(way.proxy.heads().len(), 1);
    assert_told(way.ask(&[("NO_PROXY", "127.0.0.1")]));
    assert_eq!(way.proxy.heads().len(), 1);
    assert_eq!(here.heads().len(), 2);
}

#[test]
fn a_proxy_that_is_not_there_is_told() {
    let way = Way::to("https://llm.invalid/v1", "");
    let message = unreached(&way.ask(&[("HTTPS_PROXY", "http://127.0.0.1:1")]));
    assert!(message.contains("the proxy"), "{message}");
}
