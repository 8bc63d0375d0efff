//! WebAssembly modules, compiled so that every memory of theirs can be seen.
//!
//! V8 tells nobody of the memory that a module declares for itself, nor that its instructions grow it. So before a module
//! is compiled, its own memories are turned into imports, appended to those it has: in the numbering of memories imports
//! come first and order is kept, so no other part of the module changes. `js/web_assembly.js` makes the memories when the
//! module is instantiated, and hides these imports.

use crate::js::throw_error;

/// The name of the module that own memories are imported from. No JavaScript identifier, and not likely in a toolchain.
pub(crate) const OWN_MEMORIES: &str = "\0memory";

const PREAMBLE_BYTES: usize = 8;
const IMPORT_SECTION: u8 = 2;
const MEMORY_SECTION: u8 = 5;
/// Sections stand in the order of their numbers, but for those that came later; imports follow types alone.
const TYPE_SECTION: u8 = 1;
const CUSTOM_SECTION: u8 = 0;
const KIND_MEMORY: u8 = 2;

const HAS_MAXIMUM: u8 = 1;
const SHARED: u8 = 2;
const ADDRESS_64: u8 = 4;

/// Compiles a module. `None`: an exception is pending.
pub(crate) fn compile<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    bytes: &[u8],
) -> Option<v8::Local<'s, v8::WasmModuleObject>> {
    // What its memories are made by must be in place before a program has anything of WebAssembly's.
    crate::api::export(scope, "web_assembly", "WebAssembly")?;
    match with_imported_memories(bytes) {
        Ok(None) => v8::WasmModuleObject::compile(scope, bytes),
        Ok(Some(changed)) => v8::WasmModuleObject::compile(scope, &changed),
        Err(Unreadable) => {
            // V8 says what is wrong with it. Should nothing be, it still has memory that nobody would see.
            v8::WasmModuleObject::compile(scope, bytes)?;
            throw_error(scope, "This WebAssembly module declares memory in a form that is not supported.");
            None
        }
    }
}

/// The bytes are not what they should be, or are something newer than this code.
#[derive(Debug, PartialEq, Eq)]
struct Unreadable;

/// What a memory is declared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryType {
    pub(crate) initial: u64,
    pub(crate) maximum: Option<u64>,
    pub(crate) shared: bool,
    pub(crate) address_64: bool,
}

impl MemoryType {
    /// Reads the name of an import that stands for a module's own memory.
    pub(crate) fn of_import(name: &str) -> Option<Self> {
        let mut parts = name.split(':').skip(1);
        let flags: u8 = parts.next()?.parse().ok()?;
        let initial = parts.next()?.parse().ok()?;
        let maximum = match parts.next()? {
            "" => None,
            maximum => Some(maximum.parse().ok()?),
        };
        Some(Self { initial, maximum, shared: flags & SHARED != 0, address_64: flags & ADDRESS_64 != 0 })
    }
}

/// The module with its own memories as imports; `None` when it has none.
fn with_imported_memories(bytes: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
    let mut sections = Vec::new();
    let mut reader = Reader(bytes.get(PREAMBLE_BYTES..).ok_or(Unreadable)?);
    while !reader.0.is_empty() {
        let id = reader.byte()?;
        let length = usize::try_from(reader.number()?).map_err(|_| Unreadable)?;
        sections.push((id, reader.take(length)?));
    }
    let Some((_, memories)) = sections.iter().find(|(id, _)| *id == MEMORY_SECTION) else { return Ok(None) };
    let mut memories = Reader(memories);
    let count = memories.number()?;
    let mut imports = Vec::new();
    for index in 0..count {
        let start = memories.0;
        let flags = memories.byte()?;
        if flags & !(HAS_MAXIMUM | SHARED | ADDRESS_64) != 0 {
            return Err(Unreadable);
        }
        let initial = memories.number()?;
        let maximum = if flags & HAS_MAXIMUM != 0 { memories.number()?.to_string() } else { String::new() };
        let kept = start.len() - memories.0.len();
        write_text(&mut imports, OWN_MEMORIES);
        write_text(&mut imports, &format!("{index}:{flags}:{initial}:{maximum}"));
        imports.push(KIND_MEMORY);
        imports.extend_from_slice(&start[..kept]);
    }
    if count == 0 {
        return Ok(None);
    }
    if !memories.0.is_empty() {
        return Err(Unreadable);
    }
    let existing = sections.iter().find(|(id, _)| *id == IMPORT_SECTION).map(|(_, content)| *content);
    let mut existing = Reader(existing.unwrap_or(&[0]));
    let mut section = Vec::new();
    write_number(&mut section, existing.number()?.saturating_add(count));
    section.extend_from_slice(existing.0);
    section.extend_from_slice(&imports);

    let mut changed = bytes[..PREAMBLE_BYTES].to_vec();
    let mut section = Some(section);
    for (id, content) in &sections {
        let after_imports = !matches!(*id, CUSTOM_SECTION | TYPE_SECTION);
        if after_imports && let Some(section) = section.take() {
            write_section(&mut changed, IMPORT_SECTION, &section);
        }
        if !matches!(*id, IMPORT_SECTION | MEMORY_SECTION) {
            write_section(&mut changed, *id, content);
        }
    }
    Ok(Some(changed))
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Unreadable)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Unreadable> {
        Ok(self.take(1)?[0])
    }

    /// An unsigned number in LEB128.
    fn number(&mut self) -> Result<u64, Unreadable> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(Unreadable);
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Unreadable)
    }
}

fn write_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(u8::try_from(number & 0x7f).unwrap_or(0) | 0x80);
        number >>= 7;
    }
    to.push(u8::try_from(number).unwrap_or(0));
}

fn write_text(to: &mut Vec<u8>, text: &str) {
    write_number(to, text.len() as u64);
    to.extend_from_slice(text.as_bytes());
}

fn write_section(to: &mut Vec<u8>, id: u8, content: &[u8]) {
    to.push(id);
    write_number(to, content.len() as u64);
    to.extend_from_slice(content);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"\0asm\x01\0\0\0";

    fn changed(sections: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        let changed = with_imported_memories(&[HEAD, sections].concat())?;
        Ok(changed.map(|bytes| bytes[HEAD.len()..].to_vec()))
    }

    #[test]
    fn own_memories_become_the_last_imports() {
        let cases: &[(&str, &[u8], Result<Option<Vec<u8>>, Unreadable>)] = &[
            ("no memory", b"\x01\x01\0", Ok(None)),
            ("a section of none", b"\x05\x01\0", Ok(None)),
            ("one alone", b"\x05\x03\x01\0\x01", Ok(Some(b"\x02\x13\x01\x07\0memory\x060:0:1:\x02\0\x01".to_vec()))),
            (
                "one with a maximum, behind an import and a custom section, before code",
                b"\0\x02\x01x\x01\x01\0\x02\x08\x01\x01m\x01m\x02\0\x01\x05\x04\x01\x01\x01\x02\x0a\x01\0",
                Ok(Some(
                    [&b"\0\x02\x01x\x01\x01\0\x02\x1c\x02\x01m\x01m\x02\0\x01\x07\0memory\x070:1:1:2\x02\x01\x01\x02"[..],
                     b"\x0a\x01\0"].concat(),
                )),
            ),
            ("cut short", b"\x05\x09\x01\0\x01", Err(Unreadable)),
            ("a flag from the future", b"\x05\x04\x01\x08\x01\x10", Err(Unreadable)),
            ("more than was said", b"\x05\x04\x01\0\x01\0", Err(Unreadable)),
            ("a number that never ends", b"\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", Err(Unreadable)),
        ];
        for (what, sections, expected) in cases {
            assert_eq!(changed(sections), *expected, "{what}");
        }
    }

    #[test]
    fn the_name_of_an_import_says_what_to_make() {
        let plain = MemoryType { initial: 1, maximum: None, shared: false, address_64: false };
        for (name, expected) in [
            ("0:0:1:", Some(plain)),
            ("3:7:1:9", Some(MemoryType { maximum: Some(9), shared: true, address_64: true, ..plain })),
            ("", None),
            ("0:0:x:", None),
        ] {
            assert_eq!(MemoryType::of_import(name), expected, "{name}");
        }
    }
}
