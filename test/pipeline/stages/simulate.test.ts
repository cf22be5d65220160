import { randomUUID } from "node:crypto";
import { connect, constants } from "node:http2";
import { create, toBinary, type DescService } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import { Code, ConnectError, type CallOptions } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { BOOKING, book, RPC_BOOKING } from "../../support/bookings.ts";
import type { RequestOptions } from "../../support/client.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { frame } from "../../support/raw-grpc.ts";
import { PROTOCOLS, rpcClient } from "../../support/rpc-client.ts";
import { startService } from "../../support/service.ts";
import { take } from "../../support/take.ts";

const service = await startService();
const { apiKey: liveKey, twin } = await service.addWorkspace();
const { apiKey } = twin;

const DAY_MS = 86_400_000;

type Name = keyof typeof PROTOCOLS;
const NAMES = Object.keys(PROTOCOLS) as Name[];

/** Books over JSON. Returns `undefined` if the connection breaks. */
async function bookByJson(simulate: string, key = apiKey, idempotencyKey: string = randomUUID()) {
  const headers = { simulate, "idempotency-key": idempotencyKey };
  const options = { apiKey: key, body: BOOKING, headers };
  const answer = await service.request("/v1/shipments", options).catch(() => undefined);
  return (
    answer && {
      status: answer.status,
      simulated: answer.headers.get("simulated"),
      retryAfter: answer.headers.get("retry-after"),
      body: answer.body,
    }
  );
}

/** Books over a protocol. Returns the code and the header that names the simulation. */
async function bookBy(protocol: Name, simulate: string, key = apiKey) {
  let simulated: string | null = null;
  const options: CallOptions = {
    headers: { simulate },
    onHeader: (headers) => void (simulated = headers.get("simulated")),
  };
  const client = rpcClient(ShipmentService, PROTOCOLS[protocol], service, key);
  try {
    await client.createShipment(RPC_BOOKING, options);
    return { code: "ok", simulated };
  } catch (error) {
    const { code, metadata } = ConnectError.from(error);
    return { code: Code[code], simulated: simulated ?? metadata.get("simulated") };
  }
}

async function count(workspace: number): Promise<number> {
  const sql = "select count(*)::int as rows from shipment where workspace_id = ?";
  const [row] = await service.app.em.execute(sql, [workspace]);
  return row!.rows;
}

/** Returns the code that a client reports for a lost response: of a reset stream, or of a broken connection. */
const lostBy = (protocol: Name) => (protocol.endsWith("gRPC server") ? "Internal" : "Aborted");

const REFUSALS = [
  ["unavailable", 503, "Unavailable", "The service is unavailable, as requested by Simulate. Try again."],
  ["rate_limited", 429, "ResourceExhausted", "The workspace has used up its calls, as requested by Simulate."],
] as const;

test.each(REFUSALS)("%s refuses a call", async (fault, status, _, text) => {
  expect(await bookByJson(fault)).toEqual({
    status,
    simulated: fault,
    retryAfter: "1",
    body: errorBody(text),
  });
});

const { reference } = await book(service, apiKey);
const updated = { metadata: { order: "4711" } };

/** RPCs that can be called repeatedly, with the equivalent JSON requests. */
const RPCS: readonly {
  readonly service: DescService;
  readonly method: string;
  readonly fields: object;
  readonly path: string;
  readonly json?: RequestOptions;
  readonly writes?: true;
}[] = [
  { service: WorkspaceService, method: "getWorkspace", fields: {}, path: "/v1/workspace" },
  {
    service: ShipmentService,
    method: "quoteShipment",
    fields: RPC_BOOKING,
    path: "/v1/shipments/quote",
    json: { body: BOOKING },
  },
  {
    service: ShipmentService,
    method: "updateShipment",
    fields: { shipment: reference, ...updated },
    path: `/v1/shipments/${reference}`,
    json: { method: "PATCH", body: updated },
    writes: true,
  },
];

/** Returns the outcome of a call over a protocol, and the simulation named in the response. */
async function outcomeBy(protocol: Name, { service: of, method, fields }: (typeof RPCS)[number], simulate: string) {
  let simulated: string | null = null;
  const client = rpcClient(of, PROTOCOLS[protocol], service, apiKey) as any;
  const headers = { simulate };
  const onHeader = (got: Headers) => void (simulated = got.get("simulated"));
  const call: Promise<unknown> = client[method](fields, { headers, onHeader });
  const outcome = await call.then(() => ({ code: "ok" }), codeAndHeader);
  return { simulated, ...outcome };
}

function codeAndHeader(error: unknown) {
  const { code, metadata } = ConnectError.from(error);
  const simulated = metadata.get("simulated");
  return { code: Code[code], ...(simulated === null ? {} : { simulated }) };
}

describe.each(RPCS)("$method", (rpc) => {
  /** Calls over JSON and returns the status and body. `undefined` if the connection breaks. */
  async function byJson(simulate: string) {
    const options = { ...rpc.json, apiKey, headers: { simulate } };
    const answer = await service.request(rpc.path, options).catch(() => undefined);
    return answer && { status: answer.status, simulated: answer.headers.get("simulated") };
  }
  const byAll = (simulate: string) => Promise.all(NAMES.map((protocol) => outcomeBy(protocol, rpc, simulate)));
  const ofAll = (outcome: object) => NAMES.map(() => outcome);

  test.each(REFUSALS)("is refused by %s", async (simulated, status, code) => {
    expect(await byJson(simulated)).toEqual({ status, simulated });
    expect(await byAll(simulated)).toEqual(ofAll({ code, simulated }));
  });

  test("succeeds when it is delayed", async () => {
    const simulated = "slow=20";
    expect(await byJson(simulated)).toEqual({ status: 200, simulated });
    expect(await byAll(simulated)).toEqual(ofAll({ code: "ok", simulated }));
  });

  test("loses its response", async () => {
    expect(await byJson("lose_answer")).toBeUndefined();
    const lost = NAMES.map((name) => ({ code: lostBy(name), simulated: null }));
    expect(await byAll("lose_answer")).toEqual(lost);
  });

  test("returns the errors of write calls only if it writes", async () => {
    for (const simulated of ["duplicate_webhook", "reorder_webhooks", "fail_webhook=1"]) {
      const [status, code] = rpc.writes ? [200, "ok"] : [422, "InvalidArgument"];
      const logged = { simulated: rpc.writes ? simulated : null };
      expect(await byJson(simulated)).toEqual({ status, ...logged });
      expect(await byAll(simulated)).toEqual(ofAll({ code, ...logged }));
    }
    const [status, code] = rpc.writes ? [409, "Aborted"] : [422, "InvalidArgument"];
    const logged = { simulated: rpc.writes ? "in_flight" : null };
    expect(await byJson("in_flight")).toEqual({ status, ...logged });
    expect(await byAll("in_flight")).toEqual(ofAll({ code, ...logged }));
  });
});

test.each(NAMES)("a stream returns simulated errors, but not with a live key, over %s", async (protocol) => {
  /** Returns a stream's first event or its error, and the simulation named in the response. */
  async function watch(simulate: string, key = apiKey) {
    let simulated: string | null = null;
    const onHeader = (got: Headers) => void (simulated = got.get("simulated"));
    const events = rpcClient(EventService, PROTOCOLS[protocol], service, key);
    const stream = events.watchEvents({}, { headers: { simulate }, onHeader });
    const outcome = await take(1, stream).then(() => ({ code: "ok" }), codeAndHeader);
    return { simulated, ...outcome };
  }
  for (const [simulated, , code] of REFUSALS) {
    expect(await watch(simulated)).toEqual({ code, simulated });
  }
  expect(await watch("slow=20")).toEqual({ code: "ok", simulated: "slow=20" });
  expect(await watch("lose_answer")).toMatchObject({ code: lostBy(protocol) });
  expect(await watch("in_flight")).toEqual({ code: "InvalidArgument", simulated: null });
  await book(service, liveKey);
  expect(await watch("unavailable", liveKey)).toEqual({ code: "ok", simulated: "ignored" });
});

test("slow delays a call, and a simulated error is returned after the delay", async () => {
  for (const [simulate, status] of [
    ["slow=300", 201],
    ["slow=300, unavailable", 503],
  ] as const) {
    const startedMs = performance.now();
    expect(await bookByJson(simulate)).toMatchObject({ status, simulated: simulate });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(295);
  }
  const deadline = { "connect-timeout-ms": "50", simulate: "slow=9000" };
  const late = await service.request("/v1/shipments", { apiKey, headers: deadline });
  expect(late.status).toBe(504);
});

test.each(["JSON", ...NAMES])(
  "delays 20 calls of a workspace at a time, and a cancelled call frees its slot, over %s",
  async (by) => {
    const { twin: own } = await service.addWorkspace();
    const leaving = new AbortController();
    const { setTimeout: start } = globalThis;
    const timers = vi.spyOn(globalThis, "setTimeout");
    // A timer that never fires, so that only canceling ends the wait.
    const never = (run: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) =>
      start(run, ms === 9_999 ? DAY_MS : ms, ...given);
    timers.mockImplementation(never as typeof setTimeout);
    onTestFinished(() => timers.mockRestore());
    /** Books and returns whether the booking succeeded, was refused or was aborted. */
    const tryBooking = (simulate: string, { signal } = new AbortController()) => {
      const headers = { simulate };
      if (by === "JSON") {
        const answer = fetch(`${service.httpUrl}/v1/shipments`, {
          method: "POST",
          headers: {
            ...headers,
            authorization: `Bearer ${own.apiKey}`,
            "content-type": "application/json",
          },
          body: JSON.stringify(BOOKING),
          signal,
        });
        return answer.then(
          ({ status }) => (status === 503 ? "refused" : status),
          () => "gone",
        );
      }
      const client = rpcClient(ShipmentService, PROTOCOLS[by as Name], service, own.apiKey);
      const answer = client.createShipment(RPC_BOOKING, { headers, signal });
      return answer.then(
        () => 201,
        ({ code }) => (code === Code.Unavailable ? "refused" : "gone"),
      );
    };
    const slowDown = () => tryBooking("slow=9999", leaving);
    const slow = Array.from({ length: 20 }, slowDown);
    // On a busy machine, some of the first calls are refused for other reasons, or end at their deadline.
    await eventually("all slots to be taken", async () => {
      if ((await tryBooking("slow=1")) === "refused") return true;
      slow.push(slowDown());
      return false;
    });
    leaving.abort();
    const before = await count(own.id);
    await eventually("a free slot", async () => (await tryBooking("slow=1")) === 201);
    const gone = (await Promise.all(slow)).filter((outcome) => outcome === "gone");
    expect(gone.length).toBeGreaterThanOrEqual(20);
    expect(await count(own.id)).toBe(before + 1);
  },
);

const INVALID_VALUES = [
  "",
  ",",
  "nonsense",
  "Unavailable",
  "slow",
  "slow=",
  "slow=-1",
  "slow=10001",
  "slow=1e3",
  "slow=1e9",
  "slow=1000000000",
  "slow=NaN",
  "slow=1.5",
  "unavailable,",
  "unavailable=1",
  "unavailable, unavailable",
  "slow=1, slow=2",
  "constructor",
  "__proto__",
  "fail_webhook",
  "fail_webhook=11",
  "unavailable".repeat(900),
  Array.from({ length: 900 }, () => "unavailable").join(","),
];

const INVALID_TEXT =
  "Simulate must be a comma-separated list of faults without duplicates. All calls: unavailable, rate_limited, lose_answer, slow=MS (up to 10000). Writes only: in_flight, slot_full, duplicate_webhook, reorder_webhooks, fail_webhook=N (up to 10).";

test("refuses invalid Simulate values over every protocol, without side effects", async () => {
  const before = await count(twin.id);
  for (const simulate of INVALID_VALUES) {
    const shortValue = simulate.slice(0, 50);
    expect(await bookByJson(simulate), shortValue).toEqual({
      status: 422,
      simulated: null,
      retryAfter: null,
      body: errorBody(INVALID_TEXT, "simulate"),
    });
  }
  for (const protocol of NAMES) {
    const refused = { code: "InvalidArgument", simulated: null };
    expect(await bookBy(protocol, "nonsense"), protocol).toEqual(refused);
  }
  expect(await count(twin.id)).toBe(before);
});

test("treats repeated headers as one list", async () => {
  const headers = (...values: string[]): [string, string][] => [
    ["authorization", `Bearer ${apiKey}`],
    ...values.map((value): [string, string] => ["simulate", value]),
  ];
  const statusOf = async (...values: string[]) => {
    const answer = await fetch(`${service.httpUrl}/v1/workspace`, { headers: headers(...values) });
    return [answer.status, answer.headers.get("simulated")];
  };
  expect(await statusOf("slow=1", "unavailable")).toEqual([503, "slow=1, unavailable"]);
  expect(await statusOf("unavailable", "unavailable")).toEqual([422, null]);
});

test("ignores Simulate in live and operator calls, and reports it in a header", async () => {
  for (const simulate of ["unavailable", "lose_answer", "nonsense"]) {
    expect(await bookByJson(simulate, liveKey)).toMatchObject({
      status: 201,
      simulated: "ignored",
    });
    for (const protocol of NAMES) {
      const logged = { code: "ok", simulated: "ignored" };
      expect(await bookBy(protocol, simulate, liveKey), protocol).toEqual(logged);
    }
  }
  const { key } = await service.addOperator();
  const headers = { simulate: "unavailable" };
  const listed = await service.request("/admin/v1/workspaces", { apiKey: key, headers });
  expect([listed.status, listed.headers.get("simulated")]).toEqual([200, "ignored"]);
  const { headers: plain } = await service.request("/v1/shipments", { apiKey });
  expect(plain.get("simulated")).toBeNull();
});

test("lose_answer books and breaks the connection or resets the stream, over every protocol", async () => {
  const before = await count(twin.id);
  expect(await bookByJson("lose_answer")).toBeUndefined();
  expect(await count(twin.id)).toBe(before + 1);
  for (const [i, protocol] of NAMES.entries()) {
    const logged = { code: lostBy(protocol), simulated: null };
    expect(await bookBy(protocol, "lose_answer"), protocol).toEqual(logged);
    expect(await count(twin.id), protocol).toBe(before + 2 + i);
  }
});

test("grpc-js reports a lost response as INTERNAL, and a retry books once", async () => {
  const { typeName, method } = ShipmentService;
  const client = new Client(service.grpcUrl.slice("http://".length), credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${apiKey}`);
  metadata.set("simulate", "lose_answer");
  metadata.set("idempotency-key", randomUUID());
  const before = await count(twin.id);
  const codes: (status | "ok")[] = [];
  do {
    const code = await new Promise<status | "ok">((resolve) =>
      client.makeUnaryRequest(
        `/${typeName}/${method.createShipment.name}`,
        (request: Uint8Array) => Buffer.from(request),
        (response) => response,
        toBinary(method.createShipment.input, create(method.createShipment.input, RPC_BOOKING)),
        metadata,
        (error) => resolve(error?.code ?? "ok"),
      ),
    );
    codes.push(code);
  } while (codes.at(-1) === status.INTERNAL);
  client.close();
  expect(codes).toEqual([status.INTERNAL, "ok"]);
  expect(await count(twin.id)).toBe(before + 1);
});

test("a lost response on an HTTP/2 connection does not affect other calls", async () => {
  const { method } = ShipmentService;
  const session = connect(service.grpcUrl);
  onTestFinished(() => session.destroy());
  /** Lists or books shipments. Returns the stream's code, and whether there was a response. */
  const call = (name: "listShipments" | "createShipment", simulate: string) =>
    new Promise<readonly [resetBy: number, answered: boolean]>((resolve) => {
      const stream = session.request({
        ":method": "POST",
        ":path": `/${ShipmentService.typeName}/${method[name].name}`,
        "content-type": "application/grpc",
        te: "trailers",
        authorization: `Bearer ${apiKey}`,
        simulate,
      });
      let answered = false;
      stream.on("response", () => (answered = true));
      stream.on("error", () => undefined);
      stream.on("close", () => resolve([stream.rstCode!, answered]));
      const { input } = method[name];
      const fields = name === "createShipment" ? RPC_BOOKING : {};
      stream.end(frame(toBinary(input, create(input, fields))));
      stream.resume();
    });
  const OK = [constants.NGHTTP2_NO_ERROR, true];
  const slow = call("listShipments", "slow=1000");
  const before = await count(twin.id);
  const lost = [constants.NGHTTP2_INTERNAL_ERROR, false];
  expect(await call("createShipment", "lose_answer")).toEqual(lost);
  expect(await count(twin.id)).toBe(before + 1);
  expect(await slow).toEqual(OK);
  // Only the stream is affected, and the connection stays open.
  expect(await call("createShipment", "lose_answer")).toEqual(lost);
  expect(await call("listShipments", "slow=1")).toEqual(OK);
});

test("retrying bookings whose first response is lost books each once", async () => {
  const { twin: own } = await service.addWorkspace();
  const references = new Set<string>();
  async function bookUntilAnswered(): Promise<void> {
    const key = randomUUID();
    expect(await bookByJson("lose_answer", own.apiKey, key)).toBeUndefined();
    const answer = await bookByJson("lose_answer", own.apiKey, key);
    expect(answer?.status).toBe(201);
    references.add(answer!.body.data.reference);
  }
  for (let i = 0; i < 5; i++) await Promise.all(Array.from({ length: 20 }, bookUntilAnswered));
  expect(references.size).toBe(100);
  expect(await count(own.id)).toBe(100);
});
