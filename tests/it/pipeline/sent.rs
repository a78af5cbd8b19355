//! What a model server received is what the log gives again, byte for byte,
//! whatever became of the conversation.

use std::sync::Arc;

use ibid::chat::{TitlePolicy, requests};
use ibid::model::{Api, Chosen};
use ibid::reference::ports::ModelRoute;

use super::*;
use crate::models::server::Server;
use crate::models::support::{endpoint, provider, whole};

/// Services whose one model is asked of this server, and that model.
fn asking(place: &Place, api: Api, server: &Server) -> (Services, Chosen) {
    let models = Models::new().with(Arc::new(provider(endpoint(api, &server.url))));
    let route = ModelRoute {
        provider: "p".to_owned(),
        model: "m".to_owned(),
    };
    let chosen = models.choose(&route);
    let services = Services {
        models,
        ..place.services(Duration::ZERO)
    };
    (services, chosen)
}

#[tokio::test]
async fn through_titles_compaction_and_a_restart() {
    for api in Api::ALL {
        let place = Place::new();
        // Three answers, a title, a summary, and an answer before and after
        // the restart.
        let server = Server::start(vec![whole(api); 7]).await;
        let (services, chosen) = asking(&place, api, &server);
        let (slot, file, _) = begin(&place.home, Some("/work".to_owned())).unwrap();
        let mut bench = Bench::over(services, slot, file, ReviewPolicy::Never);
        bench.chat = bench.chat.with_titles(TitlePolicy::FromModel);
        bench.on(ChatEvent::UseModel(chosen));
        for turn in 1..=3 {
            bench.send(Draft::from_text(format!("question \"{turn}\"")));
            bench.until_idle().await;
        }
        bench.on(ChatEvent::Compact(Some("the questions".to_owned())));
        bench.until_idle().await;
        bench.send(Draft::from_text("question 4"));
        bench.until_idle().await;
        assert_eq!(bench.codes(), [""; 0], "{api:?}");
        let id = bench.chat.session().id().clone();
        bench.end().await;

        let (services, chosen) = asking(&place, api, &server);
        let (writer, _) = SessionWriter::open(&place.home, &id).unwrap();
        let file = DraftFile::hold(&place.home, id, Some("/work".to_owned())).unwrap();
        let slot = Slot::Stored(Box::new(writer));
        let mut bench = Bench::over(services, slot, file, ReviewPolicy::Never);
        bench.on(ChatEvent::UseModel(chosen));
        bench.send(Draft::from_text("question 5"));
        bench.until_idle().await;
        let stored = place.stored(bench.chat.session());
        bench.end().await;

        let text = |body: Vec<u8>| String::from_utf8(body).unwrap();
        let mut received: Vec<_> = server
            .received()
            .into_iter()
            .map(|r| text(r.body))
            .collect();
        let mut again: Vec<_> = requests(&stored)
            .iter()
            .map(|request| text(request.body().unwrap()))
            .collect();
        assert_eq!(received.len(), 7, "{api:?}");
        // A title is asked for beside all else, and may come a little later.
        received.sort();
        again.sort();
        assert_eq!(again, received, "{api:?}");
    }
}
