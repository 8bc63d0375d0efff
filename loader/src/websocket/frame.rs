//! Frames as values in messages.

use bytes::Bytes;
use loaderd_runtime::rpc::plain::{BytesKind, Plain};
use loaderd_runtime::rpc::{Answer, Message, RpcError};

/// Whether a message goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    More,
    Last,
}

/// What one side of a connection says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Text(String, Part),
    Binary(Bytes, Part),
    /// Its sender sends no more. Code 1005 stands for none.
    Close {
        code: u16,
        reason: String,
    },
    /// Its sender broke the protocol: how, in the platform's words.
    Error(String),
    /// Its sender is gone without a word.
    Lost,
}

impl Frame {
    fn to_plain(&self) -> Plain {
        let (content, part) = match self {
            Self::Text(text, part) => (Plain::from(text.as_str()), *part),
            Self::Binary(bytes, part) => (Plain::Bytes(BytesKind::Uint8Array, bytes.clone()), *part),
            Self::Close { code, reason } => {
                let fields = [("code", Plain::from(u32::from(*code))), ("reason", Plain::from(reason.as_str()))];
                (Plain::Object(fields.into_iter().collect()), Part::Last)
            }
            Self::Error(message) => {
                (Plain::Object([("error", Plain::from(message.as_str()))].into_iter().collect()), Part::Last)
            }
            Self::Lost => (Plain::Null, Part::Last),
        };
        match part {
            Part::More => Plain::Array(vec![content]),
            Part::Last => content,
        }
    }

    /// What a value says; anything that is no frame is a lost connection.
    fn from_plain(plain: Plain) -> Self {
        match plain {
            Plain::Array(mut parts) if parts.len() == 1 => match parts.pop() {
                Some(Plain::String(text)) => Self::Text(text.to_string_lossy(), Part::More),
                Some(Plain::Bytes(_, bytes)) => Self::Binary(bytes, Part::More),
                _ => Self::Lost,
            },
            Plain::String(text) => Self::Text(text.to_string_lossy(), Part::Last),
            Plain::Bytes(_, bytes) => Self::Binary(bytes, Part::Last),
            Plain::Object(fields) => {
                if let Some(error) = fields.get("error").and_then(Plain::as_string) {
                    return Self::Error(error.to_string_lossy());
                }
                let code = fields.get("code").and_then(Plain::as_number).filter(|code| (0.0..65_536.0).contains(code));
                match (code, fields.get("reason").and_then(Plain::as_string)) {
                    // In range, so nothing is cut off but a fraction.
                    (Some(code), Some(reason)) => Self::Close { code: code as u16, reason: reason.to_string_lossy() },
                    _ => Self::Lost,
                }
            }
            _ => Self::Lost,
        }
    }

    /// As the arguments of `send`.
    pub(crate) fn to_arguments(&self) -> Result<Message, RpcError> {
        Plain::arguments(vec![self.to_plain()]).map_err(|error| RpcError::new("RangeError", error.to_string()))
    }

    /// The frame that `send` was called with.
    pub(crate) fn from_arguments(arguments: &Message) -> Self {
        match Plain::from_message(arguments) {
            Ok(Plain::Array(arguments)) => arguments.into_iter().next().map_or(Self::Lost, Self::from_plain),
            _ => Self::Lost,
        }
    }

    /// As the answer to `receive`.
    pub(crate) fn to_answer(&self) -> Result<Message, RpcError> {
        self.to_plain().to_message().map_err(|error| RpcError::new("RangeError", error.to_string()))
    }

    /// What `receive` was answered with. Whoever cannot answer is gone.
    pub(crate) fn from_answer(answer: Answer) -> Self {
        match answer.result.map(|message| Plain::from_message(&message)) {
            Ok(Ok(plain)) => Self::from_plain(plain),
            Ok(Err(_)) | Err(_) => Self::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_cross_and_come_back_equal() {
        let frames = [
            Frame::Text("a\u{1f600}".into(), Part::Last),
            Frame::Text(String::new(), Part::More),
            Frame::Binary(Bytes::from_static(b"\0\xff"), Part::Last),
            Frame::Binary(Bytes::from_static(b"x"), Part::More),
            Frame::Close { code: 1005, reason: String::new() },
            Frame::Close { code: 4999, reason: "bye".into() },
            Frame::Error("broken".into()),
            Frame::Lost,
        ];
        for frame in frames {
            let arguments = frame.to_arguments().expect("small");
            assert_eq!(Frame::from_arguments(&arguments), frame);
            let answer = frame.to_answer().expect("small");
            assert_eq!(Frame::from_answer(Ok(answer).into()), frame);
        }
    }

    #[test]
    fn what_is_no_frame_is_a_lost_connection() {
        let values = ["1", "true", "[]", "[1]", "[[\"x\"]]", "{}", "{\"code\":1e9,\"reason\":\"\"}", "{\"code\":1000}"];
        for value in values {
            let plain = Plain::from_json(value).expect("JSON");
            assert_eq!(Frame::from_plain(plain), Frame::Lost, "{value}");
        }
    }
}
