//! Large bodies through `loaderd serve`, up and down: all of them arrive, and the server holds little of them at any time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use ureq::SendBody;

use crate::scratch::Scratch;
use crate::server;

/// How large the bodies are, in bytes.
const BODY_BYTES: u64 = 100 << 20;

/// How much the server may grow while it passes one on, in KiB: far less than the body.
const GROWTH_KIB_MAX: u64 = 48 << 10;

const CONFIG: &str = r#"using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker.js", esModule = embed "worker.js")],
    compatibilityDate = "2026-08-15",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
"#;

const WORKER: &str = r#"export default {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/up') {
      let total = 0;
      for await (const chunk of request.body) total += chunk.byteLength;
      return new Response(`${total}`);
    }
    if (pathname === '/echo') return new Response(request.body.pipeThrough(new TransformStream()));
    let left = Number(searchParams.get('bytes'));
    const stream = new ReadableStream({
      type: 'bytes',
      pull(controller) {
        const size = Math.min(left, 65536);
        if (size === 0) return controller.close();
        left -= size;
        controller.enqueue(new Uint8Array(size).fill(7));
      },
    });
    return new Response(stream);
  },
};
"#;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("streaming::upload", || with_server(upload)),
        Trial::test("streaming::download", || with_server(download)),
        Trial::test("streaming::there_and_back", || with_server(there_and_back)),
        Trial::test("streaming::a_slow_reader_holds_the_source_back", || with_server(slow_reader)),
    ]
}

/// Runs `exchange` against a server that has answered once, and sees how much that made it grow.
fn with_server(exchange: fn(&ureq::Agent, u16, u32) -> Result<(), Failed>) -> Result<(), Failed> {
    let folder = Scratch::new()?;
    folder.write("config.capnp", CONFIG)?;
    folder.write("worker.js", WORKER)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_loaderd"));
    command.args(["serve", "--control-fd=1", "config.capnp"]).current_dir(folder.path());
    let (server, port) = server::start(&mut command)?;
    let agent = ureq::Agent::new_with_defaults();
    agent.get(format!("http://127.0.0.1:{port}/down?bytes=1000000")).call()?.body_mut().read_to_vec()?;

    let before = peak_kib(server.0.id())?;
    exchange(&agent, port, server.0.id())?;
    let growth = peak_kib(server.0.id())?.saturating_sub(before);
    if growth > GROWTH_KIB_MAX {
        return Err(format!("the server grew by {growth} KiB").into());
    }
    Ok(())
}

fn upload(agent: &ureq::Agent, port: u16, _: u32) -> Result<(), Failed> {
    let mut body = std::io::repeat(7).take(BODY_BYTES);
    let url = format!("http://127.0.0.1:{port}/up");
    let counted = agent.post(url).send(SendBody::from_reader(&mut body))?.body_mut().read_to_string()?;
    expect(&counted, &BODY_BYTES.to_string())
}

fn download(agent: &ureq::Agent, port: u16, _: u32) -> Result<(), Failed> {
    let mut answer = agent.get(format!("http://127.0.0.1:{port}/down?bytes={BODY_BYTES}")).call()?;
    let got = std::io::copy(&mut answer.body_mut().as_reader(), &mut std::io::sink())?;
    expect(&got, &BODY_BYTES)
}

/// Both directions at once, which needs a client that does not finish one before it begins the other.
fn there_and_back(_: &ureq::Agent, port: u16, _: u32) -> Result<(), Failed> {
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    let mut sending = socket.try_clone()?;
    let sent = std::thread::spawn(move || {
        write!(sending, "POST /echo HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: {BODY_BYTES}\r\n\r\n")?;
        std::io::copy(&mut std::io::repeat(7).take(BODY_BYTES), &mut sending)
    });
    let got = std::io::copy(&mut socket, &mut std::io::sink())?;
    let sent = sent.join().map_err(|_| "the sender panicked")??;
    // The answer's head and the lengths of its chunks come on top.
    if sent == BODY_BYTES && got > BODY_BYTES { Ok(()) } else { Err(format!("sent {sent}, got {got}").into()) }
}

/// Nobody reads the body for as long as another answer takes; what was made of it stays in the socket's buffers.
fn slow_reader(agent: &ureq::Agent, port: u16, _: u32) -> Result<(), Failed> {
    let mut slow = agent.get(format!("http://127.0.0.1:{port}/down?bytes={BODY_BYTES}")).call()?;
    download(&ureq::Agent::new_with_defaults(), port, 0)?;
    let mut reader = slow.body_mut().as_reader();
    let mut first = [0; 1000];
    reader.read_exact(&mut first)?;
    let rest = std::io::copy(&mut reader, &mut std::io::sink())?;
    expect(&(rest + 1000), &BODY_BYTES)
}

fn expect<T: PartialEq + std::fmt::Debug>(got: &T, expected: &T) -> Result<(), Failed> {
    if got == expected { Ok(()) } else { Err(format!("expected {expected:?}, got {got:?}").into()) }
}

/// The most memory that a process has had so far, in KiB.
fn peak_kib(process: u32) -> Result<u64, Failed> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
