//! Reads the configurations of workerd and of wrangler projects into the loader's [`Config`].
//!
//! | Room | Owns |
//! |---|---|
//! | `text` | workerd's configs as people write them: Cap'n Proto's text notation |
//! | `encoded` | the same as a message, which tools write and `compile` embeds |
//! | `decode` | from the message to [`Config`]; what loaderd does not support is refused by name |
//! | [`project`] | wrangler projects: `wrangler.toml`, `wrangler.json`, `wrangler.jsonc` and the code they name |
//! | `source` | places in files, and errors that point at them |
//! | `files` | where the bytes of files come from |
//!
//! Nothing here runs a Worker or opens a socket. One thing runs another program: bundling a project runs esbuild.
//!
//! [`Config`]: loaderd_loader::config::Config

mod decode;
mod encoded;
mod files;
pub mod project;
mod source;
mod text;

pub use encoded::{ENCODED_BYTES_MAX, Encoded};
pub use files::{Disk, FileSource, InMemory};
pub use source::{Diagnostic, Place};
pub use text::Document;
