import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openSocket, rawHttp } from "../../support/raw-http.ts";
import { startUnprepared } from "../../support/service.ts";

const service = await startUnprepared();

const FILE = readFileSync("gen/openapi/openapi.json", "utf8");

/** Returns the document as a server at this URL publishes it. */
function documentAt(address: string): string {
  return FILE.replace('"url": "/"', `"url": ${JSON.stringify(address)}`);
}

test("the file contains the server's URL once", () => {
  expect(FILE.match(/"url": "\/"/g)).toHaveLength(1);
});

test("the OpenAPI document contains the server's absolute URL", async () => {
  const ask = async (headers: string) => {
    const answer = await rawHttp(
      service.httpUrl,
      `GET /openapi.json HTTP/1.${headers === "" ? 0 : 1}\r\n${headers}\r\n`,
    );
    return { etag: answer.headers.get("etag"), servers: answer.body.servers };
  };
  const { description } = JSON.parse(FILE).servers[0];
  const answers = [];
  for (const [host, url] of [
    ["Host: Example.org:8443\r\n", "http://example.org:8443"],
    ["Host: [::1]:1\r\n", "http://[::1]:1"],
    ["Host: $&.example\r\n", "http://$&.example"],
    ["", "/"],
  ] as const) {
    const answer = await ask(host);
    expect([host, answer.servers]).toEqual([host, [{ url, description }]]);
    answers.push(answer);
  }
  expect(new Set(answers.map(({ etag }) => etag)).size).toBe(answers.length);
  for (let i = 0; i < 9; i++) await ask(`Host: h${i}\r\n`);
  expect(await ask("Host: example.org:8443\r\n")).toEqual(answers[0]);
});

test("the OpenAPI document is compressed for a limited number of hosts, since callers choose them", async () => {
  const own = await startUnprepared();
  const encodings: (string | null)[] = [];
  for (const host of [...Array.from({ length: 10 }, (_, i) => `h${i}`), "h7", "h9"]) {
    const head = `HEAD /openapi.json HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: gzip\r\n\r\n`;
    const socket = openSocket(own.httpUrl);
    socket.write(head);
    const [answer] = await once(socket, "data");
    encodings.push(/content-encoding: (\w+)/i.exec(String(answer))?.[1] ?? null);
    socket.destroy();
  }
  expect(encodings).toEqual([...Array(8).fill("gzip"), null, null, "gzip", null]);
});

test("with a public URL, the OpenAPI document contains it for every host", async () => {
  const own = await startUnprepared(undefined, "https://shipments.example.org");
  const { body } = await own.request("/openapi.json");
  expect(body.servers[0].url).toBe("https://shipments.example.org");
});

test("the OpenAPI document is public, also for browsers and before the database is available", async () => {
  for (const accept of ["*/*", "text/html"]) {
    const answer = await service.request("/openapi.json", { headers: { accept } });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(answer.headers.get("cache-control")).toBe("public, no-cache");
    expect(answer.headers.get("x-request-id")).toMatch(/./);
    expect(answer.text).toBe(documentAt(service.httpUrl));
  }
});

test("the OpenAPI document is not sent again to a caller that has it", async () => {
  const headers = { "accept-encoding": "identity" };
  const first = await service.request("/openapi.json", { headers });
  const etag = first.headers.get("etag")!;
  expect(first.headers.get("content-length")).toBe(String(Buffer.byteLength(documentAt(service.httpUrl))));
  const again = await service.request("/openapi.json", {
    headers: { ...headers, "if-none-match": etag },
  });
  expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
});

test("HEAD of the OpenAPI document returns only the headers", async () => {
  const { status, text, headers } = await service.request("/openapi.json", { method: "HEAD" });
  expect([status, text, headers.get("content-type")]).toEqual([200, "", "application/json"]);
});

test("the OpenAPI document supports no other method", async () => {
  const { status, headers, body } = await service.request("/openapi.json", { body: {} });
  expect([status, headers.get("allow"), body]).toEqual([
    405,
    "GET, HEAD",
    { message: "This path does not support that method. It supports GET, HEAD.", errors: {} },
  ]);
});
