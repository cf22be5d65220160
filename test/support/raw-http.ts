import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { Answer } from "./client.ts";
import { answerOf } from "./endpoints.ts";
import { eventually } from "./eventually.ts";
import { whenOver } from "./when-over.ts";

/** Serves requests until the end of the test or its file, and returns the server's URL. */
export async function listenWith(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  whenOver(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Opens a TCP connection to a service, for requests that no HTTP client sends. */
export function openSocket(httpUrl: string): Socket {
  const { hostname, port } = new URL(httpUrl);
  return connect(Number(port), hostname).on("error", () => undefined);
}

/** Waits until connections to a service are refused. */
export async function untilRefused(url: string): Promise<void> {
  await eventually(`${url} to refuse connections`, async () => {
    const socket = openSocket(url);
    const outcome = new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(false));
      socket.once("error", (error: NodeJS.ErrnoException) => {
        resolve(error.code === "ECONNREFUSED");
      });
    });
    const isRefused = await outcome;
    socket.destroy();
    return isRefused;
  });
}

/** Sends bytes and reads one complete response that has a Content-Length. Keeps the connection open. */
export async function rawHttp(httpUrl: string, bytes: string | Uint8Array): Promise<Answer> {
  const socket = openSocket(httpUrl);
  try {
    socket.write(bytes);
    return await readAnswer(socket);
  } finally {
    socket.destroy();
  }
}

/** Reads one complete response that has a Content-Length. Keeps the connection open. */
export async function readAnswer(socket: Socket): Promise<Answer> {
  let received = Buffer.alloc(0);
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk]);
    const answer = parse(received.toString("latin1"));
    if (answer !== undefined) return answer;
  }
  throw new Error(`the connection closed after: ${received.toString("latin1")}`);
}

function parse(text: string): Answer | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  const body = text.slice(end + 4);
  if (body.length < Number(headers.get("content-length") ?? 0)) return undefined;
  return answerOf(Number(statusLine.split(" ")[1]), headers, body);
}
