import { inspect } from "node:util";
import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { createClient, ShipmentsError, type ClientOptions } from "../../src/client/client.ts";

/** Creates a client whose requests get these responses. */
function clientOf(
  answer: (url: string, init: RequestInit) => Response | Promise<Response>,
  options: Partial<ClientOptions> = {},
) {
  const sent: string[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    sent.push(url);
    return answer(url, init);
  };
  const client = createClient({
    url: "https://shipments.example.org",
    key: "shp_test_1",
    retry: { baseMs: 0 },
    ...options,
    fetch: fetch as typeof globalThis.fetch,
  });
  return { sent, client };
}

async function failure(call: Promise<unknown>): Promise<ShipmentsError> {
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  if (error instanceof ShipmentsError) return error;
  throw new Error(`not a ShipmentsError: ${String(error)}`);
}

const EMPTY = () => new Response("", { headers: { "content-type": "application/proto" } });

test('refuses a redirect, also if fetch does not support redirect: "error"', async () => {
  // Like Cloudflare Workers, throws for `redirect: "error"`.
  const { client } = clientOf((_, { redirect }) => {
    if (redirect === "error") throw new TypeError("Invalid redirect value");
    return redirect === "manual" ? Response.redirect("https://elsewhere.example.org") : EMPTY();
  });
  expect(await failure(client.workspace.getWorkspace({}))).toMatchObject({
    message: "HTTP 302",
    reason: undefined,
  });
});

test("refuses an opaque redirect", async () => {
  const { client } = clientOf(() => {
    const hidden = { type: "opaqueredirect", status: 0, headers: new Headers() };
    return hidden as unknown as Response;
  });
  expect((await failure(client.workspace.getWorkspace({}))).message).toBe("HTTP redirect");
});

const textOf = (status: number, type = "text/plain", body = "of a proxy") =>
  new Response(body, { status, headers: { "content-type": type } });

/** Returns a response whose body breaks off. */
const brokenOf = (status: number, type: string) => {
  const body = new ReadableStream({ start: (stream) => stream.error(new TypeError("reset")) });
  return new Response(body, { status, headers: { "content-type": type } });
};

test.each<[string, () => Response, Code]>([
  ["a broken connection", () => Response.error(), Code.Unavailable],
  ["an interrupted response", () => brokenOf(200, "application/proto"), Code.Unavailable],
  ["an interrupted error response", () => brokenOf(422, "application/json"), Code.Unavailable],
  ["a proxy's 429", () => textOf(429), Code.Unavailable],
  ["a proxy's 502", () => textOf(502), Code.Unavailable],
  ["a proxy's 503", () => textOf(503), Code.Unavailable],
  ["a proxy's 503 in JSON", () => textOf(503, "application/json", "{}"), Code.Unavailable],
  ["a proxy's 503 with invalid JSON", () => textOf(503, "application/json"), Code.Unavailable],
  ["a proxy's 504", () => textOf(504), Code.Unavailable],
  ["a damaged response", () => textOf(200, "application/proto"), Code.Unavailable],
])("retries after %s", async (_, answer, code) => {
  const { sent, client } = clientOf(() => {
    const response = answer();
    if (response.type === "error") throw new TypeError("fetch failed");
    return response;
  });
  const error = await failure(client.workspace.getWorkspace({}));
  expect({ code: error.code, sent: sent.length }).toEqual({ code, sent: 12 });
});

test.each([
  ["a proxy's 400", () => textOf(400), Code.Internal],
  ["a proxy's 408", () => textOf(408), Code.Unknown],
  ["a proxy's 409", () => textOf(409), Code.Unknown],
  ["a proxy's 413", () => textOf(413, "text/html"), Code.Unknown],
  ["a proxy's 500", () => textOf(500), Code.Unknown],
  ["a proxy's 500 in JSON", () => textOf(500, "application/json", "{}"), Code.Unknown],
  ["a page", () => textOf(200, "text/html"), Code.Unknown],
  ["a redirect", () => textOf(308), Code.Unknown],
])("does not retry after %s", async (_, answer, code) => {
  const { sent, client } = clientOf(answer);
  const error = await failure(client.workspace.getWorkspace({}));
  expect({ code: error.code, sent: sent.length }).toEqual({ code, sent: 1 });
});

test.each([
  ["request", {}, { pageSize: 1.5 }],
  ["request of another type", {}, { pageSize: "all" as unknown as number }],
  ["URL", { url: "no url" }, {}],
  ["URL without a scheme", { url: "localhost:8080" }, {}],
  ["key", { key: "shp_\u2026" }, {}],
])("does not send or retry an invalid %s", async (_, options, request) => {
  const { sent, client } = clientOf(EMPTY, options);
  const error = await failure(client.shipments.listShipments(request));
  expect({ code: error.code, sent }).toEqual({ code: Code.InvalidArgument, sent: [] });
});

test.each([{ idempotencyKey: "order\n4711" }, { idempotencyKey: "\u2026" }, { headers: { "a b": "" } }])(
  "rejects invalid headers with a ShipmentsError: %o",
  async (options) => {
    const { sent, client } = clientOf(EMPTY);
    for (const call of [
      client.shipments.cancelShipment({ shipment: "SHP-1" }, options),
      client.events.watchEvents({}, options).next(),
    ]) {
      expect((await failure(call)).code).toBe(Code.InvalidArgument);
    }
    expect(sent).toEqual([]);
  },
);

test.each([
  [{ key: "shp_test_1\nshp_test_2" }, "key must not contain line breaks or characters outside ASCII"],
  [
    { url: "https://ada:shp_test_1@shipments.example.org" },
    "url must be an http or https URL without a user name and a password",
  ],
])("does not print a secret: %o", async (options, message) => {
  const { client } = clientOf(EMPTY, options);
  const error = await failure(client.workspace.getWorkspace({}));
  expect(error.message).toBe(message);
  expect(inspect(error, { depth: 9 })).not.toContain("shp_test_1");
});

test("ignores a trailing line break in a key", async () => {
  const keys: (string | null)[] = [];
  const answer = (_: string, { headers }: RequestInit) => {
    keys.push((headers as Headers).get("authorization"));
    return EMPTY();
  };
  await clientOf(answer, { key: "shp_test_1\n" }).client.workspace.getWorkspace({});
  expect(keys).toEqual(["Bearer shp_test_1"]);
});

test("an error without a response has the cause, the number of attempts and the idempotency key", async () => {
  const { client } = clientOf(() => {
    throw new TypeError("fetch failed", { cause: new Error("other side closed") });
  });
  const options = { idempotencyKey: "order-4711" };
  const error = await failure(client.shipments.cancelShipment({ shipment: "SHP-1" }, options));
  const { message, attempts, idempotencyKey } = error;
  expect({ message, attempts, idempotencyKey }).toEqual({
    message: "fetch failed: other side closed (after 12 attempts)",
    attempts: 12,
    idempotencyKey: "order-4711",
  });
});

test("rounds a timeout up to whole milliseconds, in a call and in a stream", async () => {
  const timeouts: (string | null)[] = [];
  const { client } = clientOf((_, { headers }) => {
    timeouts.push(new Headers(headers).get("connect-timeout-ms"));
    return textOf(400);
  });
  await failure(client.workspace.getWorkspace({}, { timeoutMs: 30_000.5 }));
  await failure(client.events.watchEvents({}, { timeoutMs: 500.5 }).next());
  expect(timeouts).toEqual([expect.stringMatching(/^[0-9]+$/), "501"]);
});

test.each([0, Infinity])("does not send a timeout of %d, in a call or in a stream", async (timeoutMs) => {
  const timeouts: (string | null)[] = [];
  const { client } = clientOf((_, { headers }) => {
    timeouts.push((headers as Headers).get("connect-timeout-ms"));
    return textOf(400);
  });
  await failure(client.workspace.getWorkspace({}, { timeoutMs }));
  await failure(client.events.watchEvents({}, { timeoutMs }).next());
  expect(timeouts).toEqual([null, null]);
});
