import { connect, constants } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { frame } from "../../support/raw-grpc.ts";
import { startServiceProcess, type ServiceProcess } from "../../support/service-process.ts";
import { startReplica } from "../../support/service.ts";

const STREAMS = 200;
/**
 * Number of workspaces. High enough that none exceeds its stream limit, even if the service detects
 * a cancellation late.
 */
const WORKSPACES = STREAMS / 20;

const database = await createDatabase();
const replica = await startReplica(database.url);
const apiKeys: string[] = [];
for (let i = 0; i < WORKSPACES; i++) apiKeys.push((await replica.addWorkspace()).apiKey);
await replica.close();

type Leave = (service: ServiceProcess, path: string) => Promise<void>;

/** Opens streams one after another over gRPC, and cancels each after a different delay of 0 to 19 ms. */
const leaveByGrpc: Leave = async (service, path) => {
  const session = connect(service.grpcUrl);
  for (let i = 0; i < STREAMS; i++) {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      "x-api-key": apiKeys[i % WORKSPACES]!,
    });
    stream.on("error", () => undefined);
    stream.end(frame(new Uint8Array()));
    await sleep(i % 20);
    stream.close(constants.NGHTTP2_CANCEL);
  }
  // Closes gracefully, so that all sent data arrives first.
  await new Promise<void>((resolve) => session.close(resolve));
};

/** Opens and cancels streams like `leaveByGrpc`, but with Connect, where canceling closes the connection. */
const leaveByConnect: Leave = async (service, path) => {
  for (let i = 0; i < STREAMS; i++) {
    const leaving = new AbortController();
    const call = fetch(service.httpUrl + path, {
      method: "POST",
      headers: {
        "content-type": "application/connect+json",
        "x-api-key": apiKeys[i % WORKSPACES]!,
      },
      body: frame(Buffer.from("{}")),
      signal: leaving.signal,
    });
    // Waits for the response, because only a call that has arrived completely can be canceled.
    const { body } = await call;
    await sleep(i % 20);
    leaving.abort();
    await body?.cancel().catch(() => undefined);
  }
};

test.each([
  ["events over gRPC", "shipments.v1.EventService/WatchEvents", leaveByGrpc],
  ["events over Connect", "shipments.v1.EventService/WatchEvents", leaveByConnect],
  ["health over gRPC", "grpc.health.v1.Health/Watch", leaveByGrpc],
  ["health over Connect", "grpc.health.v1.Health/Watch", leaveByConnect],
])("callers that cancel a stream of %s are logged as cancelled and not as errors", async (_, method, leave) => {
  const service = await startServiceProcess({ DATABASE_URL: database.url });
  await service.untilReady();
  await leave(service, `/${method}`);
  const calls = await eventually("a line for every stream", () => {
    const lines = service.log().filter((line) => line.method === method);
    return lines.length === STREAMS && lines;
  });
  expect(new Set(calls.map(({ code }) => code))).toEqual(new Set(["canceled"]));
  expect(service.log().filter(({ msg }) => msg === "defect")).toEqual([]);
});
