using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "parent.js", esModule = embed "parent.js")],
    compatibilityDate = "2026-08-15",
    bindings = [(name = "LOADER", workerLoader = ())],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
