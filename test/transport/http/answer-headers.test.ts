import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { postForm, signIn } from "../../support/browser.ts";
import { COVERED_ROUTE } from "../../support/bookings.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";

const overHttp = await startService({ dashboard: true, operationsPort: 0 });
const publicUrl = "https://book.example.org";
const overHttps = await startReplica(overHttp.databaseUrl, { publicUrl, dashboard: true });
const { apiKey } = await overHttp.addWorkspace();
const operatorKey = (await overHttp.addOperator()).key;
const { cookie } = await signIn(overHttp, apiKey, { email: "ada@example.org", role: "viewer" });

/** Returns the response headers that control caching and content sniffing. */
async function guards(answer: Pick<Response, "headers"> | Promise<Pick<Response, "headers">>) {
  const { headers } = await answer;
  return {
    "cache-control": headers.get("cache-control"),
    "x-content-type-options": headers.get("x-content-type-options"),
    "strict-transport-security": headers.get("strict-transport-security"),
  };
}

type SendRequest = (service: TestService) => Promise<Pick<Response, "headers">>;

const QUOTE = "/v1/shipments/quote";
const CONNECT = "/shipments.v1.ShipmentService/QuoteShipment";
const asPage = { accept: "text/html" };

/** Requests whose responses are for one caller only. */
const PRIVATE: Readonly<Record<string, SendRequest>> = {
  "a response of the JSON API": (to) => to.request(QUOTE, { apiKey, body: COVERED_ROUTE }),
  "a refusal of the JSON API": (to) => to.request(QUOTE, { apiKey, body: {} }),
  "a refusal of a credential": (to) => to.request(QUOTE, { body: {} }),
  "a missing path": (to) => to.request("/v1/nowhere"),
  "a response to an operator": (to) => to.request("/admin/v1/self", { apiKey: operatorKey }),
  "a response to a signed-in person": (to) => to.request("/account/v1/account", { headers: { cookie } }),
  "a response of Connect": (to) => to.request(CONNECT, { apiKey, body: {} }),
  "a refusal of Connect": (to) => to.request(CONNECT, { body: {} }),
  "a wrong method over Connect": (to) => to.request(CONNECT, { method: "PUT", body: {} }),
  "an invalid sign-in link": (to) => postForm(to, "/sign-in", { token: "none" }),
  "signing out": (to) => postForm(to, "/sign-out", {}),
  "the sign-in options": (to) => to.request("/sign-in/options"),
  "a probe": (to) => to.request("/healthz"),
};

/** Requests whose responses browsers may cache but must revalidate, with the expected Cache-Control. */
const KEPT: Readonly<Record<string, [cacheControl: string | null, ask: SendRequest]>> = {
  "the dashboard": ["no-cache", (to) => to.request("/", { headers: asPage })],
  "a guide": ["no-cache", (to) => to.request("/docs", { headers: asPage })],
  "the not-found page": [null, (to) => to.request("/v1/nowhere", { headers: asPage })],
  "the OpenAPI document": ["public, no-cache", (to) => to.request("/openapi.json")],
  "the coverage": ["private, no-cache", (to) => to.request("/v1/coverage", { apiKey })],
  "the zones of a version": [
    "private, no-cache",
    (to) => to.request("/admin/v1/tariff_versions/1/zones", { apiKey: operatorKey }),
  ],
};

const ALL = [
  ...Object.entries(PRIVATE).map(([name, ask]) => [name, "no-store", ask] as const),
  ...Object.entries(KEPT).map(([name, [cacheControl, ask]]) => [name, cacheControl, ask] as const),
];

describe("caching and security headers are sent with", () => {
  test.each(ALL)("%s", async (_, cacheControl, ask) => {
    const always = { "cache-control": cacheControl, "x-content-type-options": "nosniff" };
    const [plain, secure] = [await guards(ask(overHttp)), await guards(ask(overHttps))];
    expect(plain).toEqual({ ...always, "strict-transport-security": null });
    expect(secure).toEqual({ ...always, "strict-transport-security": "max-age=31536000" });
  });

  test("metrics of the operations server", async () => {
    expect(await guards(fetch(`${overHttp.operationsUrl}/metrics`))).toEqual({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "strict-transport-security": null,
    });
  });

  test("the response to a request that is not HTTP", async () => {
    const socket = connect(Number(new URL(overHttp.httpUrl).port), "127.0.0.1");
    socket.write("nonsense\r\n\r\n");
    const response = await text(socket);
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toMatch(/\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n/);
  });
});
