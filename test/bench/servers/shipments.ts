/**
 * Ours, whole: the service as `serve` runs it, with its log at level info (to nowhere). Its
 * environment gives DATABASE_URL.
 */
import { pino } from "pino";
import { createApp } from "../../../src/app.ts";

const log = pino(
  { base: undefined },
  pino.destination({ dest: "/dev/null", sync: false, minLength: 4_096 }),
);
const app = createApp(
  { host: "127.0.0.1", port: 0, grpcPort: 0, databaseUrl: process.env.DATABASE_URL! },
  log,
);
const { http } = await app.listen();
await app.prepare();
process.stdout.write(`http://127.0.0.1:${http.port}\n`);
process.stdin.resume().on("end", () => process.exit());
