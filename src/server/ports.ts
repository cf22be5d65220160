import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Config } from "../config/config.ts";

/** What of the configuration says where to listen. */
export type Addresses = Pick<Config, "host" | "port" | "grpcPort" | "operationsPort">;

/**
 * Finds out whether every port can be had, before anything else is begun. It asks who answers at them, and does
 * not listen itself: a proxy would take that for the service.
 *
 * @throws Error that names the variable to change
 */
export async function assertPortsFree(addresses: Addresses): Promise<void> {
  const { host, port, grpcPort, operationsPort } = addresses;
  await listenAs("PORT", host, 0, assertAddress);
  await listenAs("PORT", host, port, assertUnanswered);
  await listenAs("GRPC_PORT", host, grpcPort, assertUnanswered);
  if (operationsPort !== undefined) {
    await listenAs("OPERATIONS_PORT", host, operationsPort, assertUnanswered);
  }
}

/** Listens for a moment, at a port that nobody calls. */
async function assertAddress(host: string, port: number): Promise<void> {
  const server = createServer().listen(port, host);
  await once(server, "listening");
  await once(server.close(), "close");
}

/** Throws what listening does when something else listens there. */
async function assertUnanswered(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const socket = connect(port, host);
  const isTaken = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  if (isTaken) throw Object.assign(new Error("taken"), { code: "EADDRINUSE" });
}

/**
 * Listens, and when that fails says which variable to change.
 *
 * @throws Error with one sentence for the operator
 */
export async function listenAs<T>(
  variable: "PORT" | "GRPC_PORT" | "OPERATIONS_PORT",
  host: string,
  port: number,
  open: (host: string, port: number) => Promise<T>,
): Promise<T> {
  try {
    return await open(host, port);
  } catch (cause) {
    throw new Error(sentenceFor(cause as NodeJS.ErrnoException, variable, host, port), { cause });
  }
}

function sentenceFor(
  { code, message }: NodeJS.ErrnoException,
  variable: string,
  host: string,
  port: number,
): string {
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} at ${host} is taken: stop the program that has it, or set ${variable} to another port`;
    case "EACCES":
      return `this account may not listen at port ${port}: set ${variable} to 1024 or higher`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `HOST: ${host} is not an address of this machine`;
    default:
      return `${variable}: ${message}`;
  }
}
