import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** Points at which the network can fail during a call. */
export const CUTS = ["before the request", "after the request", "during the request"] as const;

type CutPoint = (typeof CUTS)[number];

/** The network between a courier's phone and the service. */
export interface Network {
  /** Address of the service through this network. */
  readonly url: string;
  /** Whether the network is down: connections are closed without a response. */
  isDown: boolean;
  /** Whether the page that the service worker stores is from another version, as during a rollout. */
  isRollout: boolean;
  /** Fails the next POST with this name to a shipment, after which the network is down. Resolves when it has failed. */
  cutNext(cut: CutPoint, name: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a proxy in front of a service's HTTP server.
 *
 * @param clockOffsetMs difference of the phone's clock from the service's clock
 */
export async function startNetwork(httpUrl: string, clockOffsetMs = 0): Promise<Network> {
  let planned: { readonly cut: CutPoint; readonly name: string; readonly done: () => void } | undefined;
  const server = createServer((incoming, response) => {
    const { method, url } = incoming;
    const isPlanned = planned !== undefined && method === "POST" && url!.endsWith(`/${planned.name}`);
    if (network.isDown) return void incoming.socket.destroy();
    if (!isPlanned) return void forward(incoming, response).catch(() => incoming.socket.destroy());
    const { cut, done } = planned!;
    planned = undefined;
    network.isDown = true;
    void fail(incoming, cut).finally(done);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const network: Network = {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    isDown: false,
    isRollout: false,
    cutNext: (cut, name) => new Promise((done) => (planned = { cut, name, done })),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return network;

  async function fail(incoming: IncomingMessage, cut: CutPoint): Promise<void> {
    const body = Buffer.concat(await incoming.toArray());
    if (cut === "after the request") await responseTo(start(incoming).end(body));
    if (cut === "during the request") {
      const outgoing = start(incoming);
      // The service sees a body that ends too early.
      await new Promise((written) => outgoing.on("error", written).write(body.subarray(0, body.length / 2), written));
      outgoing.destroy();
    }
    incoming.socket.destroy();
  }

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const isOther = network.isRollout && incoming.url === "/c" && incoming.headers["sec-fetch-dest"] === "empty";
    if (isOther) delete incoming.headers["if-none-match"];
    const outgoing = start(incoming).end(Buffer.concat(await incoming.toArray()));
    const { status, headers, content } = await responseTo(outgoing);
    const isWorker = incoming.url === "/c/sw.js";
    if (isWorker || isOther) delete headers["content-length"];
    if (isOther) delete headers.etag;
    const text = isWorker ? moveClock(clockOffsetMs) + content.toString() : content;
    response.writeHead(status, headers).end(isOther ? text.toString().replaceAll("index-", "index-other-") : text);
  }

  function start({ method, url, headers }: IncomingMessage) {
    const { "accept-encoding": _encoding, ...others } = headers;
    return request(`${httpUrl}${url}`, { method: method!, headers: others });
  }
}

/** Script that moves the clock of a page or worker. */
export function moveClock(offsetMs: number): string {
  return `{ const now = Date.now; Date.now = () => now() + ${offsetMs}; }\n`;
}

async function responseTo(outgoing: ReturnType<typeof request>) {
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: answer.statusCode!, headers: answer.headers, content: Buffer.concat(await answer.toArray()) };
}
