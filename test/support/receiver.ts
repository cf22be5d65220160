import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { whenOver } from "./when-over.ts";

/** A message that the receiver got. */
interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: any;
}

/** A webhook receiver on a free loopback port. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  close(): Promise<void>;
}

/** Responds to a message. `count` is the message's number, from 1. */
export type Answering = (response: ServerResponse, count: number) => void;

/** Starts a receiver, which responds with 204 by default. */
export async function startReceiver(
  answer: Answering = (response) => response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const text = Buffer.concat(chunks).toString();
    const { method, url: path, headers } = request;
    received.push({ method, path, headers, text, body: JSON.parse(text) });
    answer(response, received.length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    close: whenOver(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    }),
  };
}
