import { once } from "node:events";
import { connect, constants } from "node:http2";
import { describe, expect, test } from "vitest";
import type { RefusalReason } from "../../../src/domain/refusal.ts";
import { createSecretKey } from "../../../src/domain/secret-key.ts";
import { BOOKING, COVERED_ROUTE, RPC_ROUTE } from "../../support/bookings.ts";
import type { Answer, RequestOptions } from "../../support/client.ts";
import { answerOf, errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { callsInFlight } from "../../support/metrics.ts";
import { openSocket, rawHttp, readAnswer } from "../../support/raw-http.ts";
import { startService, startUnprepared } from "../../support/service.ts";

const service = await startService();
const { apiKey } = await service.addWorkspace();

const QUOTE = "/v1/shipments/quote";
const KIB = 1024;
const TOO_LARGE = "The body is larger than 64 KiB.";

/** Returns the body of an error with one subject and its message. */
function about(key: string, text: string) {
  return { message: text, errors: { [key]: [text] } };
}

/** Code for each status that has only one code in these tests. */
const CODES: Readonly<Record<number, RefusalReason>> = {
  400: "BODY_UNREADABLE",
  401: "CREDENTIAL_REFUSED",
  404: "NO_SUCH_METHOD",
  405: "METHOD_NOT_ALLOWED",
  413: "BODY_TOO_LARGE",
  415: "BODY_NOT_JSON",
  422: "FIELD_INVALID",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

function expectError(answer: Answer, status: number, body: object, code = CODES[status]) {
  expect({ ...answer.body, code: answer.code }).toStrictEqual({ ...body, code });
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.headers.get("x-request-id")).toMatch(/^[\x21-\x7e]{1,128}$/);
}

describe("400: a body that is not a JSON object", () => {
  const notJson = (fault: string) => about("body", `The body is not valid JSON: ${fault}.`);
  const empty = about("body", "The body is empty; send a JSON object.");
  const notObject = about("body", "The body must be a JSON object.");
  const notUtf8 = about("body", "The body is not UTF-8.");
  const twice = (path: string) => about("body", `The body has ${path} twice. Send each name once.`);
  test.each<[what: string, body: string | Uint8Array, answer: object]>([
    ["nothing", "", empty],
    ["blank", " \n ", empty],
    ["half an object", '{"pickup_lat": 1', notJson("it ends unexpectedly at line 1, column 17")],
    ["single quotes", "{\n'pickup_lat': 1}", notJson(`unexpected "'" at line 2, column 1`)],
    ["NaN", '{"pickup_lat": NaN}', notJson('unexpected "N" at line 1, column 16')],
    ["two objects", "{}{}", notJson('unexpected "{" at line 1, column 3')],
    ["a byte order mark", "\ufeff{}", notJson("unexpected U+FEFF at line 1, column 1")],
    ["a comment", "{} // x", notJson('unexpected "/" at line 1, column 4')],
    ["null", "null", notObject],
    ["a list", "[{}]", notObject],
    ["a string", '"{}"', notObject],
    ["a number", "1", notObject],
    ["a duplicate member", '{"weight_kg": 1, "pickup_lat": 1, "weight_kg": 2}', twice("weight_kg")],
    ["a nested duplicate member", '{"a": [{}, {"b": {"c": 1, "c": 1}}]}', twice("a[1].b.c")],
    ["Latin-1", Uint8Array.of(0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d), notUtf8],
    ["UTF-16", new Uint8Array(Buffer.from("{}\ud83d", "utf16le")), notUtf8],
  ])("%s", async (_, body, answer) => {
    expectError(await service.request(QUOTE, { apiKey, body }), 400, answer);
  });
});

test("401 explains how to authenticate, with 'WWW-Authenticate: Bearer'", async () => {
  const answer = await service.request(QUOTE, { body: COVERED_ROUTE });
  expectError(answer, 401, {
    message:
      "The credential is missing. Send the workspace's API key as Authorization: Bearer shp_... or X-Api-Key: shp_....",
    errors: {},
  });
  expect(answer.headers.get("www-authenticate")).toBe("Bearer");
});

test("401 explains that a key must be in a header, not in the query", async () => {
  const answer = await service.request(`/v1/shipments?api_key=${apiKey}`);
  expectError(answer, 401, {
    message:
      "The credential was sent in the URL, which logs store. Revoke it if it is active. Send the workspace's API key as Authorization: Bearer shp_... or X-Api-Key: shp_....",
    errors: {},
  });
});

test("HEAD returns the same as GET, without a body", async () => {
  for (const path of ["/v1/shipments", "/v1/shipments/SHP-0000000000ZZ", "/v1/coverage", "/v1/shipments/export"]) {
    const [head, get] = await Promise.all(["HEAD", "GET"].map((method) => service.request(path, { apiKey, method })));
    const typed = ({ status, headers }: Answer) => [status, headers.get("content-type")];
    expect([...typed(head!), head!.text]).toEqual([...typed(get!), ""]);
  }
});

test.each(["1.5", "1e3", "-1", "+5", "0x10", "99999999999", ""])(
  "422: an unreadable Connect-Timeout-Ms is refused: %j",
  async (timeout) => {
    const headers = { "connect-timeout-ms": timeout };
    const answer = await service.request(QUOTE, { apiKey, body: COVERED_ROUTE, headers });
    const text = "connect-timeout-ms must be 1 to 10 digits.";
    expectError(answer, 422, about("connect_timeout_ms", text));
  },
);

describe("422: a query that cannot be decoded is refused with the parameter's name", () => {
  const notUtf8 = "text is not UTF-8. Percent-encode its UTF-8 bytes.";
  const notEncoded = "text has a % that is not followed by two hexadecimal digits. Write % as %25.";
  test.each([
    ["M%FCller", notUtf8],
    ["%C3", notUtf8],
    ["%ZZ", notEncoded],
    ["100%", notEncoded],
  ])("text=%s", async (text, expected) => {
    const answer = await service.request(`/v1/search?text=${text}`, { apiKey });
    expect([answer.status, answer.body.errors.text]).toEqual([422, [expected]]);
  });
});

describe("422: a message explains how to fix the value", () => {
  const listed = async (query: string) =>
    (await service.request(`/v1/shipments?${query}`, { apiKey })).body.message as string;
  test.each([
    [
      "created_after=2026-01-31T09:30:00+02:00",
      "created_after must be an RFC 3339 timestamp such as 2026-01-31T09:30:00Z. Its offset has a space instead of a plus sign. In a query, write + as %2B.",
    ],
    ["created_after=2026-11-31T00:00:00Z", "created_after contains a date that does not exist: 2026-11-31."],
    ["page_size=abc", "page_size must be a whole number from 1 to 100."],
    ["page_size=1.5", "page_size must be a whole number from 1 to 100."],
  ])("%s", async (query, message) => {
    expect(await listed(query)).toBe(message);
  });
});

test.each([
  "/",
  "/v1",
  "/v1/",
  "/v1/shipments//cancel",
  "/api/shipments",
  "/v1/ship",
  "/v1/rotate-secret",
  `/v1/shipment/${"x".repeat(2_000)}`,
  "/favicon.ico",
  "/v1/../healthz/x",
  "/shipments.v1.ShipmentService",
])("404: %s does not exist", async (path) => {
  const answer = await service.request(path, { apiKey, body: {} });
  expectError(answer, 404, { message: "This path does not exist.", errors: {} });
});

test.each([
  ["/v1/shipments/", "/v1/shipments"],
  ["//v1/shipments", "/v1/shipments"],
  ["/v1/shipments/quote/?a=b", "/v1/shipments/quote"],
  ["/V1/Shipments/SHP-1/cancel", "/v1/shipments/SHP-1/cancel"],
  ["/v1/shipment", "/v1/shipments"],
  ["/v1/shipment/SHP%2D1", "/v1/shipments/SHP%2D1"],
  ["/shipments", "/v1/shipments"],
  ["/shipments/SHP-1/cancel/", "/v1/shipments/SHP-1/cancel"],
  ["/admin/workspaces/7", "/admin/v1/workspaces/7"],
  ["/v1/api-keys", "/v1/api_keys"],
  ["/v2/shipments", "/v1/shipments"],
  ["/v1//shipments", "/v1/shipments"],
  ["/openapi.yaml", "/openapi.json"],
  ["/docs/webhook", "/docs/webhooks"],
])("404: %s suggests %s to every caller", async (path, suggestion) => {
  const message = `This path does not exist. Did you mean ${suggestion}?`;
  for (const key of [apiKey, undefined]) {
    const answer = await service.request(path, { apiKey: key, body: {} });
    expectError(answer, 404, { message, errors: {} });
  }
});

describe("405: the path exists, but the method does not", () => {
  const cases = [
    ["/v1/shipments", "GET, HEAD, POST"],
    [QUOTE, "POST"],
    ["/v1/shipments/SHP-000000000000/cancel", "POST"],
    ["/shipments.v1.ShipmentService/QuoteShipment", "GET, POST"],
    ["/healthz", "GET, HEAD"],
    ["/readyz", "GET, HEAD"],
    ["/metrics", "GET, HEAD"],
  ] as const;
  test.each(cases)("%s", async (path, allow) => {
    for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const answer = await service.request(path, { apiKey, method });
      expectError(answer, 405, {
        message: `This path does not support that method. It supports ${allow}.`,
        errors: {},
      });
      expect(answer.headers.get("allow")).toBe(allow);
    }
  });

  test("also for HEAD, without a body", async () => {
    const answer = await service.request(QUOTE, { apiKey, method: "HEAD" });
    expect([answer.status, answer.headers.get("allow"), answer.text]).toEqual([405, "POST", ""]);
  });
});

describe("413: a body over 64 KiB", () => {
  const padded = (bytes: number) => JSON.stringify(COVERED_ROUTE).padEnd(bytes);

  test("exactly 64 KiB are accepted", async () => {
    const { status } = await service.request(QUOTE, { apiKey, body: padded(64 * KIB) });
    expect(status).toBe(200);
  });

  test.each([64 * KIB + 1, 5_000 * KIB])("%i bytes by content length are refused", async (bytes) => {
    const answer = await service.request(QUOTE, { apiKey, body: padded(bytes) });
    expectError(answer, 413, about("body", TOO_LARGE));
  });

  test.each([64 * KIB + 1, 5_000 * KIB])("%i bytes in a stream are refused", async (bytes) => {
    const chunks = padded(bytes).match(/.{1,16000}/gs) as string[];
    expectError(await stream(chunks), 413, about("body", TOO_LARGE));
  });

  test("exactly 64 KiB in a stream are accepted", async () => {
    const chunks = padded(64 * KIB).match(/.{1,7}/gs) as string[];
    expect((await stream(chunks)).status).toBe(200);
  });

  async function stream(chunks: string[]): Promise<Answer> {
    const response = await fetch(service.httpUrl + QUOTE, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: ReadableStream.from(chunks).pipeThrough(new TextEncoderStream()),
      duplex: "half",
    });
    return answerOf(response.status, response.headers, await response.text());
  }

  test("a content length is refused before a byte of the body is sent", async () => {
    const { status } = await rawHttp(
      service.httpUrl,
      `POST ${QUOTE} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKey}\r\nContent-Length: 65537\r\n\r\n`,
    );
    expect(status).toBe(413);
  });
});

describe("415: a body whose content type is not JSON", () => {
  const type = (sent: string) =>
    about("body", `Content-Type is "${sent}". Send a JSON body with Content-Type: application/json.`);
  const encoding = about("body", "The body must be sent without Content-Encoding.");
  test.each<readonly [headers: Record<string, string>, answer: object]>([
    ...[
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=json",
      "application/jsonp",
      "application/xml+jsonish",
      "application/proto",
      "application/json, text/plain",
    ].map((sent) => [{ "content-type": sent }, type(sent)] as const),
    [{ "content-encoding": "gzip" }, encoding],
    [{ "content-encoding": "br" }, encoding],
    [{ "content-encoding": "identity, gzip" }, encoding],
  ])("%j", async (headers, answer) => {
    expectError(await service.request(QUOTE, { apiKey, body: COVERED_ROUTE, headers }), 415, answer);
  });

  test.each<[headers: Record<string, string>]>([
    [{ "content-type": "application/json" }],
    [{ "content-type": "application/json; charset=utf-8" }],
    [{ "content-type": "Application/JSON ;charset=utf-8" }],
    [{ "content-type": "application/problem+json" }],
    [{ "content-type": "" }],
    [{ "content-encoding": "identity" }],
    [{ "content-encoding": "IDENTITY" }],
  ])("%j is accepted as JSON", async (headers) => {
    const { status } = await service.request(QUOTE, { apiKey, body: COVERED_ROUTE, headers });
    expect(status).toBe(200);
  });

  test("a body without a content type is read as JSON", async () => {
    const body = JSON.stringify(COVERED_ROUTE);
    const { status } = await rawHttp(
      service.httpUrl,
      `POST ${QUOTE} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKey}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(status).toBe(200);
  });
});

test("without a tariff the process is live but not ready, with Retry-After", async () => {
  const unprepared = await startUnprepared();
  expect((await unprepared.request("/healthz")).status).toBe(200);
  const { status, headers, body } = await unprepared.request("/readyz");
  expect({ status, retryAfter: headers.get("retry-after"), body }).toEqual({
    status: 503,
    retryAfter: "1",
    body: { status: "waiting for the first tariff" },
  });
});

test("504: a call whose deadline has passed", async () => {
  const headers = { "connect-timeout-ms": "0" };
  expectError(await service.request(QUOTE, { apiKey, body: COVERED_ROUTE, headers }), 504, {
    message: "The caller's deadline passed before the response.",
    errors: {},
  });
});

test("a deadline beyond the range of timers has not passed", async () => {
  const headers = { "connect-timeout-ms": "9999999999" };
  expect((await service.request("/v1/shipments", { apiKey, headers })).status).toBe(200);
});

describe("returns the first of several errors in the order of the checks", () => {
  const garbage = "}".repeat(70 * KIB);
  const plain = { "content-type": "text/plain" };
  const unknownKey = createSecretKey("shp_");
  test.each<[what: string, status: number, path: string, options: RequestOptions]>([
    ["route", 404, "/v1/nothing", { body: garbage, headers: plain }],
    ["method", 405, QUOTE, { method: "PUT", body: garbage, headers: plain }],
    ["no credential", 401, QUOTE, { body: garbage, headers: plain }],
    ["bad credential", 401, QUOTE, { apiKey: "shp_x", body: garbage, headers: plain }],
    ["unknown credential", 401, QUOTE, { apiKey: unknownKey, body: garbage, headers: plain }],
  ])("%s", async (_, status, path, options) => {
    expect((await service.request(path, options)).status).toBe(status);
  });

  test("size, then type, syntax, fields, state", async () => {
    const unpayable = await service.addWorkspace({ paymentProvider: undefined });
    const statusOf = async (body: unknown, headers: Record<string, string> = {}) => {
      const answer = await service.request("/v1/shipments", {
        apiKey: unpayable.apiKey,
        body,
        headers,
      });
      return [answer.status, ...Object.keys(answer.body.errors)];
    };
    expect(await statusOf(garbage, plain)).toEqual([413, "body"]);
    expect(await statusOf("}", plain)).toEqual([415, "body"]);
    expect(await statusOf("}")).toEqual([400, "body"]);
    expect(await statusOf({ ...BOOKING, weight_kg: 0 })).toEqual([422, "weight_kg"]);
    expect(await statusOf(BOOKING)).toEqual([422, "payment_provider"]);
  });

  test("responds to an unauthenticated caller before it sends its body", async () => {
    const { status, body } = await rawHttp(
      service.httpUrl,
      `POST ${QUOTE} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n`,
    );
    expect([status, body.errors]).toEqual([401, {}]);
  });
});

describe("a request that is not HTTP gets the usual error, and the service keeps running", () => {
  const invalid = { message: "The request is not valid HTTP.", errors: {} };
  const overflow = { message: "The headers are too large.", errors: {} };
  const twoHosts = { message: "The request has more than one Host header.", errors: {} };
  const badHost = { message: "The Host header is not valid.", errors: {} };
  const noHost = { message: "The Host header is missing.", errors: {} };
  const chunked = "Host: x\r\nTransfer-Encoding: chunked\r\n";
  test.each<[what: string, request: string, status: number, body: object]>([
    ["bytes", "\u0000\u0001\u0002\r\n\r\n", 400, invalid],
    ["no such method", `BREW ${QUOTE} HTTP/1.1\r\nHost: x\r\n\r\n`, 400, invalid],
    ["an unknown version", `GET ${QUOTE} HTTP/9.9\r\nHost: x\r\n\r\n`, 400, invalid],
    ["a broken header", `GET ${QUOTE} HTTP/1.1\r\nHost x\r\n\r\n`, 400, invalid],
    ["two hosts", `GET ${QUOTE} HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n`, 400, twoHosts],
    ["an invalid host", `GET ${QUOTE} HTTP/1.1\r\nHost: a b\r\n\r\n`, 400, badHost],
    ["an empty host", `GET /healthz HTTP/1.1\r\nHost:\r\n\r\n`, 400, badHost],
    ["a host with a user", `GET /healthz HTTP/1.1\r\nHost: a@b\r\n\r\n`, 400, badHost],
    ["a host with a path", `GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n`, 400, badHost],
    ["no host", `GET ${QUOTE} HTTP/1.1\r\n\r\n`, 400, noHost],
    [
      "two lengths",
      `POST ${QUOTE} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      400,
      invalid,
    ],
    ["a length and chunks", `POST ${QUOTE} HTTP/1.1\r\n${chunked}Content-Length: 3\r\n\r\n0\r\n\r\n`, 400, invalid],
    ["a negative length", `POST ${QUOTE} HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n`, 400, invalid],
    ["a huge header", `GET ${QUOTE} HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(17_000)}\r\n\r\n`, 431, overflow],
    ["a huge path", `GET /${"x".repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, overflow],
  ])("%s", async (_, request, status, body) => {
    const answer = await rawHttp(service.httpUrl, request);
    const code = status === 431 ? "HEADERS_TOO_LARGE" : "REQUEST_MALFORMED";
    expectError(answer, status, body, code);
    expect((await service.request("/readyz")).status).toBe(200);
  });

  test("a broken chunk in the middle of a body", async () => {
    const socket = openSocket(service.httpUrl);
    socket.write(`POST ${QUOTE} HTTP/1.1\r\nX-Api-Key: ${apiKey}\r\n${chunked}\r\n2\r\n{}\r\n`);
    socket.write("zz\r\n");
    expectError(await readAnswer(socket), 400, invalid, "REQUEST_MALFORMED");
  });
});

test("HTTP/2 on the HTTP server names the gRPC port", async () => {
  for (let i = 0; i < 20; i++) {
    const session = connect(service.httpUrl);
    session.on("error", () => undefined);
    session.request({ ":path": QUOTE }).on("error", () => undefined);
    const [code, , reason] = await once(session, "goaway");
    expect([code, String(reason)]).toEqual([
      constants.NGHTTP2_HTTP_1_1_REQUIRED,
      "This port serves HTTP/1.1. gRPC over HTTP/2 is on the port GRPC_PORT.",
    ]);
    session.destroy();
  }
  expect((await service.request(QUOTE, { apiKey, body: COVERED_ROUTE })).status).toBe(200);
});

test.each(["", "x".repeat(200_000)])("HTTP/1.1 on the gRPC server names the JSON port", async (rest) => {
  const text = "This port serves gRPC over HTTP/2. The JSON API and the dashboard are on the HTTP port (setting PORT).";
  const answer = await rawHttp(
    service.grpcUrl,
    `POST ${QUOTE} HTTP/1.1\r\nHost: x\r\nContent-Length: ${rest.length}\r\n\r\n${rest}`,
  );
  const { status, body, headers } = answer;
  expect([status, body, headers.get("connection")]).toEqual([400, errorBody(text), "close"]);
  const client = service.grpcClient(apiKey);
  expect((await client.quoteShipment(RPC_ROUTE)).covered).toBe(true);
});

test("a caller that disconnects in the middle of its body leaves no call in flight", async () => {
  for (const text of ["", "{", '{"pickup_lat": 1']) {
    const socket = openSocket(service.httpUrl);
    await once(socket, "connect");
    socket.write(`POST ${QUOTE} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKey}\r\nContent-Length: 99\r\n\r\n${text}`);
    await eventually("the call in flight", async () => (await callsInFlight(service)) === 1);
    socket.destroy();
    await eventually("the call to finish", async () => (await callsInFlight(service)) === 0);
  }
});

test("a connection serves the next request after an error that left a body unread", async () => {
  const socket = openSocket(service.httpUrl);
  const post = (key: string, body: string) =>
    socket.write(
      `POST ${QUOTE} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  post("shp_x", "x".repeat(1_000));
  expect((await readAnswer(socket)).status).toBe(401);
  post(apiKey, JSON.stringify(COVERED_ROUTE));
  expect((await readAnswer(socket)).status).toBe(200);
  socket.destroy();
});

test("a request target in absolute form, as sent to proxies, is resolved to its path", async () => {
  const { status } = await rawHttp(
    service.httpUrl,
    `GET http://example.org/healthz HTTP/1.1\r\nHost: example.org\r\n\r\n`,
  );
  expect(status).toBe(200);
});

test("ignores an unknown expectation", async () => {
  const answer = await rawHttp(service.httpUrl, `GET /v1/nothing HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n`);
  expectError(answer, 404, { message: "This path does not exist.", errors: {} });
});
