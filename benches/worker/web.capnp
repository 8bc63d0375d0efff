using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(
    name = "web",
    worker = (
      modules = [(name = "web", esModule = embed "web.js")],
      compatibilityDate = "2026-07-01",
    ),
  )],
  # The address is given on the command line.
  sockets = [(name = "http", http = (), service = "web")],
);
