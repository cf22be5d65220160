/** Ten thousand connections that send nothing must not keep a newcomer out, at either port. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, openSession, runDrill } from "./drill.ts";

const CONNECTIONS = 10_000;
/** How many are opened at once. */
const AT_ONCE = 250;
const NEWCOMER_MS = 1_000;
/** When all that stayed silent must be gone, in milliseconds. */
const GONE_MS = 13_000;

async function openSilent(port: number, localAddresses: readonly string[]): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < CONNECTIONS) {
    const opening = Array.from({ length: AT_ONCE }, (_, i) => {
      const localAddress = localAddresses[i % localAddresses.length];
      const socket = connect({ port, host: "127.0.0.1", localAddress });
      return socket.on("error", () => undefined).resume();
    });
    await Promise.all(
      opening.map((socket) => Promise.race([once(socket, "connect"), sleep(5_000)])),
    );
    sockets.push(...opening);
  }
  return sockets;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await Promise.race([work(), sleep(30_000)]);
  return Math.round(performance.now() - startMs);
}

async function callGrpc(port: number): Promise<void> {
  const session = await openSession(port);
  const stream = session.request({
    ":method": "POST",
    ":path": "/grpc.health.v1.Health/Check",
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.end(Buffer.alloc(5));
  stream.resume();
  await once(stream, "close");
  session.destroy();
}

const callHttp = (port: number) => fetch(`http://127.0.0.1:${port}/readyz`);

await runDrill(async ({ ports }) => {
  for (const [name, port, call] of [
    ["gRPC", ports.grpc, callGrpc],
    ["HTTP", ports.http, callHttp],
  ] as const) {
    for (const addresses of [["127.0.0.1"], ["127.0.0.2", "127.0.0.3", "127.0.0.4"]]) {
      const from = `${name}, ${CONNECTIONS} silent connections from ${addresses.length} address(es)`;
      const sockets = await openSilent(port, addresses);
      const startMs = performance.now();
      const tookMs = await timed(() => call(port));
      expect(`${from}: a newcomer is served`, tookMs <= NEWCOMER_MS, `after ${tookMs} ms`);
      const open = () => sockets.filter(({ closed }) => !closed).length;
      while (open() > 0 && performance.now() - startMs < GONE_MS) await sleep(100);
      const left = open();
      const waitedMs = Math.round(performance.now() - startMs);
      expect(
        `${from}: the silent ones are closed`,
        left === 0,
        `${left} left after ${waitedMs} ms`,
      );
      for (const socket of sockets) socket.destroy();
      await sleep(500);
    }
  }
});
