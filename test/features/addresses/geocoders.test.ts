import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import {
  createGeocoder,
  type CompletedLookup,
  type GeocoderKind,
  type GeocoderOptions,
} from "../../../src/features/addresses/geocoder-client.ts";
import type { GeocoderUnavailable } from "../../../src/features/addresses/geocoder.ts";
import { startGeocoder } from "../../support/geocoder.ts";
import { whenOver } from "../../support/when-over.ts";

const KINDS = ["photon", "nominatim", "pelias"] as const;

/** Starts a geocoder of a kind. Returns it with a client and the outcomes that the client reports. */
async function start(kind: GeocoderKind, options: Partial<GeocoderOptions> = {}) {
  const standIn = await startGeocoder(kind);
  const ended: CompletedLookup[] = [];
  const clock = { ms: 0 };
  const geocoder = createGeocoder({
    ...standIn.settings.geocoder,
    userAgent: "shipment-booking/0 (+https://book.example.org)",
    nowMs: () => clock.ms,
    // Long, because only tests with a shorter timeout of their own wait for slow responses.
    timeoutMs: 60_000,
    onLookup: (look) => ended.push(look),
    ...options,
  });
  whenOver(() => geocoder.close());
  return { standIn, geocoder, ended, clock };
}

const started = Object.fromEntries(
  await Promise.all(KINDS.map(async (kind) => [kind, await start(kind)] as const)),
) as unknown as Readonly<Record<GeocoderKind, Awaited<ReturnType<typeof start>>>>;

const BERLIN = { lat: 52.52, lng: 13.41 };
const ANYWHERE = { near: undefined, limit: 5 };
const POINT = { lat: 52.5204, lng: 13.4216 };

/** Expected result for the same house and street in every kind's format. */
const HOUSE = { lat: 52.5203, lng: 13.4217, precision: "building" };
const STREET = { lat: 52.4781, lng: 13.4392, precision: "street" };
const found = (label: string, of: object, confidence?: number) => ({ label, ...of, confidence });
const FOUND = {
  photon: [
    found("Karl-Marx-Allee 33, 10178 Berlin, Deutschland", HOUSE),
    found("Karl-Marx-Straße, 12043 Berlin, Deutschland", STREET),
  ],
  nominatim: [
    found("33, Karl-Marx-Allee, 10178, Berlin, Deutschland", HOUSE),
    found("Karl-Marx-Straße, 12043, Berlin, Deutschland", STREET),
  ],
  pelias: [
    found("33, Karl-Marx-Allee, 10178, Berlin, Deutschland", HOUSE, 0.92),
    found("Karl-Marx-Straße, 12043, Berlin, Deutschland", STREET, 0.7),
  ],
};

describe.each(KINDS)("%s", (kind) => {
  const { standIn, geocoder, ended } = started[kind];

  test("finds addresses by text, up to the limit", async () => {
    expect(await geocoder.search({ text: "karl-marx", ...ANYWHERE })).toEqual(FOUND[kind]);
    const one = { text: "karl-marx", near: undefined, limit: 1 };
    expect(await geocoder.search(one)).toEqual(FOUND[kind].slice(0, 1));
    expect(await geocoder.search({ text: "nowhere", ...ANYWHERE })).toEqual([]);
  });

  test("returns the address at a point, or nothing if there is none", async () => {
    expect(await geocoder.reverse(POINT)).toEqual(FOUND[kind].slice(0, 1));
    expect(await geocoder.reverse({ lat: 0, lng: 0 })).toEqual([]);
  });

  test("sends the documented requests with a user agent that identifies the client", async () => {
    standIn.requests.length = 0;
    await geocoder.search({ text: "karl & co", near: BERLIN, limit: 3 });
    await geocoder.reverse(POINT);
    expect(standIn.requests.map(({ path, parameters }) => ({ path, ...parameters }))).toEqual(REQUESTS[kind]);
    expect(standIn.requests[0]!.headers).toMatchObject({
      "user-agent": "shipment-booking/0 (+https://book.example.org)",
      accept: "application/json",
    });
  });

  test.each([
    ["nothing", ""],
    ["truncated JSON", '{"type":"FeatureCollection","features":['],
    ["an HTML page", "<html>"],
    ["null", "null"],
    ["another object", '{"places":[]}'],
    ["a number", "7"],
    ["features of the wrong type", '{"type":"FeatureCollection","features":[7]}'],
    [
      "an invalid point",
      '{"type":"FeatureCollection","features":[{"geometry":{"type":"Point","coordinates":[1,91]},"properties":{"label":"x","name":"x"}}]}',
    ],
    [
      "an invalid label",
      '{"type":"FeatureCollection","features":[{"geometry":{"type":"Point","coordinates":[1,1]},"properties":{"label":[],"name":[]}}]}',
    ],
    ["a place without a point", '[{"display_name":"x","lat":"x","lon":"1"}]'],
    ["a point beyond the pole", '[{"display_name":"x","lat":"91","lon":"1"}]'],
  ])("rejects a response of %s and stays usable", async (_, text) => {
    standIn.answer = (response) => response.end(text);
    await expect(geocoder.search({ text: "karl", ...ANYWHERE })).rejects.toMatchObject(UNREADABLE);
    await expect(geocoder.reverse(POINT)).rejects.toMatchObject(UNREADABLE);
    expect(ended.at(-1)).toMatchObject({ geocoder: kind, outcome: "failed", status: 200 });
    standIn.answer = undefined;
    expect(await geocoder.search({ text: "karl-marx", ...ANYWHERE })).toEqual(FOUND[kind]);
  });
});

const UNREADABLE = { message: "The geocoder's response is not valid.", retryAfterSeconds: 1 };

const REQUESTS = {
  photon: [
    { path: "/api", q: "karl & co", limit: "3", lat: "52.52", lon: "13.41" },
    { path: "/reverse", lat: "52.5204", lon: "13.4216", limit: "1" },
  ],
  nominatim: [
    {
      path: "/search",
      q: "karl & co",
      format: "jsonv2",
      limit: "3",
      viewbox: "12.91,52.02,13.91,53.02",
    },
    { path: "/reverse", lat: "52.5204", lon: "13.4216", format: "jsonv2" },
  ],
  pelias: [
    {
      path: "/v1/autocomplete",
      text: "karl & co",
      size: "3",
      "focus.point.lat": "52.52",
      "focus.point.lon": "13.41",
    },
    { path: "/v1/reverse", "point.lat": "52.5204", "point.lon": "13.4216", size: "1" },
  ],
} as const;

const { geocoder: photon, standIn: atPhoton, ended: ofPhoton } = started.photon;
const KARL = { text: "karl-marx", ...ANYWHERE };

/** Returns the labels that the client finds in Photon's features with these properties. */
async function foundAmong(...properties: object[]) {
  const geometry = { type: "Point", coordinates: [1, 2] };
  const features = properties.map((each) => ({ geometry, properties: each }));
  const text = JSON.stringify({ type: "FeatureCollection", features });
  atPhoton.answer = (response) => response.end(text);
  const addresses = await photon.search(KARL);
  atPhoton.answer = undefined;
  return addresses.map(({ label }) => label);
}

/** Returns the client's error for a response of the geocoder. */
async function failure(answer: (response: ServerResponse) => void): Promise<GeocoderUnavailable> {
  atPhoton.answer = answer;
  const failed = await photon.search(KARL).then(
    () => expect.fail("it answered"),
    (error: unknown) => error as GeocoderUnavailable,
  );
  atPhoton.answer = undefined;
  return failed;
}

test.each(KINDS)("skips malformed results from %s", async (kind) => {
  const { standIn, geocoder } = started[kind];
  const label = { label: "x", name: "x", display_name: "x" };
  const rowAt = (lat: number) =>
    kind === "nominatim"
      ? { ...label, lat: String(lat), lon: "1" }
      : { geometry: { type: "Point", coordinates: [1, lat] }, properties: label };
  const rows = [rowAt(91), rowAt(1), 7];
  const answer = kind === "nominatim" ? rows : { type: "FeatureCollection", features: rows };
  standIn.answer = (response) => response.end(JSON.stringify(answer));
  expect(await geocoder.search({ text: "karl", ...ANYWHERE })).toEqual([
    { label: "x", lat: 1, lng: 1, precision: "area", confidence: undefined },
  ]);
  standIn.answer = undefined;
});

test("times out if the geocoder does not respond or stops in the middle of a response", async () => {
  const { standIn, geocoder, ended } = await start("photon", { timeoutMs: 20 });
  const begun = (response: ServerResponse) => void response.writeHead(200).write("{");
  for (const answer of [() => undefined, begun]) {
    standIn.answer = answer;
    const message = "The geocoder did not respond in time.";
    await expect(geocoder.search(KARL)).rejects.toMatchObject({ message });
    expect(ended.at(-1)).toMatchObject({ outcome: "unanswered", error: message });
  }
});

test("reports a broken or refused connection as no response", async () => {
  const unanswered = { message: "The geocoder did not respond." };
  expect(await failure((response) => response.destroy())).toMatchObject(unanswered);
  expect(
    await failure((response) => {
      response.writeHead(200, { "content-length": 100 }).write("{", () => response.destroy());
    }),
  ).toMatchObject(unanswered);
  expect(ofPhoton.at(-1)).toMatchObject({ outcome: "unanswered" });
  const { geocoder } = await start("photon", { url: "http://127.0.0.1:1" });
  await expect(geocoder.search(KARL)).rejects.toMatchObject(unanswered);
});

test("stops reading a response that is too large", async () => {
  let wasCut = false;
  const failed = await failure((response) => {
    response.on("close", () => (wasCut = !response.writableFinished));
    const write = () => {
      while (response.write(" ".repeat(16_384)));
      response.once("drain", write);
    };
    response.writeHead(200);
    write();
  });
  expect(failed.message).toBe("The geocoder's response is too large.");
  await expect.poll(() => wasCut).toBe(true);
});

test.each([301, 302, 307, 400, 401, 403, 404, 500, 503])(
  "reports status %i as an error and follows no redirect",
  async (status) => {
    atPhoton.requests.length = 0;
    const failed = await failure((response) =>
      response.writeHead(status, { location: `${atPhoton.url}/elsewhere` }).end("{}"),
    );
    expect(failed.message).toBe(`The geocoder responded with status ${status}.`);
    expect(ofPhoton.at(-1)).toMatchObject({ outcome: "failed", status });
    expect(atPhoton.requests).toHaveLength(1);
  },
);

test.each([
  ["seconds", "30", 30],
  ["no Retry-After header", undefined, 10],
  ["words", "soon", 10],
  ["no delay", "0", 1],
  ["a time in the past", "Sun, 06 Nov 1994 08:49:37 GMT", 1],
  ["a delay of a year", "31536000", 600],
])("after a 429 with %s sends no requests for as long as the geocoder requires", async (_, after, wait) => {
  const { standIn, geocoder, ended, clock } = await start("photon");
  const headers = after === undefined ? {} : { "retry-after": after };
  standIn.answer = (response) => response.writeHead(429, headers).end();
  const limited = { message: "The geocoder's rate limit was reached.", retryAfterSeconds: wait };
  await expect(geocoder.search(KARL)).rejects.toMatchObject(limited);
  expect(ended).toMatchObject([{ outcome: "limited", status: 429 }]);
  standIn.answer = undefined;
  clock.ms += wait * 1_000 - 1;
  await expect(geocoder.reverse(POINT)).rejects.toMatchObject({
    ...limited,
    retryAfterSeconds: 1,
  });
  expect(standIn.requests).toHaveLength(1);
  clock.ms += 1;
  expect(await geocoder.search(KARL)).toEqual(FOUND.photon);
});

test("sends the key in each request's header", async () => {
  const key = { header: "X-Own-Key", value: "secret" };
  const { standIn, geocoder } = await start("pelias", { key });
  await geocoder.search(KARL);
  expect(standIn.requests[0]!.headers).toMatchObject({ "x-own-key": "secret" });
});

test("rejects requests beyond 32 in flight without sending them", async () => {
  const { standIn, geocoder } = await start("photon");
  const held: ServerResponse[] = [];
  standIn.answer = (response) => void held.push(response);
  const many = Array.from({ length: 33 }, () => geocoder.reverse(POINT));
  await expect(many.at(-1)).rejects.toMatchObject({
    message: "The geocoder is overloaded.",
  });
  await expect.poll(() => held.length).toBe(32);
  standIn.answer = undefined;
  for (const response of held) response.end('{"type":"FeatureCollection","features":[]}');
  expect(await Promise.all(many.slice(0, 32))).toEqual(Array(32).fill([]));
  expect(await geocoder.search(KARL)).toEqual(FOUND.photon);
});

test.each([
  ["US", "12 Main Street, Springfield, IL 62701, United States"],
  ["DE", "Main Street 12, 62701 Springfield, IL, United States"],
])("formats Photon's address parts by the postal convention of %s", async (countrycode, label) => {
  const properties = {
    housenumber: "12",
    street: "Main Street",
    city: "Springfield",
    state: "IL",
    postcode: "62701",
    country: "United States",
    countrycode,
    type: "house",
  };
  // Results without a name are omitted.
  expect(await foundAmong(properties, { countrycode })).toEqual([label]);
});

test("limits a label to one line of 300 characters", async () => {
  const name = `\u0000 a\n\tb ${"é".repeat(400)}`;
  expect(await foundAmong({ name })).toEqual([`a b ${"é".repeat(296)}`]);
});
