import { expect, onTestFinished, test } from "vitest";
import { LINK_STREAMS } from "../../../src/pipeline/bounds/limits.ts";
import { book, bookAnd, takeStep } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { HURRIED, startReplica, startService, type TestService } from "../../support/service.ts";

const PUBLIC_URL = "https://book.example.org";
const service = await startService({ publicUrl: PUBLIC_URL, outside: HURRIED });
const { apiKey } = await service.addWorkspace();

const CHANGED = "data: changed\n\n";

/** Requests a link as a browser does, and returns the response. */
async function follow(url: string, at: Pick<TestService, "httpUrl"> = service) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const path = `${url.replace(PUBLIC_URL, "")}/events`;
  const response = await fetch(at.httpUrl + path, { signal: leaving.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async () => (await reader!.read()).value;
  return { response, next, leave: () => leaving.abort() };
}

const bookAnother = () => bookAnd(service, apiKey, ["pay", "advance"]);

test("a tracking stream sends only its shipment's changes and ends with the shipment", async () => {
  const { tracking_url: url, reference } = await bookAnother();
  const { response, next } = await follow(url);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  expect(response.headers.get("cache-control")).toBe("private, no-store");
  expect(await next()).toBe(CHANGED);
  const elsewhere = await startReplica(service.databaseUrl, { publicUrl: PUBLIC_URL });
  const other = await follow(url, elsewhere);
  expect(await other.next()).toBe(CHANGED);

  const change = next();
  await takeStep(service, apiKey, (await bookAnother())["reference"], "advance");
  await service.as(apiKey).recordAttempt({ shipment: reference, reason: "refused" });
  expect([await change, await other.next()]).toEqual([CHANGED, CHANGED]);
  await takeStep(service, apiKey, reference, "advance");
  for (const each of [next, other.next]) {
    expect([await each(), await each()]).toEqual([CHANGED, undefined]);
  }
  const after = await follow(url);
  expect([after.response.status, await after.response.text()]).toEqual([204, ""]);
});

test("an invalid link returns the same 404 as its page, and HEAD requests start no stream", async () => {
  const { tracking_url: url } = await book(service, apiKey);
  const { response } = await follow(`${url.slice(0, -1)}${url.endsWith("0") ? "1" : "0"}`);
  const page = await fetch(`${service.httpUrl}/t/nothing`);
  expect(response.status).toBe(404);
  expect(response.headers.get("etag")).toBe(page.headers.get("etag"));
  const path = `${url.replace(PUBLIC_URL, "")}/events`;
  const head = await fetch(service.httpUrl + path, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect((await fetch(service.httpUrl + path, { method: "POST" })).status).toBe(405);
});

test("limits the streams per link, without limiting its page, and accepts another when one ends", async () => {
  const { tracking_url: url } = await book(service, apiKey);
  const all = await Promise.all(Array.from({ length: LINK_STREAMS.ofLink + 1 }, () => follow(url)));
  const statuses = all.map(({ response }) => response.status);
  expect(statuses.toSorted((one, other) => one - other)).toEqual([
    ...Array.from({ length: LINK_STREAMS.ofLink }, () => 200),
    429,
  ]);
  expect((await fetch(service.httpUrl + url.replace(PUBLIC_URL, ""))).status).toBe(200);
  all.find(({ response }) => response.status === 200)!.leave();
  await eventually("another stream to be accepted", async () => (await follow(url)).response.status === 200);
});

test("streams end when the process stops", async () => {
  const own = await startReplica(service.databaseUrl, { publicUrl: PUBLIC_URL });
  const { tracking_url: url } = await book(service, apiKey);
  const { next } = await follow(url, own);
  expect(await next()).toBe(CHANGED);
  const ended = next();
  await own.close();
  expect(await ended).toBeUndefined();
});
