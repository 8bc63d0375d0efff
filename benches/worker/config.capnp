using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(
    name = "parent",
    worker = (
      modules = [(name = "parent", esModule = embed "parent.js")],
      compatibilityDate = "2026-07-01",
      bindings = [(name = "loader", workerLoader = ())],
    ),
  )],
  # The address is given on the command line.
  sockets = [(name = "http", http = (), service = "parent")],
);
