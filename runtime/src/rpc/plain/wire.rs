//! The structured-clone tags, by V8's names for them.

/// What a message begins with.
pub(super) const VERSION: u8 = 0xff;
/// The version that is written. Every newer one reads it.
pub(super) const VERSION_WRITTEN: u8 = 15;
/// The versions that are read.
pub(super) const VERSIONS_READ: std::ops::RangeInclusive<u32> = 14..=16;

pub(super) const PADDING: u8 = 0;
pub(super) const VERIFY_OBJECT_COUNT: u8 = b'?';
pub(super) const THE_HOLE: u8 = b'-';
pub(super) const UNDEFINED: u8 = b'_';
pub(super) const NULL: u8 = b'0';
pub(super) const TRUE: u8 = b'T';
pub(super) const FALSE: u8 = b'F';
pub(super) const INT32: u8 = b'I';
pub(super) const UINT32: u8 = b'U';
pub(super) const DOUBLE: u8 = b'N';
pub(super) const BIG_INT: u8 = b'Z';
pub(super) const UTF8_STRING: u8 = b'S';
pub(super) const ONE_BYTE_STRING: u8 = b'"';
pub(super) const TWO_BYTE_STRING: u8 = b'c';
pub(super) const OBJECT_REFERENCE: u8 = b'^';
pub(super) const BEGIN_OBJECT: u8 = b'o';
pub(super) const END_OBJECT: u8 = b'{';
pub(super) const BEGIN_SPARSE_ARRAY: u8 = b'a';
pub(super) const END_SPARSE_ARRAY: u8 = b'@';
pub(super) const BEGIN_DENSE_ARRAY: u8 = b'A';
pub(super) const END_DENSE_ARRAY: u8 = b'$';
pub(super) const DATE: u8 = b'D';
pub(super) const TRUE_OBJECT: u8 = b'y';
pub(super) const FALSE_OBJECT: u8 = b'x';
pub(super) const NUMBER_OBJECT: u8 = b'n';
pub(super) const BIG_INT_OBJECT: u8 = b'z';
pub(super) const STRING_OBJECT: u8 = b's';
pub(super) const BEGIN_MAP: u8 = b';';
pub(super) const END_MAP: u8 = b':';
pub(super) const BEGIN_SET: u8 = b'\'';
pub(super) const END_SET: u8 = b',';
pub(super) const ARRAY_BUFFER: u8 = b'B';
pub(super) const IMMUTABLE_ARRAY_BUFFER: u8 = b'C';
pub(super) const RESIZABLE_ARRAY_BUFFER: u8 = b'~';
pub(super) const ARRAY_BUFFER_VIEW: u8 = b'V';
pub(super) const HOST_OBJECT: u8 = b'\\';
pub(super) const ERROR: u8 = b'r';

pub(super) const ERROR_MESSAGE: u8 = b'm';
pub(super) const ERROR_CAUSE: u8 = b'c';
pub(super) const ERROR_STACK: u8 = b's';
pub(super) const ERROR_END: u8 = b'.';

/// The error classes that have a tag of their own; every other is an `Error`.
pub(super) const ERROR_CLASSES: [(u8, &str); 6] = [
    (b'E', "EvalError"),
    (b'R', "RangeError"),
    (b'F', "ReferenceError"),
    (b'S', "SyntaxError"),
    (b'T', "TypeError"),
    (b'U', "URIError"),
];

use super::BytesKind;

/// The view classes: tag, kind, bytes an element.
pub(super) const VIEWS: [(u8, BytesKind, usize); 13] = [
    (b'b', BytesKind::Int8Array, 1),
    (b'B', BytesKind::Uint8Array, 1),
    (b'C', BytesKind::Uint8ClampedArray, 1),
    (b'w', BytesKind::Int16Array, 2),
    (b'W', BytesKind::Uint16Array, 2),
    (b'd', BytesKind::Int32Array, 4),
    (b'D', BytesKind::Uint32Array, 4),
    (b'h', BytesKind::Float16Array, 2),
    (b'f', BytesKind::Float32Array, 4),
    (b'F', BytesKind::Float64Array, 8),
    (b'q', BytesKind::BigInt64Array, 8),
    (b'Q', BytesKind::BigUint64Array, 8),
    (b'?', BytesKind::DataView, 1),
];

/// The largest index that V8 writes as a number when it is a property's name.
pub(super) const INDEX_AS_INT32_MAX: u32 = i32::MAX as u32;
