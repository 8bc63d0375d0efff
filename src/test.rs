//! `loaderd test`: runs what the Workers of a config export as `test`, one after the other, in the config's order.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use loaderd_loader::HostLimits;
use loaderd_loader::config::{Config, OverrideUse, ServiceDesignator, Validation};
use loaderd_loader::graph::{Graph, Server};
use loaderd_runtime::limits::ResourceLimits;
use loaderd_wrangler_compat::{Diagnostic, Encoded};

use crate::config::{ConfigArgs, problem, refuse};
use crate::services::{ChangeArgs, Console, checked_config, places, start};
use crate::terminal::{self, LogFormat};
use crate::watch::{Watcher, start_over};

#[derive(clap::Args, Debug)]
#[command(after_help = "\
A test is an exported object or class with a method `test`, which passes if it returns:
    export default { async test(ctrl, env, ctx) { ... } };")]
pub(crate) struct TestArgs {
    #[command(flatten)]
    config: ConfigArgs,

    /// Which tests: SERVICE, SERVICE:ENTRYPOINT or CONSTANT:SERVICE:ENTRYPOINT, where `*` and `?` match anything
    filter: Option<Filter>,

    /// The compatibility date of all Workers, which then must not have one of their own
    #[arg(long, value_name = "DATE")]
    compat_date: Option<String>,

    /// Do not print what tests threw
    #[arg(long)]
    no_verbose: bool,

    /// Let tests ask V8 to collect garbage; nothing else in loaderd would differ from run to run
    #[arg(long)]
    predictable: bool,

    /// Accepted; loaderd has no gates
    #[arg(long)]
    all_autogates: bool,

    #[arg(long, hide = true)]
    gc_stress: bool,

    #[command(flatten)]
    change: ChangeArgs,
}

/// Which tests are run.
#[derive(Clone, Debug)]
struct Filter {
    constant: Option<String>,
    service: String,
    entrypoint: String,
}

impl std::str::FromStr for Filter {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<String> = text.split(':').map(str::to_owned).collect();
        let (constant, service, entrypoint) = match <[String; 3]>::try_from(parts) {
            Ok([constant, service, entrypoint]) => (Some(constant), service, entrypoint),
            Err(parts) => match <[String; 2]>::try_from(parts) {
                Ok([service, entrypoint]) => (None, service, entrypoint),
                Err(parts) if parts.len() == 1 => (None, parts.concat(), "*".into()),
                Err(_) => return Err("Too many colons."),
            },
        };
        Ok(Self { constant, service, entrypoint })
    }
}

impl Filter {
    fn all() -> Self {
        Self { constant: None, service: "*".into(), entrypoint: "*".into() }
    }
}

/// Whether a name matches a pattern in which `*` stands for anything and `?` for one character.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // `reached[n]`: what came of the pattern so far matches the first `n` characters.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for wanted in pattern {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            next[at] = if wanted == '*' {
                reached[at] || (at > 0 && next[at - 1])
            } else {
                at > 0 && reached[at - 1] && (wanted == '?' || wanted == name[at - 1])
            };
        }
        reached = next;
    }
    reached[name.len()]
}

/// Start-up in tests: what they load is their own business, and machines that test are busy.
const STARTUP_CPU: std::time::Duration = std::time::Duration::from_secs(60);

/// How long a test's traces may be on their way before the next test begins.
const TRACES_WAIT_MAX: std::time::Duration = std::time::Duration::from_millis(500);

pub(crate) fn run(arguments: &TestArgs) -> ExitCode {
    if let Err(code) = arguments.change.check() {
        return code;
    }
    terminal::start_logging(arguments.change.log_level(), LogFormat::Text);
    if arguments.gc_stress {
        return refuse(&[problem("--gc-stress is not supported by loaderd.")]);
    }
    let watcher = Watcher::default();
    match arguments.read(&watcher) {
        Ok((encoded, config)) => {
            let mut flags = config.v8_flags.clone();
            flags.extend(arguments.predictable.then(|| "--expose-gc".to_owned()));
            crate::with_v8(&flags, test(arguments, &encoded, &config, &watcher))
        }
        Err(problems) if arguments.change.watch => {
            refuse(&problems);
            watcher.wait();
            start_over()
        }
        Err(problems) => refuse(&problems),
    }
}

impl TestArgs {
    fn read(&self, watcher: &Watcher) -> Result<(Encoded, Config), Vec<Diagnostic>> {
        let constant = self.filter.as_ref().and_then(|filter| filter.constant.as_deref());
        let encoded = self.config.read(constant, watcher)?;
        let overrides = self.change.overrides(Vec::new());
        let config = checked_config(&encoded, &overrides, OverrideUse::Test, &self.validation())?;
        Ok((encoded, config))
    }

    fn validation(&self) -> Validation {
        Validation { experimental: self.change.experimental(), compat_date: self.compat_date.clone() }
    }
}

async fn test(arguments: &TestArgs, encoded: &Encoded, config: &Config, watcher: &Watcher) -> ExitCode {
    let limits =
        HostLimits { invocation: ResourceLimits::default(), startup_cpu: STARTUP_CPU, ..HostLimits::default() };
    let outcome =
        match start(config, limits, &arguments.validation(), arguments.change.extras(), Arc::new(Console)).await {
            Ok(graph) => match Server::bind(&graph, &config.sockets).await {
                Ok(server) => {
                    // As in workerd the sockets are served meanwhile: a test may be its own client.
                    let serving = tokio::spawn(server.run(std::future::pending()));
                    let outcome = run_tests(arguments, config, &graph).await;
                    serving.abort();
                    outcome
                }
                Err(error) => Err(vec![error.to_string()]),
            },
            Err(problems) => Err(places(encoded, &problems)),
        };
    let code = match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            for problem in problems {
                terminal::say(&problem);
            }
            ExitCode::FAILURE
        }
    };
    if !arguments.change.watch {
        return code;
    }
    watcher.changed().await;
    start_over()
}

/// Runs the tests that the filter lets through. Exactly the failures are errors, and that there was no test at all.
async fn run_tests(arguments: &TestArgs, config: &Config, graph: &Graph) -> Result<(), Vec<String>> {
    let filter = arguments.filter.clone().unwrap_or_else(Filter::all);
    let (mut passed, mut failed) = (0, 0);
    for service in config.services.iter().filter(|service| matches(&filter.service, &service.name)) {
        let Some(entrypoints) = graph.entrypoints(&service.name) else { continue };
        for entrypoint in entrypoints.iter().filter(|it| it.handles("test")) {
            if !matches(&filter.entrypoint, &entrypoint.name) {
                continue;
            }
            let is_default = entrypoint.name == "default";
            let title = if is_default { service.name.clone() } else { format!("{}:{}", service.name, entrypoint.name) };
            let designator = ServiceDesignator {
                entrypoint: (!is_default).then(|| entrypoint.name.clone()),
                ..ServiceDesignator::to(&service.name)
            };
            terminal::say(&format!("loaderd: debug: [ TEST ] {title}"));
            let started = Instant::now();
            let result = graph.service(&designator).deliver("test", Vec::new()).await;
            let time = started.elapsed();
            let word = if result.is_ok() { "PASS" } else { "FAIL" };
            if let Err(error) = &result
                && !arguments.no_verbose
            {
                terminal::say(&format!("loaderd: info: uncaught exception; exception = {}", error.report()));
            }
            terminal::say(&format!("loaderd: debug: [ {word} ] {title} ({:.1}ms)", time.as_secs_f64() * 1000.0));
            // What the next test looks at may be what this one told its tails.
            graph.traces_delivered(TRACES_WAIT_MAX).await;
            if result.is_ok() { passed += 1 } else { failed += 1 }
        }
    }
    match (passed, failed) {
        (0, 0) => Err(vec!["loaderd: error: No tests found!".into(), "Tests failed!".into()]),
        (_, 0) => Ok(()),
        _ => Err(vec!["Tests failed!".into()]),
    }
}

#[cfg(test)]
mod tests {
    use super::{Filter, matches};

    #[test]
    fn patterns() {
        let cases = [
            ("*", "anything", true),
            ("", "", true),
            ("", "a", false),
            ("a*c", "abbbc", true),
            ("a*c", "abbb", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*-test", "x-test", true),
            ("[a]", "a", false),
            ("**a**", "a", true),
        ];
        for (pattern, name, wanted) in cases {
            assert_eq!(matches(pattern, name), wanted, "{pattern} {name}");
        }
    }

    #[test]
    fn filters() {
        let parts = |text: &str| text.parse::<Filter>().map(|it| (it.constant, it.service, it.entrypoint));
        assert_eq!(parts("s"), Ok((None, "s".into(), "*".into())));
        assert_eq!(parts("s:e"), Ok((None, "s".into(), "e".into())));
        assert_eq!(parts("c:s:e"), Ok((Some("c".into()), "s".into(), "e".into())));
        assert_eq!(parts("a:b:c:d"), Err("Too many colons."));
    }
}
