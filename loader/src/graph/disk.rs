//! A folder as a service: GET and HEAD of files and listings, PUT and DELETE where it is writable.

use std::any::Any;
use std::io::SeekFrom;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use loaderd_runtime::rpc::{Call, Capability, Reply, RpcError};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::config::DiskDirectory;
use crate::fetch::{Body, FetchRequest, FetchResponse, header};

/// Entries of a folder that one listing has.
const LISTING_MAX: usize = 100_000;

pub(super) fn service(
    name: &str,
    config: &DiskDirectory,
    tasks: &tokio::runtime::Handle,
) -> Result<Arc<dyn Capability>, String> {
    let root = config.path.clone().ok_or("the disk service has no path.")?;
    if !root.is_dir() {
        return Err(format!("Directory named \"{name}\" not found: {}", root.display()));
    }
    let folder = Folder { root, writable: config.writable, dotfiles: config.allow_dotfiles };
    Ok(Arc::new(Disk { folder: Arc::new(folder), tasks: tasks.clone() }))
}

struct Disk {
    folder: Arc<Folder>,
    tasks: tokio::runtime::Handle,
}

struct Folder {
    root: PathBuf,
    writable: bool,
    dotfiles: bool,
}

impl Capability for Disk {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        match FetchRequest::from_call(&call) {
            None => {
                let message = "The RPC receiver does not implement the method: this service is not a Worker.";
                reply.send(Err(RpcError::new("TypeError", message)));
            }
            Some(Err(error)) => reply.send(Err(error.to_rpc())),
            Some(Ok(request)) => {
                let folder = Arc::clone(&self.folder);
                self.tasks.spawn(async move {
                    let response = folder.serve(request).await.unwrap_or_else(|error| of_error(&error));
                    reply.send(response.into_answer());
                });
            }
        }
        None
    }

    fn counts_as_subrequest(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A status that says all there is to say.
fn refusal(status: u16, text: &str) -> FetchResponse {
    let body = Body::Bytes(Bytes::copy_from_slice(text.as_bytes()));
    FetchResponse { status, status_text: text.into(), headers: Vec::new(), body, web_socket: None }
}

fn of_error(error: &std::io::Error) -> FetchResponse {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => refusal(404, "Not Found"),
        _ => refusal(500, "Internal Server Error"),
    }
}

impl Folder {
    async fn serve(&self, request: FetchRequest) -> std::io::Result<FetchResponse> {
        let Some(path) = self.resolve(&request.url) else {
            return Ok(refusal(404, "Not Found"));
        };
        match (request.method.as_str(), self.writable) {
            ("GET", _) => {
                let range = header(&request.headers, "range");
                self.get(&path, Wanted::Content { range }).await
            }
            ("HEAD", _) => self.get(&path, Wanted::Head).await,
            ("PUT", true) => put(&path, request.body).await,
            ("DELETE", true) => {
                let metadata = tokio::fs::symlink_metadata(&path).await?;
                if metadata.is_dir() {
                    tokio::fs::remove_dir_all(&path).await
                } else {
                    tokio::fs::remove_file(&path).await
                }?;
                Ok(FetchResponse {
                    status: 204,
                    status_text: "No Content".into(),
                    headers: Vec::new(),
                    body: Body::Empty,
                    web_socket: None,
                })
            }
            ("PUT" | "DELETE", false) => Ok(refusal(405, "Method Not Allowed")),
            _ => Ok(refusal(501, "Not Implemented")),
        }
    }

    /// The file that a URL means, always inside the folder.
    fn resolve(&self, url: &str) -> Option<PathBuf> {
        let url = url::Url::parse(url).ok()?;
        let mut path = self.root.clone();
        for segment in url.path_segments()? {
            let decoded = percent_decode(segment)?;
            if decoded.is_empty() {
                continue;
            }
            let mut components = Path::new(&decoded).components();
            // One plain name: neither `..` nor a separator in disguise.
            let (Some(Component::Normal(name)), None) = (components.next(), components.next()) else { return None };
            if decoded.contains('\0') || (decoded.starts_with('.') && !self.dotfiles) {
                return None;
            }
            path.push(name);
        }
        Some(path)
    }

    async fn get(&self, path: &Path, wanted: Wanted<'_>) -> std::io::Result<FetchResponse> {
        let metadata = tokio::fs::metadata(path).await?;
        if metadata.is_dir() {
            let listing = self.listing(path).await?;
            let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
            headers.extend(last_modified(&metadata));
            return Ok(ok(headers, wanted, Body::Bytes(listing)));
        }
        if !metadata.is_file() {
            return Ok(FetchResponse::text(406, "Not Acceptable", "Not a regular file or directory."));
        }
        let length = metadata.len();
        let part = match wanted {
            Wanted::Content { range: Some(range) } => part(range, length),
            _ => Part::Whole,
        };
        let mut headers = vec![("Content-Type".to_owned(), "application/octet-stream".to_owned())];
        headers.extend(last_modified(&metadata));
        let (from, to) = match part {
            Part::Whole => (0, length),
            Part::Between(from, to) => {
                headers.push(("Content-Range".to_owned(), format!("bytes {from}-{}/{length}", to - 1)));
                (from, to)
            }
            Part::None => {
                let headers = vec![("Content-Range".to_owned(), format!("bytes */{length}"))];
                return Ok(FetchResponse { headers, ..refusal(416, "Range Not Satisfiable") });
            }
        };
        headers.push(("Content-Length".to_owned(), (to - from).to_string()));
        let body = match wanted {
            Wanted::Head => Body::Empty,
            Wanted::Content { .. } => {
                let mut file = tokio::fs::File::open(path).await?;
                file.seek(SeekFrom::Start(from)).await?;
                let bytes = file.take(to - from);
                let stream = tokio_util::io::ReaderStream::with_capacity(bytes, crate::fetch::CHUNK_BYTES_MAX);
                let frames = futures::StreamExt::map(stream, |chunk| chunk.map(http_body::Frame::data));
                Body::from_http(http_body_util::StreamBody::new(Box::pin(frames)), &tokio::runtime::Handle::current())
                    .with_length(to - from)
            }
        };
        let response = ok(headers, wanted, body);
        Ok(match part {
            Part::Between(..) => FetchResponse { status: 206, status_text: "Partial Content".into(), ..response },
            Part::Whole | Part::None => response,
        })
    }

    async fn listing(&self, path: &Path) -> std::io::Result<Bytes> {
        let mut entries = Vec::new();
        let mut folder = tokio::fs::read_dir(path).await?;
        while let Some(entry) = folder.next_entry().await? {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entries.len() >= LISTING_MAX || (name.starts_with('.') && !self.dotfiles) {
                continue;
            }
            let kind = entry.file_type().await?;
            let kind = match kind {
                kind if kind.is_file() => "file",
                kind if kind.is_dir() => "directory",
                kind if kind.is_symlink() => "symlink",
                _ => "other",
            };
            entries.push((name, kind));
        }
        entries.sort_unstable();
        let entries = entries.iter().map(|(name, kind)| serde_json::json!({ "name": name, "type": kind }));
        Ok(serde_json::Value::Array(entries.collect()).to_string().into())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted<'r> {
    Head,
    Content {
        /// The request's `Range`.
        range: Option<&'r str>,
    },
}

/// Which bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    /// From the first one to before the second one.
    Between(u64, u64),
    None,
}

/// What a `Range` asks of a file of this length (RFC 9110, section 14). Several ranges are answered with the whole.
fn part(range: &str, length: u64) -> Part {
    let Some((unit, set)) = range.split_once('=') else { return Part::None };
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return Part::None;
    }
    if set.contains(',') {
        return Part::Whole;
    }
    let between = match set.split_once('-').map(|(first, last)| (first.trim(), last.trim())) {
        Some(("", last)) => last.parse().map(|last: u64| (length - last.min(length), length)),
        Some((first, "")) => first.parse().map(|first| (first, length)),
        Some((first, last)) => first.parse().and_then(|first| {
            let last: u64 = last.parse()?;
            Ok((first, last.saturating_add(1).min(length)))
        }),
        None => return Part::None,
    };
    match between {
        Ok((from, to)) if from >= to => Part::None,
        Ok((0, to)) if to == length => Part::Whole,
        Ok((from, to)) => Part::Between(from, to),
        Err(_) => Part::None,
    }
}

fn last_modified(metadata: &std::fs::Metadata) -> Option<(String, String)> {
    let modified = metadata.modified().ok()?;
    Some(("Last-Modified".to_owned(), httpdate::fmt_http_date(modified)))
}

fn ok(headers: Vec<(String, String)>, wanted: Wanted<'_>, body: Body) -> FetchResponse {
    let body = if wanted == Wanted::Head { Body::Empty } else { body };
    FetchResponse { status: 200, status_text: "OK".into(), headers, body, web_socket: None }
}

/// Writes beside the file first, so that readers see the old content or the new.
async fn put(path: &Path, body: Body) -> std::io::Result<FetchResponse> {
    if let Some(parent) = path.parent() {
        tokio::fs::create_dir_all(parent).await?;
    }
    let Some(name) = path.file_name() else {
        return Ok(refusal(403, "Unauthorized"));
    };
    let beside = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), uuid::Uuid::new_v4()));
    let written = write(&beside, body).await;
    let written = match written {
        Ok(()) => tokio::fs::rename(&beside, path).await,
        Err(error) => Err(error),
    };
    if let Err(error) = written {
        // What is left of it is in nobody's way if it cannot be removed.
        let _left = tokio::fs::remove_file(&beside).await;
        return Err(error);
    }
    Ok(FetchResponse {
        status: 204,
        status_text: "No Content".into(),
        headers: Vec::new(),
        body: Body::Empty,
        web_socket: None,
    })
}

async fn write(path: &Path, body: Body) -> std::io::Result<()> {
    let mut file = tokio::fs::File::create(path).await?;
    let mut body = body.into_http();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(std::io::Error::other)?;
        if let Ok(bytes) = frame.into_data() {
            file.write_all(&bytes).await?;
        }
    }
    file.flush().await
}

/// `None` where what comes out is not UTF-8.
fn percent_decode(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        match (byte, after.get(..2).and_then(hex)) {
            (b'%', Some(decoded)) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Part, part};

    /// As workerd answers.
    #[test]
    fn ranges_of_ten_bytes() {
        let cases = [
            ("bytes=0-0", Part::Between(0, 1)),
            ("bytes=2-", Part::Between(2, 10)),
            ("bytes=9-", Part::Between(9, 10)),
            ("bytes=-3", Part::Between(7, 10)),
            ("bytes= 1-2", Part::Between(1, 3)),
            ("BYTES=8-99", Part::Between(8, 10)),
            ("bytes=1-18446744073709551615", Part::Between(1, 10)),
            ("bytes=-99", Part::Whole),
            ("bytes=0-99", Part::Whole),
            ("bytes=0-", Part::Whole),
            ("bytes=0-1,3-4", Part::Whole),
            ("bytes=10-", Part::None),
            ("bytes=-0", Part::None),
            ("bytes=5-2", Part::None),
            ("bytes=", Part::None),
            ("bytes=a-b", Part::None),
            ("bytes=99999999999999999999-", Part::None),
            ("items=0-1", Part::None),
            ("bytes", Part::None),
        ];
        for (range, wanted) in cases {
            assert_eq!(part(range, 10), wanted, "{range}");
        }
        assert_eq!(part("bytes=0-", 0), Part::None);
    }
}
