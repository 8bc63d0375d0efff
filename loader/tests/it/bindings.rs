//! Bindings that need code to be made: wrapped ones, and those that evaluate strings; and the modules behind them.

use loaderd_loader::config::{
    Binding, BindingValue, Config, ExtensionModule, ExtensionVisibility, ServiceDesignator, WrappedBinding,
};

use crate::site;

const EXTENSIONS: &[(&str, ExtensionVisibility, &str)] = &[
    (
        "shop:prices",
        ExtensionVisibility::Public,
        "import rate from 'shop-internal:rate'; export const price = 2 * rate;",
    ),
    ("shop-internal:rate", ExtensionVisibility::Internal, "export default 21;"),
    ("shop:door", ExtensionVisibility::Public, "export default () => 'the public one';"),
    (
        "shop:door",
        ExtensionVisibility::Internal,
        "export default (env) => ({ opens: (key) => key === env.secret }); export const named = (env) => env;",
    ),
    (
        "shop:crossing",
        ExtensionVisibility::Internal,
        "import wrapped from 'cloudflare-internal:wrapped-binding';
         class Door extends wrapped.WrappedBinding {
           #inner;
           constructor(env) { super(env.fetcher); this.#inner = env.fetcher; }
           async ring() { return (await this.#inner.fetch('http://x/')).text(); }
         }
         export default (env) => new Door(env);",
    ),
    (
        "shop:eval",
        ExtensionVisibility::Public,
        "import unsafe from 'internal:unsafe-eval'; export const run = (s) => unsafe.eval(s);",
    ),
    ("shop:broken", ExtensionVisibility::Internal, "export default () => { throw new RangeError('no stock'); };"),
];

fn wrapped(module: &str, entrypoint: &str, inner: Vec<Binding>) -> BindingValue {
    BindingValue::Wrapped(WrappedBinding {
        module_name: module.into(),
        entrypoint: entrypoint.into(),
        inner_bindings: inner,
    })
}

fn secret() -> Vec<Binding> {
    vec![site::binding("secret", BindingValue::Text("sesame".into()))]
}

/// Runs a Worker and what it may ask.
async fn run(source: &str, bindings: Vec<Binding>) -> String {
    let main = site::worker(source, &["unsafe_module"], bindings);
    let other = site::worker(
        "export default { fetch() { return new Response('ding'); }, take(door) { return door.ring(); } };",
        &["no_rpc"],
        Vec::new(),
    );
    let extensions = EXTENSIONS.iter().map(|(name, visibility, source)| ExtensionModule {
        name: (*name).into(),
        visibility: *visibility,
        source: (*source).into(),
    });
    let config = Config {
        services: vec![site::worker_service("main", main), site::worker_service("other", other)],
        extensions: extensions.collect(),
        ..Config::default()
    };
    match site::start(&config).await {
        Ok((graph, _host)) => site::test_of(&graph).await,
        Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

#[tokio::test]
async fn extensions_offer_modules() {
    let cases = [
        ("import { price } from 'shop:prices'; export default { test() { return `${price}`; } }", "42"),
        ("export default { async test() { return `${(await import('shop:prices')).price}`; } }", "42"),
        ("import door from 'shop:door'; export default { test() { return door(); } }", "the public one"),
        ("import { run } from 'shop:eval'; export default { test() { return `${run('6 * 7')}`; } }", "42"),
        (
            "export default { async test() { try { await import('shop-internal:rate'); } catch (e) { return e.message; } } }",
            "No such module \"shop-internal:rate\".",
        ),
        (
            "export default { async test() { try { await import('internal:unsafe-eval'); } catch (e) { return e.message; } } }",
            "No such module \"internal:unsafe-eval\".",
        ),
        (
            "import 'shop-internal:rate'; export default {};",
            "service main: Uncaught Error: No such module \"shop-internal:rate\".\n  imported from \"main.js\"",
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(run(source, Vec::new()).await, expected, "{source}");
    }
}

#[tokio::test]
async fn internal_modules_make_bindings() {
    let other = || BindingValue::Service(ServiceDesignator::to("other"));
    let open = "export default { test(controller, env) { return `${env.B.opens('sesame')} ${env.B.opens('x')}`; } }";
    let named = "export default { test(controller, env) { return env.B.secret; } }";
    let ring = "export default { async test(controller, env) { return env.B.ring(); } }";
    let send = "export default { async test(controller, env) { return env.OTHER.take(env.B); } }";
    let cases = [
        (open, wrapped("shop:door", "default", secret()), "true false"),
        (named, wrapped("shop:door", "named", secret()), "sesame"),
        (ring, wrapped("shop:crossing", "default", vec![site::binding("fetcher", other())]), "ding"),
        (send, wrapped("shop:crossing", "default", vec![site::binding("fetcher", other())]), "ding"),
        (send, wrapped("shop:door", "default", secret()), "TypeError: door.ring is not a function"),
        (
            open,
            wrapped("shop:door", "absent", secret()),
            "service main: Uncaught Error: wrapped binding entrypoint is not a function: absent",
        ),
        (
            open,
            wrapped("shop:prices", "default", secret()),
            "service main: Uncaught Error: wrapped binding module can't be resolved (internal modules only): shop:prices",
        ),
        (open, wrapped("shop:broken", "default", secret()), "service main: Uncaught RangeError: no stock"),
    ];
    for (source, value, expected) in cases {
        let about = format!("{source} with {value:?}");
        let got = run(source, vec![site::binding("B", value), site::binding("OTHER", other())]).await;
        let first = got.split("\n  at ").next().unwrap_or_default();
        assert_eq!(first, expected, "{about}");
    }
}

#[tokio::test]
async fn strings_are_evaluated_where_the_configuration_says_so() {
    let cases = [
        ("return `${env.B.eval('1 + 1')}`", "2"),
        ("return `${env.B.newFunction('return a + b', 'add', 'a', 'b')(1, 2)}`", "3"),
        ("return `${await env.B.newAsyncFunction('return await a', 'wait', 'a')(Promise.resolve(4))}`", "4"),
        (
            "return `${env.B.newWasmModule(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) instanceof WebAssembly.Module}`",
            "true",
        ),
        ("let m = 1; try { env.B.eval('m'); } catch (e) { return e.name; }", "ReferenceError"),
        ("env.B.eval('1'); try { eval('1'); } catch (e) { return e.name; }", "EvalError"),
        ("return `${(await import('workerd:unsafe-eval')).default.eval('2 + 3')}`", "5"),
        ("return `${(await import('workerd:unsafe')).default.isTestAutogateEnabled()}`", "false"),
    ];
    for (body, expected) in cases {
        let source = format!("export default {{ async test(controller, env) {{ {body} }} }}");
        let other = site::binding("OTHER", BindingValue::Service(ServiceDesignator::to("other")));
        let got = run(&source, vec![site::binding("B", BindingValue::UnsafeEval), other]).await;
        assert_eq!(got, expected, "{body}");
    }
}

#[tokio::test]
async fn services_have_methods_for_workers_that_know_rpc_or_ask_for_what_is_experimental() {
    for (flags, expected) in [
        (&["rpc"][..], "function function"),
        (&["no_rpc"], "function undefined"),
        (&["no_rpc", "experimental"], "function function"),
    ] {
        let source = "export default { test(_, { OTHER }) { return `${typeof OTHER.fetch} ${typeof OTHER.take}`; } }";
        let other = site::worker("export default { take() {} };", &[], Vec::new());
        let binding = site::binding("OTHER", BindingValue::Service(ServiceDesignator::to("other")));
        let main = site::worker(source, flags, vec![binding]);
        let services = vec![site::worker_service("main", main), site::worker_service("other", other)];
        let config = Config { services, ..Config::default() };
        let (graph, _host) = site::start(&config).await.unwrap_or_else(|errors| panic!("{flags:?}: {errors:?}"));
        assert_eq!(site::test_of(&graph).await, expected, "{flags:?}");
    }
}
