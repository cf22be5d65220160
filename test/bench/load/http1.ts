import { once } from "node:events";
import { connect } from "node:net";
import type { Connection, Done } from "./load.ts";

const NOTHING = Buffer.alloc(0);

/**
 * Opens a keep-alive HTTP/1.1 connection with one request in flight at a time. Parses only the
 * status and Content-Length, because the server shares the machine's processors.
 */
export async function openHttp1(port: number): Promise<Connection> {
  const socket = connect(port, "127.0.0.1").setNoDelay();
  await once(socket, "connect");
  let received: Buffer = NOTHING;
  let waiting: Done | undefined;
  const settle = (fault?: string) => {
    const done = waiting;
    const answer = received;
    waiting = undefined;
    received = NOTHING;
    done?.(fault, answer);
  };
  socket.on("data", (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const headEnd = received.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const head = received.toString("latin1", 0, headEnd);
    const bodyLength = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (bodyLength === undefined) return settle(`a response without Content-Length: ${head}`);
    if (received.length < headEnd + 4 + Number(bodyLength)) return;
    settle(head.startsWith("HTTP/1.1 2") ? undefined : received.toString());
  });
  socket.on("error", (error) => settle(error.message));
  socket.on("close", () => settle("the connection was closed"));
  return {
    sends: [
      (request, done) => {
        waiting = done;
        socket.write(request);
      },
    ],
    close: () => socket.destroy(),
  };
}
