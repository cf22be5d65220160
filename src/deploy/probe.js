// Exits with 0 if the service in this container returns 200 for a path, for example `probe.js /readyz`. It exists for
// images without curl. It is written in JavaScript, because it runs every few seconds and Node would load its
// TypeScript compiler each time.
import { env, exit, argv } from "node:process";

const port = env.OPERATIONS_PORT || env.PORT || 8080;
const everywhere = ["", "0.0.0.0", "::"].includes(env.HOST ?? "");
const host = everywhere ? "127.0.0.1" : env.HOST;
const authority = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

const answered = await fetch(`http://${authority}${argv[2] ?? "/healthz"}`, {
  signal: AbortSignal.timeout(2_000),
}).catch(() => undefined);
exit(answered?.status === 200 ? 0 : 1);
