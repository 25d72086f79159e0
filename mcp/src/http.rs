//! The bridge over HTTP, for the conformance suite alone: on loopback, for whoever connects, without the bounds of the real
//! transport. Built by the feature `loopback-http`, which no release has.
//!
//! Its first line tells the address; it serves until it is killed.

mod arguments;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use brattice_mcp::{Bridge, Handler};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

/// The exit status when the bridge itself failed.
const FAILED: u8 = 125;

fn main() -> ExitCode {
    let place = match arguments::read() {
        Ok(place) => place,
        Err(Ok(told)) => return told,
        Err(Err(unresolved)) => return report(&unresolved),
    };
    let serving = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Box::from)
        .and_then(|runtime| runtime.block_on(serve(place)));
    match serving {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(error.as_ref()),
    }
}

async fn serve(place: brattice_mcp::Place) -> Result<(), Box<dyn Error>> {
    let bridge = Arc::new(Bridge::open(place).await?);
    let service = StreamableHttpService::new(
        move || Ok(Handler(bridge.clone())),
        Arc::<LocalSessionManager>::default(),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            // A client that hangs up is no failure.
            let served = Builder::new(TokioExecutor::new());
            drop(served.serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

fn report(error: &(impl Error + ?Sized)) -> ExitCode {
    eprintln!("brattice-mcp-http: {error}");
    ExitCode::from(FAILED)
}
