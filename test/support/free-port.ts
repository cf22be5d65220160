import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Range below the ephemeral ports, which other connections use. */
const PORTS = [10_000, 32_000] as const;

/** Returns a free loopback port, for programs that need a fixed port. */
export async function freePort(): Promise<number> {
  const port = randomInt(...PORTS);
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return freePort();
  }
  server.close();
  await once(server, "close");
  return port;
}
