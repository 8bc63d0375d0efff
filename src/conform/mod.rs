//! `loaderd conform`: the same cases on loaderd and on workerd, and where they differ.
//!
//! | File | Owns |
//! |---|---|
//! | `case` | case files: their notation, and writing down what was observed |
//! | `prelude.js` | what is around the code of each case: helpers, entrypoints, the report of its outcome |
//! | `run` | a case file on one binary |

mod case;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use self::case::CaseFile;
use self::run::{Observed, Which, observe};
use crate::terminal;

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Each case is the body of an async function in a parent Worker, with a Worker Loader as env.LOADER. Its outcome, a value
or an error, is compared with what the file says and, with --oracle, with workerd's own.")]
pub(crate) struct ConformArgs {
    /// Case files, or folders of them
    #[arg(required = true, value_name = "CASES")]
    cases: Vec<PathBuf>,

    /// A workerd binary to compare with
    #[arg(long, value_name = "PATH")]
    oracle: Option<PathBuf>,

    /// Write down what was observed: workerd's outcome, or loaderd's own where a case says that the two differ
    #[arg(long, requires = "oracle")]
    record: bool,
}

pub(crate) fn run(arguments: &ConformArgs) -> ExitCode {
    match compare_all(arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            terminal::error(&problem);
            ExitCode::from(2)
        }
    }
}

/// Runs every file; the result is how many cases differ.
fn compare_all(arguments: &ConformArgs) -> Result<usize, String> {
    let ours = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let (mut total, mut differing) = (0, 0);
    for path in case::find(&arguments.cases)? {
        let mut file = CaseFile::read(&path)?;
        let own = observe(&ours, &file, Which::All)?;
        let theirs = arguments.oracle.as_deref().map(|oracle| observe(oracle, &file, Which::Alike)).transpose()?;
        total += file.cases.len();
        if arguments.record {
            for case in &mut file.cases {
                let source = if case.differs.is_some() { Some(&own) } else { theirs.as_ref() };
                case.expected = source.and_then(|it| it.outcomes.get(&case.name)).cloned();
            }
            file.write(&path)?;
        }
        for case in &file.cases {
            let mut sides = vec![("loaderd", outcome(&own, &case.name)), ("expected", expected(case))];
            if let Some(theirs) = theirs.as_ref().filter(|_| case.differs.is_none()) {
                sides.push(("workerd", outcome(theirs, &case.name)));
            }
            if sides.iter().any(|(_, text)| *text != sides[0].1) {
                differing += 1;
                println!("{}: {}", path.display(), case.name);
                for (side, text) in sides {
                    println!("  {side:8} {text}");
                }
            }
        }
    }
    println!("{total} cases, {differing} differ");
    Ok(differing)
}

fn outcome(observed: &Observed, name: &str) -> String {
    match observed.outcomes.get(name) {
        Some(outcome) => outcome.to_string(),
        None => format!("no outcome; {}", observed.complaint),
    }
}

fn expected(case: &case::Case) -> String {
    case.expected.as_ref().map_or_else(|| "nothing is written down; use --record".into(), ToString::to_string)
}
