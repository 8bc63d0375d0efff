use super::*;
use crate::rpc::{CapKind, Capability};

fn json(text: &str) -> String {
    Plain::from_json(text).unwrap().to_json().unwrap().unwrap()
}

#[test]
fn json_is_written_as_javascript_writes_it() {
    for (read, written) in [
        ("[1, 1e21, 1e-7, -0, 5e-324]", "[1,1e+21,1e-7,0,5e-324]"),
        (r#""\u0007\"\\/\u2028\uD800""#, "\"\\u0007\\\"\\\\/\u{2028}\\ud800\""),
        (r#""\b\t\n\f\r\u001f\u007f""#, "\"\\b\\t\\n\\f\\r\\u001f\u{7f}\""),
        (
            r#"{"b":1,"10":2,"a":3,"9":4,"01":5,"4294967295":6,"4294967294":7}"#,
            r#"{"9":4,"10":2,"4294967294":7,"b":1,"a":3,"01":5,"4294967295":6}"#,
        ),
        (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
        (r#"{"__proto__":{"x":1}}"#, r#"{"__proto__":{"x":1}}"#),
        (r#""\ud83d\ude00\ude00\ud83d""#, "\"😀\\ude00\\ud83d\""),
        ("1e400", "null"),
        ("123456789012345680000", "123456789012345680000"),
        (" \t\r\n[ ] ", "[]"),
        ("0.1e1", "1"),
    ] {
        assert_eq!(json(read), written, "{read}");
    }
    assert_eq!(json("[1, 1e21, 1e-7, -0, 5e-324]").len(), 23);
    assert_eq!(json(r#""\u0007\"\\/\u2028\uD800""#).len(), 22);
}

#[test]
fn text_that_is_not_json_is_refused() {
    for text in [
        "",
        " ",
        "01",
        "1.",
        ".5",
        "+1",
        "-",
        "1e",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "'a'",
        "\"\u{1}\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u+123\"",
        "nul",
        "nulls",
        "NaN",
        "[",
        "{",
        "\"",
        "[1 2]",
        "\u{feff}1",
        "\u{a0}1",
    ] {
        assert!(matches!(Plain::from_json(text), Err(JsonReadError::Syntax(_))), "{text:?}");
    }
}

#[test]
fn deep_values_are_refused_in_every_direction() {
    let text = format!("{}1{}", "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX));
    assert_eq!(Plain::from_json(&text).err(), Some(JsonReadError::Depth));
    let mut deep = Plain::from_json(&text[1..text.len() - 1]).unwrap();
    assert!(deep.to_json().is_ok());
    assert!(Plain::from_message(&deep.to_message().unwrap()).is_ok());
    deep = Plain::Array(vec![deep]);
    assert_eq!(deep.to_json(), Err(JsonWriteError::Depth));
    assert_eq!(deep.to_message().err(), Some(EncodeError::Depth));
    let mut bytes = vec![0xff, 15];
    bytes.extend(std::iter::repeat_n(*b"A\x01", 100_000).flatten());
    assert_eq!(decode(&bytes).err(), Some(DecodeError::Depth));
}

#[test]
fn dates_are_written_in_iso_form() {
    for (millis, text) in [
        (0.0, "\"1970-01-01T00:00:00.000Z\""),
        (951_827_696_789.0, "\"2000-02-29T12:34:56.789Z\""),
        (-1.0, "\"1969-12-31T23:59:59.999Z\""),
        (-62_198_755_200_000.0, "\"-000001-01-01T00:00:00.000Z\""),
        (8.64e15, "\"+275760-09-13T00:00:00.000Z\""),
        (-8.64e15, "\"-271821-04-20T00:00:00.000Z\""),
        (8.64e15 + 1.0, "null"),
        (f64::NAN, "null"),
    ] {
        assert_eq!(Plain::Date(millis).to_json().unwrap().unwrap(), text);
    }
}

#[test]
fn undefined_is_left_out_as_javascript_leaves_it_out() {
    let value =
        Plain::Object([("a", Plain::Undefined), ("b", Plain::Array(vec![Plain::Undefined]))].into_iter().collect());
    assert_eq!(value.to_json().unwrap().unwrap(), r#"{"b":[null]}"#);
    assert_eq!(Plain::Undefined.to_json(), Ok(None));
}

#[test]
fn strings_keep_their_units() {
    for units in [&[0xd800][..], &[0xdc00, 0xd800], &[0xd83d, 0xde00], &[0xd800, 0x41, 0xdfff], &[0xff], &[0x100, 0]] {
        let string = JsString::from_utf16(units);
        assert_eq!(string.units().collect::<Vec<_>>(), units);
        assert_eq!(string.len_utf16(), units.len());
        assert_eq!(string.len_utf8(), String::from_utf16_lossy(units).len());
        assert_eq!(string.to_string_lossy(), String::from_utf16_lossy(units));
        let back = Plain::from_message(&Plain::String(string.clone()).to_message().unwrap()).unwrap();
        assert_eq!(back.as_string(), Some(&string));
    }
}

fn decode(bytes: &[u8]) -> Result<Plain, DecodeError> {
    Plain::from_message(&Message { bytes: bytes.to_vec().into(), caps: Vec::new() })
}

/// Bytes that V8 wrote for the value in the comment, and the JSON text of what they are read as.
#[test]
fn what_v8_writes_is_read() {
    for (bytes, text) in [
        // {a: 1, 0: "x", b: [true, , -1]}
        (
            &b"\xff\x0fo\x49\x00\"\x01x\"\x01aI\x02\"\x01bA\x03T-I\x01$\x00\x03{\x03"[..],
            r#"{"0":"x","a":1,"b":[true,null,-1]}"#,
        ),
        // const o = {}; [o, o]
        (b"\xff\x0fA\x02o{\x00^\x01$\x00\x02", "[{},{}]"),
        // const a = new Array(5); a[2] = 1
        (b"\xff\x0fa\x05I\x04I\x02@\x01\x05", "[null,null,1,null,null]"),
        // "Ā"
        (b"\xff\x0f\x00c\x02\x00\x01", "\"Ā\""),
        // "é"
        (b"\xff\x0f\"\x01\xe9", "\"é\""),
        (b"\xff\x0fN\x00\x00\x00\x00\x00\x00\xf0\x3f", "1"),
        (b"\xff\x0fU\x80\x80\x80\x80\x0f", "4026531840"),
    ] {
        assert_eq!(decode(bytes).unwrap().to_json().unwrap().unwrap(), text);
    }
}

#[test]
fn hostile_bytes_are_refused_without_work() {
    for bytes in [
        &b""[..],
        b"\xff",
        b"\xff\x0f",
        b"\xff\x7f_",
        b"_",
        b"\xff\x0fA\xff\xff\xff\xff\x0f",
        b"\xff\x0fa\xff\xff\xff\xff\x0f@\x00\xff\xff\xff\xff\x0f",
        b"\xff\x0f\"\xff\xff\xff\xff\x0fa",
        b"\xff\x0f\"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7fa",
        b"\xff\x0fo^\x00{\x00",
        b"\xff\x0fo\"\x01a^\x00{\x01",
        b"\xff\x0f^\x00",
        b"\xff\x0f^\x05",
        b"\xff\x0fo{\x01",
        b"\xff\x0fo_T{\x01",
        b"\xff\x0fB\x04aaaaVd\x01\x03\x00",
        b"\xff\x0fB\x04aaaaVB\x01\x04\x00",
        b"\xff\x0fB\x04aaaaVx\x00\x04\x00",
        b"\xff\x0fZ\x01",
        b"\xff\x0fZ\x03\x00",
        b"\xff\x0frx",
        b"\xff\x0f\\\x00\x00",
        b"\xff\x0f\\\x63",
        b"\xff\x0fu\x00",
        b"\xff\x0f\x00\x00\x00",
    ] {
        assert!(decode(bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn repeated_references_do_not_unfold_without_end() {
    // Each object holds the one before twice: 2^30 values in all.
    let mut bytes = vec![0xff, 15, b'A', 30];
    bytes.extend_from_slice(b"o{\x00");
    for id in 1..30 {
        bytes.extend_from_slice(&[b'A', 2, b'^', id, b'^', id, b'$', 0, 2]);
    }
    bytes.extend_from_slice(&[b'$', 0, 30]);
    assert_eq!(decode(&bytes).err(), Some(DecodeError::Values));

    let text = "x".repeat(1 << 20);
    let mut bytes = Plain::Array(vec![Plain::Array(vec![Plain::from(text)])]).to_message().unwrap().bytes.to_vec();
    bytes.truncate(bytes.len() - 3);
    bytes[3] = 100;
    for _ in 1..100 {
        bytes.extend_from_slice(b"^\x01");
    }
    bytes.extend_from_slice(&[b'$', 0, 100]);
    assert_eq!(decode(&bytes).err(), Some(DecodeError::Bytes));
}

struct Nothing;

impl Capability for Nothing {
    fn call(&self, _: crate::rpc::Call, _: crate::rpc::Reply) -> Option<std::sync::Arc<dyn Capability>> {
        None
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

#[test]
fn everything_that_is_not_json_comes_back_as_it_was() {
    let cap = Cap { kind: CapKind::Function, target: std::sync::Arc::new(Nothing) };
    let error = PlainError {
        name: "TypeError".to_owned(),
        message: Some("no".into()),
        cause: Some(Plain::Null),
        ..PlainError::default()
    };
    let value = Plain::Array(vec![
        Plain::Map(vec![(Plain::from("k"), Plain::Bool(true))]),
        Plain::Set(vec![Plain::Number(-0.0)]),
        Plain::BigInt(Box::new(BigInt { negative: true, magnitude: vec![1, 2, 3] })),
        Plain::BigInt(Box::new(BigInt { negative: false, magnitude: vec![] })),
        Plain::Bytes(BytesKind::ArrayBuffer, Bytes::from_static(b"abc")),
        Plain::Bytes(BytesKind::Uint16Array, Bytes::from_static(b"abcd")),
        Plain::Error(Box::new(error)),
        Plain::Date(5.0),
        Plain::Cap(cap),
    ]);
    let message = value.to_message().unwrap();
    assert_eq!(message.caps.len(), 1);
    let back = Plain::from_message(&message).unwrap();
    let Plain::Array(parts) = &back else { panic!("not an array") };
    assert!(
        matches!(&parts[0], Plain::Map(entries) if matches!(&entries[..], [(Plain::String(_), Plain::Bool(true))]))
    );
    assert!(
        matches!(&parts[1], Plain::Set(members) if matches!(members[..], [Plain::Number(n)] if n.is_sign_negative()))
    );
    assert!(matches!(&parts[2], Plain::BigInt(n) if n.negative && n.magnitude == [1, 2, 3]));
    assert!(matches!(&parts[3], Plain::BigInt(n) if !n.negative && n.magnitude.is_empty()));
    assert!(matches!(&parts[4], Plain::Bytes(BytesKind::ArrayBuffer, bytes) if **bytes == *b"abc"));
    assert!(matches!(&parts[5], Plain::Bytes(BytesKind::Uint16Array, bytes) if **bytes == *b"abcd"));
    assert!(matches!(&parts[6], Plain::Error(e) if e.name == "TypeError" && matches!(e.cause, Some(Plain::Null))));
    assert!(matches!(parts[7], Plain::Date(5.0)));
    assert!(matches!(&parts[8], Plain::Cap(cap) if cap.kind == CapKind::Function));
    // Written again it is the same, byte for byte.
    assert_eq!(back.to_message().unwrap().bytes, message.bytes);
}

#[test]
fn a_message_over_the_limit_is_not_written() {
    let value = Plain::from("x".repeat(crate::rpc::MESSAGE_BYTES_MAX));
    assert!(matches!(value.to_message(), Err(EncodeError::Bytes(_))));
}

#[test]
fn bytes_in_parts_are_written_as_if_they_were_one() {
    for parts in [&[][..], &[b"abc".as_slice()], &[b"abc", b"", b"defgh"]] {
        let mut written = Vec::new();
        let parts: Vec<Bytes> = parts.iter().map(|part| Bytes::copy_from_slice(part)).collect();
        append_bytes(&mut written, &parts).unwrap();
        let whole = Plain::Bytes(BytesKind::Uint8Array, parts.concat().into()).to_message().unwrap();
        assert_eq!(written, whole.bytes);
    }
    let long = [Bytes::from(vec![0; crate::rpc::MESSAGE_BYTES_MAX])];
    let mut written = Vec::new();
    assert!(matches!(append_bytes(&mut written, &long), Err(EncodeError::Bytes(_))) && written.is_empty());
}

/// Bytes that mean something in either format.
const TAGS: &[u8] = b"AoI\"^{$;:',Vr\\B\x00\x01\xff";

/// A small generator of the same numbers on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("below a usize")
    }

    /// Changes, repeats, removes or adds a few bytes.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let place = self.below(bytes.len().max(1));
            match self.below(4) {
                0 if !bytes.is_empty() => bytes[place] = self.below(256).to_le_bytes()[0],
                1 if !bytes.is_empty() => drop(bytes.remove(place)),
                2 => bytes.insert(place, TAGS[self.below(TAGS.len())]),
                _ => {
                    let end = place + self.below(bytes.len() - place + 1);
                    let copied = bytes[place..end].to_vec();
                    bytes.splice(place..place, copied);
                }
            }
            bytes.truncate(4_096);
        }
    }
}

#[test]
fn damaged_messages_are_errors_or_values_that_read_the_same() {
    let seed = Plain::from_json(r#"{"a":[1,-2.5,"x","\ud800"],"b":{"c":null,"9":true},"d":[[],{}]}"#).unwrap();
    let seed = Plain::Map(vec![
        (seed, Plain::Set(vec![Plain::Date(1.0), Plain::Undefined])),
        (
            Plain::Bytes(BytesKind::Uint8Array, Bytes::from_static(b"bytes")),
            Plain::Error(Box::new(PlainError {
                name: "Mine".to_owned(),
                cause: Some(Plain::Null),
                ..PlainError::default()
            })),
        ),
    ]);
    let seed = seed.to_message().unwrap().bytes.to_vec();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut read = 0;
    for _ in 0..20_000 {
        let mut bytes = seed.clone();
        random.damage(&mut bytes);
        let Ok(value) = decode(&bytes) else { continue };
        read += 1;
        let written = value.to_message().unwrap();
        let again = Plain::from_message(&written).unwrap();
        assert_eq!(again.to_message().unwrap().bytes, written.bytes, "{bytes:?}");
    }
    assert!(read > 500, "only {read} were read: the test has lost its point");
}

#[test]
fn damaged_json_is_an_error_or_a_value_that_reads_the_same() {
    let seed = r#"{"a":[1,-2.5e-7,"x\n\ud800\u00e9",true],"b":{"c":null,"9":{}},"":""}"#;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..20_000 {
        let mut bytes = seed.as_bytes().to_vec();
        random.damage(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let Ok(value) = Plain::from_json(&text) else { continue };
        let written = value.to_json().unwrap().unwrap();
        assert_eq!(json(&written), written, "{text}");
    }
}
