/** A crowd of one workspace must leave places to the calls of another; cancelling harms nobody. */
import type { ClientHttp2Session } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { ListShipmentsRequestSchema } from "../../gen/shipments/v1/shipment_service_pb.js";
import { frame } from "../support/raw-grpc.ts";
import { expect, openSession, runDrill } from "./drill.ts";

const CROWD = 5_000;
const CONNECTIONS = 20;
const ROUNDS = 5;
const CALLS = 1_500;
const LIST = frame(toBinary(ListShipmentsRequestSchema, create(ListShipmentsRequestSchema)));

/** Calls a list; tells the gRPC status, or the reset. */
function list(session: ClientHttp2Session, apiKey: string, cancelMs?: number): Promise<string> {
  return new Promise((resolve) => {
    if (session.destroyed || session.closed) return resolve("connection lost");
    const stream = session.request({
      ":method": "POST",
      ":path": "/shipments.v1.ShipmentService/ListShipments",
      "content-type": "application/grpc",
      te: "trailers",
      "x-api-key": apiKey,
    });
    let status: string | undefined;
    const read = (headers: Record<string, unknown>) =>
      (status ??= headers["grpc-status"] as string | undefined);
    stream
      .on("response", read)
      .on("trailers", read)
      .on("error", () => undefined);
    stream.on("close", () => resolve(status === undefined ? `reset ${stream.rstCode}` : status));
    stream.resume().end(LIST);
    if (cancelMs !== undefined) setTimeout(() => stream.close(8), cancelMs);
  });
}

function tally(answers: readonly string[]): string {
  const counts = Map.groupBy(answers, (answer) => answer);
  return [...counts].map(([answer, all]) => `${all.length} × ${answer}`).join(", ");
}

await runDrill(async ({ ports, addWorkspace }) => {
  const [loud, quiet] = [await addWorkspace(), await addWorkspace()];

  const sessions = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => openSession(ports.grpc)),
  );
  const others = await openSession(ports.grpc);
  const crowd = Array.from({ length: CROWD }, (_, i) => list(sessions[i % CONNECTIONS]!, loud));
  const quietAnswers: string[] = [];
  for (let i = 0; i < 50; i++) {
    quietAnswers.push(await list(others, quiet));
    await sleep(5);
  }
  const seen = tally(quietAnswers);
  expect("a crowd of 5,000 calls: another workspace is served", seen === "50 × 0", seen);
  process.stdout.write(`         the crowd itself: ${tally(await Promise.all(crowd))}\n`);

  for (const share of [0.14, 0.5]) {
    const session = await openSession(ports.grpc);
    const kept: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const calls = Array.from({ length: CALLS }, (_, i) => {
        const isCancelled = i % 100 < share * 100;
        return { isCancelled, answer: list(session, loud, isCancelled ? i % 8 : undefined) };
      });
      for (const { isCancelled, answer } of calls) {
        const answered = await answer;
        if (!isCancelled) kept.push(answered);
      }
    }
    const answers = tally(kept);
    const promise = `${ROUNDS} × ${CALLS} calls, ${Math.round(share * 100)} % cancelled: the others are answered`;
    expect(promise, answers === `${kept.length} × 0`, answers);
    session.destroy();
  }
  for (const session of [...sessions, others]) session.destroy();
});
