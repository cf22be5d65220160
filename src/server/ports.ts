import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { Config } from "../config/config.ts";
import type { ListenAddress } from "../transport/connections/transport-server.ts";

export type Addresses = Pick<Config, "host" | "port" | "grpcPort" | "operationsPort" | "reusePort">;

/**
 * Checks that every port is available before startup continues. Connects instead of listening on the
 * port, because a proxy would mistake an open port for the service.
 *
 * @throws Error that names the variable to change
 */
export async function assertPortsFree(addresses: Addresses): Promise<void> {
  const { host, port, grpcPort, operationsPort, reusePort } = addresses;
  await listenAs("PORT", { host, port: 0, reusePort }, assertAddress);
  // Other processes of the service may listen on a shared port.
  if (!reusePort) {
    await listenAs("PORT", { host, port }, assertUnanswered);
    await listenAs("GRPC_PORT", { host, port: grpcPort }, assertUnanswered);
  }
  if (operationsPort !== undefined) {
    await listenAs("OPERATIONS_PORT", { host, port: operationsPort }, assertUnanswered);
  }
}

/** Kernel setting since Linux 5.14. 1 if processes that share a port take over pending connections. */
const MIGRATES = "/proc/sys/net/ipv4/tcp_migrate_req";

/** Returns a warning about the limitations of shared ports on this system. `undefined` if there are none. */
export async function sharedPortsWarning(
  { reusePort }: Pick<Addresses, "reusePort">,
  setting = MIGRATES,
): Promise<string | undefined> {
  if (!reusePort || (await readFile(setting, "latin1").catch(() => "")).startsWith("1")) return;
  return "pending connections may be reset when a process exits: run `sysctl -w net.ipv4.tcp_migrate_req=1`, so that other processes accept them";
}

/** Checks that the host is valid by listening briefly on another free port. */
async function assertAddress(at: ListenAddress): Promise<void> {
  const server = createServer().listen(at);
  await once(server, "listening");
  await once(server.close(), "close");
}

/** Rejects with the error of a port in use if another program listens on the port. */
async function assertUnanswered({ host, port }: ListenAddress): Promise<void> {
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
 * Runs a step that listens. If it fails, names the variable to change.
 *
 * @throws Error with one sentence for the operator
 */
export async function listenAs<T>(
  variable: "PORT" | "GRPC_PORT" | "OPERATIONS_PORT",
  at: ListenAddress,
  open: (at: ListenAddress) => Promise<T>,
): Promise<T> {
  try {
    return await open(at);
  } catch (cause) {
    throw new Error(sentenceFor(cause as NodeJS.ErrnoException, variable, at), { cause });
  }
}

function sentenceFor(
  { code, message }: NodeJS.ErrnoException,
  variable: string,
  { host, port, reusePort }: ListenAddress,
): string {
  switch (code) {
    case "EADDRINUSE":
      return (
        `port ${port} on ${host} is in use: stop the program that uses it, or set ${variable} to another port` +
        (reusePort ? "; processes that share it must run under the same account, each with REUSE_PORT=true" : "")
      );
    case "ENOTSUP":
      return "REUSE_PORT: this system cannot share a port among processes; give each process its own ports, behind a proxy";
    case "EACCES":
      return `this account is not allowed to listen on port ${port}: set ${variable} to 1024 or higher`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `HOST: ${host} is not an address of this machine`;
    default:
      return `${variable}: ${message}`;
  }
}
