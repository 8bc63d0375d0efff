//! A client's connection joined with the end that a Worker returned.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use loaderd_runtime::rpc::{Call, Op, Reply, RpcError, plain::Plain};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;

use super::codec::{Incoming, ReadError, Reader, Role, Writer};
use super::frame::Frame;
use super::{Deflate, LARGE_MESSAGE_BYTES_MAX, WebSocketEnd};

/// How long a client may take to answer a Close frame.
const CLOSE_ANSWER_MAX: Duration = Duration::from_secs(30);

/// How long the last frame of a connection that failed may take to be written.
const FAREWELL_MAX: Duration = Duration::from_secs(1);

/// Why a bridge ends.
enum End {
    /// Both sides have closed, or the client is gone.
    Quiet,
    /// The Worker's side is gone without a word.
    WorkerLost,
    /// The client broke the protocol.
    Protocol { code: u16, what: String },
}

/// Which directions are closed. One task looks after both, so nothing is ordered by these.
#[derive(Default)]
struct Closed {
    by_client: AtomicBool,
    by_worker: AtomicBool,
}

/// Carries frames both ways until both sides have closed or one is gone. When `stop` completes, both are told.
pub(crate) async fn bridge<S>(io: S, end: WebSocketEnd, deflate: Option<Deflate>, stop: impl Future<Output = ()>)
where
    S: AsyncRead + AsyncWrite,
{
    let (read_half, write_half) = tokio::io::split(io);
    let mut reader = Reader::new(Box::pin(read_half), Role::Server, deflate);
    let writer = Mutex::new(Writer::new(Box::pin(write_half), Role::Server, deflate));
    let closed = Closed::default();
    let farewell = {
        let to_client = to_client(&end, &writer, &closed);
        let to_worker = to_worker(&end, &mut reader, &writer, &closed);
        tokio::pin!(to_client, to_worker, stop);
        tokio::select! {
            ended = &mut to_client => match ended {
                // The Worker has closed: what is left is the client's answer.
                End::Quiet if !closed.by_client.load(Relaxed) => tokio::select! {
                    ended = &mut to_worker => farewell(&end, ended).await,
                    () = tokio::time::sleep(CLOSE_ANSWER_MAX) => None,
                    () = &mut stop => None,
                },
                ended => farewell(&end, ended).await,
            },
            ended = &mut to_worker => farewell(&end, ended).await,
            () = &mut stop => Some((1001, "The server is going away.".to_owned())),
        }
    };
    let mut writer = writer.into_inner();
    let _late = tokio::time::timeout(FAREWELL_MAX, async {
        if let Some((code, reason)) = farewell {
            // It may be gone already.
            let _ = writer.close(code, &reason).await;
        }
        writer.shut_down().await;
    })
    .await;
}

/// What the client is told last, if anything; tells the Worker of a client that broke the protocol.
async fn farewell(end: &WebSocketEnd, ended: End) -> Option<(u16, String)> {
    match ended {
        End::Quiet => None,
        End::WorkerLost => Some((1011, "The Worker is gone.".to_owned())),
        End::Protocol { code, what } => {
            let frame = Frame::Error(protocol_error(code, &what));
            // A Worker that reads no more must not keep the connection.
            let _unread = tokio::time::timeout(FAREWELL_MAX, send(end, frame)).await;
            Some((code, what))
        }
    }
}

/// The platform's words for what the other end did wrong.
pub(super) fn protocol_error(code: u16, what: &str) -> String {
    format!("WebSocket protocol error; protocolError.statusCode = {code}; protocolError.description = {what}")
}

async fn to_client<W: AsyncWrite + Unpin>(end: &WebSocketEnd, writer: &Mutex<Writer<W>>, closed: &Closed) -> End {
    loop {
        let frame = receive(end).await;
        if matches!(frame, Frame::Error(_) | Frame::Lost) {
            return End::WorkerLost;
        }
        let last = matches!(frame, Frame::Close { .. });
        let written = writer.lock().await.frame(&frame).await;
        if written.is_err() || last {
            closed.by_worker.store(true, Relaxed);
            return End::Quiet;
        }
    }
}

async fn to_worker<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    end: &WebSocketEnd,
    reader: &mut Reader<R>,
    writer: &Mutex<Writer<W>>,
    closed: &Closed,
) -> End {
    loop {
        match reader.next(end.message_bytes_max.min(LARGE_MESSAGE_BYTES_MAX)).await {
            Ok(Incoming::Ping(payload)) => {
                if writer.lock().await.pong(&payload).await.is_err() {
                    return End::Quiet;
                }
            }
            Ok(Incoming::Frame(frame)) => {
                let last = matches!(frame, Frame::Close { .. });
                if !send(end, frame).await {
                    return End::WorkerLost;
                }
                if last {
                    closed.by_client.store(true, Relaxed);
                    if !closed.by_worker.load(Relaxed) {
                        // It may still read what the Worker has to say.
                        reader.drain().await;
                    }
                    return End::Quiet;
                }
            }
            Err(ReadError::Lost) => return End::Quiet,
            Err(ReadError::Protocol { code, what }) => return End::Protocol { code, what },
        }
    }
}

async fn receive(end: &WebSocketEnd) -> Frame {
    let Ok(arguments) = Plain::arguments(vec![Plain::Number(LARGE_MESSAGE_BYTES_MAX as f64)]) else {
        return Frame::Lost;
    };
    let (reply, answer) = Reply::channel();
    // Nothing is pipelined on a frame.
    drop(end.target.call(Call::new(vec!["receive".to_owned()], Op::Call(arguments)), reply));
    answer.await.map_or(Frame::Lost, Frame::from_answer)
}

/// Whether the Worker took it.
async fn send(end: &WebSocketEnd, frame: Frame) -> bool {
    let sent: Result<_, RpcError> = frame.to_arguments();
    let Ok(arguments) = sent else { return false };
    let (reply, answer) = Reply::channel();
    drop(end.target.call(Call::new(vec!["send".to_owned()], Op::Call(arguments)), reply));
    answer.await.is_ok_and(|answer| answer.result.is_ok())
}
