/** Callers that ask for large answers and never read them must not hold memory for ever. */
import type { ClientHttp2Session } from "node:http2";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { ListShipmentsRequestSchema } from "../../gen/shipments/v1/shipment_service_pb.js";
import { BOOKING } from "../support/bookings.ts";
import { frame } from "../support/raw-grpc.ts";
import { expect, memoryMiB, openSession, runDrill, type Drill } from "./drill.ts";

/** What 128 MiB that wait, and 500 lists that are being made, may add; all would be gigabytes. */
const MAX_GROWTH_MIB = 1_200;
/**
 * When what is not read must be gone, in milliseconds: a call may wait 30 s behind others of its
 * connection, then for a place of its workspace, and its answer 30 s for its reader.
 */
const GONE_MS = 100_000;
const LIST = frame(
  toBinary(ListShipmentsRequestSchema, create(ListShipmentsRequestSchema, { pageSize: 100 })),
);

/** Books shipments with so many notes that a page of them is about a megabyte. */
async function fill({ ports }: Drill, apiKey: string): Promise<number> {
  const metadata = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`note_${i}`, "x".repeat(490)]),
  );
  for (let i = 0; i < 100; i++) {
    const answer = await fetch(`http://127.0.0.1:${ports.http}/v1/shipments`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ ...BOOKING, metadata }),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
  }
  const page = await fetch(`http://127.0.0.1:${ports.http}/v1/shipments?page_size=100`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  return (await page.text()).length;
}

/** Asks for as many lists on one connection, and reads none; tells how many are still open. */
async function ask(port: number, apiKey: string, lists: number): Promise<() => number> {
  const session: ClientHttp2Session = await openSession(port, 0);
  let open = lists;
  for (let i = 0; i < lists; i++) {
    const stream = session.request({
      ":method": "POST",
      ":path": "/shipments.v1.ShipmentService/ListShipments",
      "content-type": "application/grpc",
      te: "trailers",
      "x-api-key": apiKey,
    });
    stream.on("error", () => undefined).on("close", () => open--);
    stream.end(LIST);
  }
  return () => open;
}

/** The same in a pipeline of HTTP/1.1, without reading a byte. */
function askHttp(port: number, apiKey: string, lists: number): Socket {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  const head = `GET /v1/shipments?page_size=100 HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKey}\r\n\r\n`;
  socket.write(head.repeat(lists));
  return socket.pause();
}

await runDrill(async (service) => {
  const { ports, pid } = service;
  const apiKey = await service.addWorkspace();
  process.stdout.write(`  a page of ${await fill(service, apiKey)} bytes\n`);
  const before = memoryMiB(pid);
  for (const [what, connections, lists] of [
    ["400 lists on one connection", 1, 400],
    ["9,000 lists on 18 connections", 18, 500],
  ] as const) {
    const open = await Promise.all(
      Array.from({ length: connections }, () => ask(ports.grpc, apiKey, lists)),
    );
    const left = () => open.reduce((sum, one) => sum + one(), 0);
    const startMs = performance.now();
    let most = 0;
    while (left() > 0 && performance.now() - startMs < GONE_MS) {
      most = Math.max(most, memoryMiB(pid));
      await sleep(100);
    }
    const waitedMs = Math.round(performance.now() - startMs);
    expect(`${what}: all are reset`, left() === 0, `${left()} open after ${waitedMs} ms`);
    const seen = `${before} MiB before, ${most} at most, ${memoryMiB(pid)} after`;
    expect(`${what}: memory stays bounded`, most - before <= MAX_GROWTH_MIB, seen);
  }
  const sockets = Array.from({ length: 50 }, () => askHttp(ports.http, apiKey, 200));
  let most = 0;
  for (const startMs = performance.now(); performance.now() - startMs < GONE_MS; await sleep(100)) {
    most = Math.max(most, memoryMiB(pid));
  }
  const metrics = await fetch(`http://127.0.0.1:${ports.http}/metrics`);
  const inFlight = /^shipments_requests_in_flight (\d+)$/m.exec(await metrics.text())?.[1];
  const seen = `${before} MiB before, ${most} at most, ${memoryMiB(pid)} after`;
  expect(
    "10,000 lists in 50 pipelines: memory stays bounded",
    most - before <= MAX_GROWTH_MIB,
    seen,
  );
  expect("10,000 lists in 50 pipelines: none is left", inFlight === "0", `${inFlight} in flight`);
  for (const socket of sockets) socket.destroy();
});
process.exit();
