//! What `serve`, `test` and `compile` share: which config file is meant, and how it is read.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loaderd_wrangler_compat::{Diagnostic, Document, ENCODED_BYTES_MAX, Encoded};

use crate::watch::Watcher;

/// The config file and how to read it, in workerd's arguments.
#[derive(clap::Args, Debug)]
pub(crate) struct ConfigArgs {
    /// A folder in which imports of the config file that begin with `/` are looked for; may be repeated
    #[arg(short = 'I', long, value_name = "DIR")]
    import_path: Vec<PathBuf>,

    /// The config file is an encoded Cap'n Proto message, not text
    #[arg(short, long)]
    binary: bool,

    /// The config file; `-` is standard input, for which --binary is needed
    config_file: PathBuf,
}

impl ConfigArgs {
    /// Reads the config: its only constant of type `Config`, or the one named. `watcher` gets to know every file that
    /// decides what comes of it.
    pub(crate) fn read(&self, constant: Option<&str>, watcher: &Watcher) -> Result<Encoded, Vec<Diagnostic>> {
        if let Some(folder) = self.import_path.iter().find(|folder| !folder.is_dir()) {
            return Err(vec![problem(format!("--import-path={}: No such directory.", folder.display()))]);
        }
        watcher.add(&self.config_file);
        if self.binary {
            return self.read_encoded().map_err(|error| vec![error]);
        }
        let file = &self.config_file;
        if file == Path::new("-") {
            return Err(vec![problem("-: Reading config from stdin is only allowed with --binary.")]);
        }
        self.require_file().map_err(|error| vec![error])?;
        let is_wrangler = file.file_stem().is_some_and(|name| name == "wrangler");
        if is_wrangler && file.extension().is_some_and(|it| it == "toml" || it == "json" || it == "jsonc") {
            let message = format!("{0}: This is a wrangler file. Run it with `loaderd dev {0}`.", file.display());
            return Err(vec![problem(message)]);
        }
        let mut document = Document::open(watcher, file, &self.import_path).map_err(|error| vec![error])?;
        document.evaluate(constant)
    }

    fn read_encoded(&self) -> Result<Encoded, Diagnostic> {
        let mut bytes = Vec::new();
        if self.config_file == Path::new("-") {
            let limit = ENCODED_BYTES_MAX as u64 + 1;
            let read = std::io::stdin().lock().take(limit).read_to_end(&mut bytes);
            read.map_err(|error| problem(format!("-: {error}")))?;
        } else {
            self.require_file()?;
            let read = std::fs::read(&self.config_file);
            bytes = read.map_err(|error| problem(format!("{}: {error}", self.config_file.display())))?;
        }
        let named = |error: Diagnostic| Diagnostic {
            message: format!("{}: {}", self.config_file.display(), error.message),
            ..error
        };
        Encoded::from_bytes(&bytes).map_err(named)
    }

    fn require_file(&self) -> Result<(), Diagnostic> {
        let file = &self.config_file;
        match std::fs::metadata(file) {
            Ok(found) if found.is_file() => Ok(()),
            Ok(_) => Err(problem(format!("{}: Config path is not a file.", file.display()))),
            Err(_) => Err(problem(format!("{}: No such file.", file.display()))),
        }
    }
}

/// A problem with the command line rather than with a file.
pub(crate) fn problem(message: impl Into<String>) -> Diagnostic {
    Diagnostic { place: None, field: loaderd_loader::config::FieldPath::root(), message: message.into() }
}

/// `NAME=VALUE`, as workerd's overrides are written.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl std::str::FromStr for Named {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text.split_once('=').ok_or("Expected <name>=<value>")?;
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }
}

/// Prints problems one a line. workerd ends with 1 whatever is wrong with a config.
pub(crate) fn refuse(problems: &[Diagnostic]) -> ExitCode {
    for problem in problems {
        eprintln!("{problem}");
    }
    ExitCode::FAILURE
}

/// Whether standard output is a person's screen.
pub(crate) fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}
