// Exits with 0 when the service in this container answers a path with 200, such as `probe.js /readyz`,
// for images that have no curl. In JavaScript, since it is run every few seconds and Node's compiler
// for TypeScript would be loaded for it each time.
import { env, exit, argv } from "node:process";

const port = env.OPERATIONS_PORT || env.PORT || 8080;
const everywhere = ["", "0.0.0.0", "::"].includes(env.HOST ?? "");
const host = everywhere ? "127.0.0.1" : env.HOST;
const authority = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

const answered = await fetch(`http://${authority}${argv[2] ?? "/healthz"}`, {
  signal: AbortSignal.timeout(2_000),
}).catch(() => undefined);
exit(answered?.status === 200 ? 0 : 1);
