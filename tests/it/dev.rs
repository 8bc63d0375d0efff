//! `loaderd dev`: projects in a folder, requests to the first of them, and what becomes of changes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::Trial;

use crate::scratch::Scratch;
use crate::server::Server;
use crate::wait::until;

/// Projects, how they are run, and what is seen of them in turn.
struct Play {
    name: &'static str,
    needs_esbuild: bool,
    arguments: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    steps: &'static [Step],
    /// What is said meanwhile, in this order.
    said: &'static [&'static str],
}

enum Step {
    /// A path, and the body of the answer.
    Ask(&'static str, &'static str),
    /// A file of a project is written, and then the same.
    Write(&'static str, &'static str, &'static str, &'static str),
    /// A file is written, and then this is said, and the same answered as before.
    Break(&'static str, &'static str, &'static str, &'static str, &'static str),
    /// A file goes, and then this is said, and the same.
    Remove(&'static str, &'static str, &'static str, &'static str),
}

use Step::{Ask, Break, Remove, Write};

const SHOP: &str = r#"name = "shop"
main = "src/index.js"
compatibility_date = "2026-08-15"
limits = { cpu_ms = 100, subrequests = 2 }
services = [{ binding = "API", service = "api", entrypoint = "Api", props = { level = 3 } }]
durable_objects.bindings = [{ name = "COUNTERS", class_name = "Counter", script_name = "api" }]
worker_loaders = [{ binding = "LOADER" }]
rules = [{ type = "Text", globs = ["**/*.md"] }]
[vars]
WHO = "you"
[env.staging]
services = [{ binding = "API", service = "api" }]
[env.staging.vars]
WHO = "stage"
"#;

const SHOP_CODE: &str = r#"import note from './note.md';
import { greet } from './greet.js';
const routes = {
  '/': (env) => `${greet(env.WHO)} ${note.trim()} ${env.SECRET}`,
  '/api': async (env) => env.API.hello('there'),
  '/count': async (env) => {
    const counter = env.COUNTERS.get(env.COUNTERS.idFromName('a'));
    return `${await counter.add(2)} ${await counter.add(3)}`;
  },
  '/load': async (env) => {
    const modules = { 'm.js': 'export default { fetch() { return new Response("loaded") } }' };
    const worker = env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules });
    return (await worker.getEntrypoint().fetch('http://x/')).text();
  },
  '/spin': () => { for (;;); },
  '/subrequests': async (env) => {
    let done = 0;
    for (;; done++) {
      try { await env.API.fetch('http://x/'); } catch (error) { return `${done}, ${error.message.slice(0, 20)}`; }
    }
  },
};
export default {
  async fetch(request, env) { return new Response(await routes[new URL(request.url).pathname](env)); },
};
"#;

const API: &str = r#"{
  // A project beside it.
  "name": "api", "main": "index.js", "compatibility_date": "2026-08-15",
  "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Counter"] }],
}"#;

const API_CODE: &str = r#"import { DurableObject, WorkerEntrypoint } from 'cloudflare:workers';
export class Api extends WorkerEntrypoint {
  hello(who) { return `hello ${who} at level ${this.ctx.props.level}`; }
  fetch() { return new Response('api'); }
}
export class Counter extends DurableObject {
  count = 0;
  add(by) { return (this.count += by); }
}
export default { fetch() { return new Response('api') } };
"#;

const APP_CODE: &str = r#"import { Hono } from 'hono';
import { Buffer } from 'buffer';
import { greet } from './greet';
import note from './note.txt';

type Env = { Bindings: { WHO: string } };
const app = new Hono<Env>();
app.get('/', (c) => c.text(`${greet(c.env.WHO)} ${note.trim()} ${Buffer.from('x').toString('hex')} ${MODE}`));
app.onError((error) => { throw error; });
app.get('/fail', () => {
  const text: string | null = null;
  throw new Error('on purpose');
});
app.get('/log', (c) => { console.log(new Error('logged').stack); return c.text('done'); });
export default app satisfies ExportedHandler<Env>;
"#;

const PLAYS: &[Play] = &[
    Play {
        name: "projects",
        needs_esbuild: false,
        arguments: &["shop", "api/wrangler.jsonc"],
        files: &[
            ("shop/wrangler.toml", SHOP),
            ("shop/src/index.js", SHOP_CODE),
            ("shop/src/greet.js", "export const greet = (who) => `hi ${who}`;"),
            ("shop/src/note.md", "a note\n"),
            ("api/wrangler.jsonc", API),
            ("api/index.js", API_CODE),
        ],
        steps: &[
            Ask("/", "hi you a note undefined"),
            Ask("/api", "hello there at level 3"),
            Ask("/count", "2 5"),
            Ask("/load", "loaded"),
            Ask("/spin", "Service Unavailable"),
            Ask("/subrequests", "2, Too many subrequests"),
            Write("shop/.dev.vars", "SECRET=s3", "/", "hi you a note s3"),
            Write("shop/src/greet.js", "export const greet = (who) => `bye ${who}`;", "/", "bye you a note s3"),
            Break("shop/src/greet.js", "export const greet = (;", "Uncaught SyntaxError", "/", "bye you a note s3"),
            Write("shop/src/greet.js", "export const greet = (who) => `re ${who}`;", "/", "re you a note s3"),
            Remove("shop/src/note.md", "there is no shop/src/note.md.", "/", "re you a note s3"),
            Write("shop/src/note.md", "no more", "/", "re you no more s3"),
            Break("api/wrangler.jsonc", "{ \"name\": }", "api/wrangler.jsonc:1:11: ", "/api", "hello there at level 3"),
            Write("api/wrangler.jsonc", API, "/api", "hello there at level 3"),
            Remove("shop/.dev.vars", "Ready on ", "/", "re you no more undefined"),
        ],
        said: &[
            "note: shop/wrangler.toml:6:",
            "Durable Objects are in memory",
            "Ready on http://127.0.0.1:",
            "Worker exceeded CPU time limit.",
            "error: service shop: Uncaught SyntaxError",
            "What was served before still is. Waiting for a change...",
            "Imports \"./note.md\", but there is no shop/src/note.md.",
        ],
    },
    Play {
        name: "an_environment",
        needs_esbuild: false,
        arguments: &["shop", "api", "--env=staging"],
        files: &[
            ("shop/wrangler.toml", SHOP),
            ("shop/src/index.js", SHOP_CODE),
            ("shop/src/greet.js", "export const greet = (who) => `hi ${who}`;"),
            ("shop/src/note.md", "a note\n"),
            ("shop/.dev.vars", "SECRET=unused"),
            ("shop/.dev.vars.staging", "SECRET=used"),
            ("api/wrangler.jsonc", API),
            ("api/index.js", API_CODE),
        ],
        steps: &[Ask("/", "hi stage a note used")],
        said: &["note: api/wrangler.jsonc:1:1: There is no environment \"staging\". What is at the top level is run."],
    },
    Play {
        name: "typescript_and_packages",
        needs_esbuild: true,
        arguments: &["app"],
        files: &[
            (
                "app/wrangler.json",
                r#"{ "name": "app", "main": "src/index.ts", "compatibility_date": "2026-08-15",
                     "compatibility_flags": ["nodejs_compat"], "vars": { "WHO": "you" },
                     "define": { "MODE": "'development'" } }"#,
            ),
            ("app/src/index.ts", APP_CODE),
            ("app/src/greet.ts", "export const greet = (who: string) => `hi ${who}`;\n"),
            ("app/src/note.txt", "a note\n"),
        ],
        steps: &[
            Ask("/", "hi you a note 78 development"),
            Ask("/fail", "Internal Server Error"),
            Ask("/log", "done"),
            Break(
                "app/src/greet.ts",
                "export const greet = (;",
                "src/greet.ts:1:22:",
                "/",
                "hi you a note 78 development",
            ),
            Write(
                "app/src/greet.ts",
                "export const greet = (who: string) => `re ${who}`;",
                "/",
                "re you a note 78 development",
            ),
            Break(
                "app/src/greet.ts",
                "\nthrow new Error('top');\nexport const greet = 1;",
                "greet.ts:2:7",
                "/",
                "re you a note 78 development",
            ),
            Write("app/src/note.txt", "unseen", "/", "re you a note 78 development"),
            Write(
                "app/src/greet.ts",
                "export const greet = (who: string) => `at ${who}`;",
                "/",
                "at you unseen 78 development",
            ),
        ],
        said: &[
            "uncaught exception: Error: on purpose\n",
            "(app/src/index.ts:12:9)",
            "esbuild cannot bundle src/index.ts:",
            "src/greet.ts:1:22:",
            "Uncaught Error: top\n  at app/src/greet.ts:2:7",
        ],
    },
];

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |play: &'static Play| {
        let ignored = play.needs_esbuild && !crate::packages::esbuild().exists();
        Trial::test(format!("dev::{}", play.name), || run(play).map_err(Into::into))
            .with_kind(if ignored { "run tools/packages.sh first" } else { "" })
            .with_ignored_flag(ignored)
    };
    let mut trials: Vec<Trial> = PLAYS.iter().map(trial).collect();
    trials.push(Trial::test("dev::no_project", || no_project().map_err(Into::into)));
    trials
}

/// A running `loaderd dev`, and all it has said.
struct Dev {
    _server: Server,
    said: Arc<Mutex<String>>,
    agent: ureq::Agent,
}

impl Dev {
    fn start(folder: &Path, arguments: &[&str]) -> Result<Self, String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loaderd"));
        command.arg("dev").args(arguments).arg("--port=0").current_dir(folder).stdin(Stdio::null());
        // As a project's own packages would be found.
        let packages = crate::packages::esbuild();
        let packages = packages.ancestors().nth(2).ok_or("no folder of packages")?;
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", packages.join(".bin").display())).env("NODE_PATH", packages);
        command.env_remove("LOADERD_LOG").stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("loaderd: {error}"))?;
        let stderr = child.stderr.take().ok_or("no standard error")?;
        let said = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                heard.push_str(&line);
                heard.push('\n');
            }
        });
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        Ok(Self { _server: Server(child), said, agent: ureq::Agent::new_with_config(config) })
    }

    fn said(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until something is said behind the first `before` bytes.
    fn says(&self, before: usize, what: &str) -> Result<(), String> {
        let heard = until(|| self.said()[before..].contains(what), what);
        heard.map_err(|error| format!("{error}; was said\n{}", self.said()))
    }

    fn ask(&self, path: &str) -> Result<String, String> {
        let said = self.said();
        let address = said.split("Ready on ").nth(1).and_then(|rest| rest.lines().next()).ok_or("not ready yet")?;
        let answer = self.agent.get(format!("{address}{path}")).call();
        answer.and_then(|mut answer| answer.body_mut().read_to_string()).map_err(|error| error.to_string())
    }

    fn answers(&self, path: &str, wanted: &str) -> Result<(), String> {
        let mut last = String::new();
        let answered = until(
            || {
                last = self.ask(path).unwrap_or_else(|error| error);
                last.starts_with(wanted)
            },
            wanted,
        );
        answered.map_err(|error| format!("{error}; last was {last:?}, and was said\n{}", self.said()))
    }
}

fn run(play: &Play) -> Result<(), String> {
    let folder = Scratch::new()?;
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        let written =
            std::fs::create_dir_all(path.parent().unwrap_or(&path)).and_then(|()| std::fs::write(&path, text));
        written.map_err(|error| format!("{file}: {error}"))
    };
    for (file, text) in play.files {
        write(file, text)?;
    }
    let dev = Dev::start(folder.path(), play.arguments)?;
    for step in play.steps {
        match step {
            Ask(path, answer) => dev.answers(path, answer)?,
            Write(file, text, path, answer) => {
                write(file, text)?;
                dev.answers(path, answer)?;
            }
            Break(file, text, said, path, answer) => {
                let before = dev.said().len();
                write(file, text)?;
                dev.says(before, said)?;
                dev.answers(path, answer)?;
            }
            Remove(file, said, path, answer) => {
                let before = dev.said().len();
                std::fs::remove_file(folder.path().join(file)).map_err(|error| format!("{file}: {error}"))?;
                dev.says(before, said)?;
                dev.answers(path, answer)?;
            }
        }
    }
    let said = dev.said();
    let mut rest = said.as_str();
    for part in play.said {
        let at = rest.find(part).ok_or_else(|| format!("{part:?} was not said in its place:\n{said}"))?;
        rest = &rest[at + part.len()..];
    }
    Ok(())
}

/// Nothing that could change would make it a project.
fn no_project() -> Result<(), String> {
    let folder = Scratch::new()?;
    for (argument, complaint) in [(".", "There is no wrangler.json"), ("gone", "gone: No such file")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loaderd"));
        let output = command.args(["dev", argument, "--port=0"]).current_dir(folder.path()).output();
        let output = output.map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.code() != Some(1) || !said.contains(complaint) {
            return Err(format!("exit {:?}: {said}", output.status.code()));
        }
    }
    Ok(())
}
