import { getOption, type DescMethod, type DescMethodServerStreaming, type DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import { anyJsonObject, anyJsonText, anyMessage, anyText } from "../support/arbitrary-input.ts";
import { BOOKING } from "../support/bookings.ts";
import { describedMethods } from "../support/described-services.ts";
import { frame, rawGrpc } from "../support/raw-grpc.ts";
import { startService } from "../support/service.ts";
import { take } from "../support/take.ts";
import { worldTariff } from "../support/tariffs.ts";

/** Number of runs per property. If one fails, fast-check prints the seed and the path that reproduce the failure. */
const RUNS = { numRuns: 20 };
/** For arbitrary bytes. Few of them reach code that differs between methods. */
const RUNS_OF_BYTES = { numRuns: 5 };

/**
 * Id of a workspace and of an operator that requests may change. The callers have higher ids, which
 * arbitrary requests are unlikely to contain.
 */
const SPARE = 5_000_000;

const USUAL = {
  ...BOOKING,
  customer_id: undefined,
  shipment: "SHP-000000000000",
  workspace: SPARE,
  operator: SPARE,
  name: "Usual",
};
const ADMIN = await describedMethods("operator");
const ALL = [...(await describedMethods("workspace")), ...ADMIN];
const METHODS = ALL.filter((it): it is DescMethodUnary => it.methodKind === "unary");
const STREAMS = ALL.filter((it): it is DescMethodServerStreaming => it.methodKind === "server_streaming");
/** Time after which an open stream is canceled, in milliseconds. */
const STREAM_MS = 50;

/** Codes that any call may return. 0 means success. */
const EXPECTED: readonly (Code | 0)[] = [
  0,
  Code.InvalidArgument,
  Code.NotFound,
  Code.AlreadyExists,
  // A workspace's key tried to disconnect a provider that only operators can disconnect.
  Code.PermissionDenied,
  Code.Aborted,
  Code.FailedPrecondition,
  Code.ResourceExhausted,
];

const service = await startService({ tariff: worldTariff({ rate_per_km: "1000000" }) });
for (const table of ["workspace", "operator"]) {
  await service.app.em.execute(`alter sequence ${table}_id_seq restart with ${SPARE}`);
}
await service.addWorkspace();
await service.addOperator("viewer");
const { apiKey: liveKey, twin } = await service.addWorkspace();

/** Returns a key for a method: a new owner's key with unused limits, or a key of the workspace or its twin. */
async function keyFor(method: DescMethod): Promise<string> {
  if (ADMIN.includes(method)) return (await service.addOperator("owner")).key;
  return method.parent.name === "TestService" ? twin.apiKey : liveKey;
}

const named = <M extends DescMethod>(methods: readonly M[]) =>
  methods.map((method) => [`${method.parent.name}/${method.name}`, method] as const);

describe.each(named(METHODS))("an arbitrary request to %s", (_, method) => {
  let apiKey: string;
  beforeEach(async () => {
    apiKey = await keyFor(method);
  });
  const { case: verb, value: template } = getOption(method, http).pattern;
  const anyPath = anyText
    .filter((text) => text.isWellFormed() && !["", ".", ".."].includes(text))
    .map((text) => (template as string).replace(/\{\w+\}/g, encodeURIComponent(text)))
    .filter((path) => path.length < 8_000);

  async function answersWell(path: string, body: Uint8Array, type: string) {
    const headers = { "content-type": type };
    const httpMethod = (verb as string).toUpperCase();
    const answer =
      httpMethod === "GET"
        ? await service.request(path + queryOf(body), { apiKey })
        : await service.request(path, {
            apiKey,
            method: httpMethod,
            body,
            headers,
          });
    expect(answer.status, answer.text).toBeLessThan(500);
    if (answer.status >= 400) {
      const { metadata, ...rest } = answer.body as { metadata?: Record<string, string> };
      expect(Object.keys(rest)).toEqual(["message", "errors"]);
      const facts = Object.values(metadata ?? {});
      for (const fact of facts) expect(fact).toBeTypeOf("string");
      expect(answer.text).not.toMatch(/node_modules|\.ts\b|\bselect\b|\binsert\b|Error:/);
    }
  }

  /** Converts a method's fields to query parameters. Each value is the bytes of `body`. */
  function queryOf(body: Uint8Array): string {
    const text = Buffer.from(body).toString("latin1").slice(0, 500);
    const fields = method.input.fields.map(({ name }) => [name, text]);
    return `?${new URLSearchParams(fields).toString()}`;
  }

  test("as JSON on the HTTP server is never a 5xx", async () => {
    const anyBody = fc.oneof(
      { arbitrary: anyJsonObject(method.input, USUAL), weight: 4 },
      { arbitrary: anyJsonText, weight: 1 },
      { arbitrary: anyText, weight: 1 },
    );
    const property = fc.asyncProperty(anyPath, anyBody, (path, body) =>
      answersWell(path, Buffer.from(body), "application/json"),
    );
    await fc.assert(property, RUNS);
  });

  test("as bytes on the HTTP server is never a 5xx", async () => {
    const anyType = fc.constantFrom("application/json", "text/plain", "application/proto", "");
    const property = fc.asyncProperty(anyPath, fc.uint8Array({ maxLength: 300 }), anyType, answersWell);
    await fc.assert(property, RUNS_OF_BYTES);
  });

  test("as a message on the gRPC server is never INTERNAL or UNKNOWN", async () => {
    const client = service.grpcClient(apiKey, method.parent) as unknown as Record<
      string,
      (request: object) => Promise<unknown>
    >;
    const property = fc.asyncProperty(anyMessage(method.input, USUAL), async (request) => {
      const code = await client[method.localName]!(request).then(() => 0, codeOf);
      expect(EXPECTED).toContain(code);
    });
    await fc.assert(property, RUNS);
  });

  test("as bytes on the gRPC server is never INTERNAL or UNKNOWN", async () => {
    const property = anyCallOfBytes(method, apiKey, {}, [...EXPECTED, Code.Unimplemented]);
    await fc.assert(property, RUNS_OF_BYTES);
  });
});

/** Expects a gRPC call with arbitrary bytes and framing to return one of these codes. */
function anyCallOfBytes(
  method: DescMethod,
  apiKey: string,
  headers: Record<string, string>,
  ends: readonly (Code | 0)[],
) {
  return fc.asyncProperty(
    fc.uint8Array({ maxLength: 200 }),
    fc.constantFrom(0, 1, 2, 128),
    fc.boolean(),
    fc.constantFrom("identity", "gzip", "br", "deflate"),
    async (bytes, flags, framed, encoding) => {
      const answer = await rawGrpc(
        service.grpcUrl,
        `/${method.parent.typeName}/${method.name}`,
        {
          "content-type": "application/grpc",
          te: "trailers",
          "grpc-encoding": encoding,
          "x-api-key": apiKey,
          ...headers,
        },
        framed ? frame(bytes, flags) : bytes,
      );
      const code = answer.trailers["grpc-status"] ?? answer.headers["grpc-status"];
      expect(ends).toContain(Number(code));
    },
  );
}

test("the tests send arbitrary requests to every method", () => {
  expect([...METHODS, ...STREAMS]).toHaveLength(ALL.length);
});

describe.each(named(STREAMS))("an arbitrary request to the stream %s", (_, method) => {
  let apiKey: string;
  beforeEach(async () => {
    apiKey = await keyFor(method);
  });
  const path = `/${method.parent.typeName}/${method.name}`;
  const ends = [...EXPECTED, Code.DeadlineExceeded, Code.Unimplemented];

  test("as a message on the gRPC server is never INTERNAL or UNKNOWN", async () => {
    const client = service.grpcClient(apiKey, method.parent) as unknown as Record<
      string,
      (request: object, options: object) => AsyncIterable<unknown>
    >;
    const property = fc.asyncProperty(anyMessage(method.input, USUAL), async (request) => {
      const stream = client[method.localName]!(request, { timeoutMs: STREAM_MS });
      expect(ends).toContain(await take(1, stream).then(() => 0, codeOf));
    });
    await fc.assert(property, RUNS);
  });

  test("as bytes on the gRPC server is never INTERNAL or UNKNOWN", async () => {
    const timeout = { "grpc-timeout": `${STREAM_MS}m` };
    const property = anyCallOfBytes(method, apiKey, timeout, ends);
    await fc.assert(property, RUNS);
  });

  test("as bytes on the HTTP server is never a 5xx, internal or unknown", async () => {
    const anyBody = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      anyJsonObject(method.input, USUAL).map((text) => Buffer.from(text)),
    );
    const property = fc.asyncProperty(
      anyBody,
      fc.constantFrom(0, 1, 2, 128),
      fc.boolean(),
      fc.constantFrom("connect+json", "connect+proto", "json", "proto"),
      async (bytes, flags, framed, type) => {
        const { status, text } = await service.request(path, {
          apiKey,
          method: "POST",
          body: framed ? frame(bytes, flags) : bytes,
          headers: {
            "content-type": `application/${type}`,
            "connect-timeout-ms": String(STREAM_MS),
          },
        });
        expect(status, text).toBeLessThan(500);
        expect(text).not.toMatch(/"code":"(internal|unknown)"/);
      },
    );
    await fc.assert(property, RUNS);
  });
});

function codeOf(error: unknown): Code {
  return ConnectError.from(error).code;
}
