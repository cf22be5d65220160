import { once } from "node:events";
import { createServer, type Server } from "node:net";
import type { Config } from "../config/config.ts";

/** What of the configuration says where to listen. */
export type Addresses = Pick<Config, "host" | "port" | "grpcPort" | "operationsPort">;

/**
 * Finds out whether every port can be had, before anything else is begun.
 *
 * @throws Error that names the variable to change
 */
export async function assertPortsFree(addresses: Addresses): Promise<void> {
  const { host, port, grpcPort, operationsPort } = addresses;
  const servers = [
    await listenAs("PORT", host, port, listen),
    await listenAs("GRPC_PORT", host, grpcPort, listen),
  ];
  if (operationsPort !== undefined) {
    servers.push(await listenAs("OPERATIONS_PORT", host, operationsPort, listen));
  }
  await Promise.all(servers.map((server) => once(server.close(), "close")));
}

async function listen(host: string, port: number): Promise<Server> {
  const server = createServer().listen(port, host);
  await once(server, "listening");
  return server;
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
