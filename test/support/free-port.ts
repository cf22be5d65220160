import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below those that the system gives to connections, and to whoever listens at any. */
const PORTS = [10_000, 32_000] as const;

/**
 * Finds a port of the loopback address that nobody listens on, for a program that has to be told one, or that
 * comes back to it.
 */
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
