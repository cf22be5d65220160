import { describe, expect, test } from "vitest";
import { BOOKING, COVERED_ROUTE, IMPOSSIBLE_REFERENCE, NO_SHIPMENT } from "../../support/bookings.ts";
import { errorBody } from "../../support/endpoints.ts";
import { rawHttp } from "../../support/raw-http.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

const headers = { "x-request-id": "the-same" };
const quote = (body: unknown) => service.request("/v1/shipments/quote", { apiKey, body, headers });
const book = (body: unknown) => service.request("/v1/shipments", { apiKey, body });

/** Returns errors by field, with one message per field. */
function each(errors: Record<string, string>) {
  return Object.fromEntries(Object.entries(errors).map(([name, text]) => [name, [text]]));
}

describe("a JSON request", () => {
  const REQUIRED = {
    pickup_lat: "pickup_lat is required.",
    pickup_lng: "pickup_lng is required.",
    dropoff_lat: "dropoff_lat is required.",
    dropoff_lng: "dropoff_lng is required.",
    weight_kg: "weight_kg is required.",
  };

  test("treats null in a field as absent", async () => {
    const nulls = Object.fromEntries(Object.keys(REQUIRED).map((name) => [name, null]));
    const [absent, null_] = [await quote({}), await quote(nulls)];
    expect(null_.status).toBe(422);
    expect(null_.body).toStrictEqual({
      message: "pickup_lat is required. (and 4 more errors)",
      errors: each(REQUIRED),
    });
    expect(absent.text).toBe(null_.text);
  });

  test("can have latitude 0 and longitude 0, which are not absent", async () => {
    const { status, body } = await quote({
      ...COVERED_ROUTE,
      pickup_lat: 0,
      pickup_lng: 0,
    });
    expect([status, body.failure_type]).toEqual([200, "coverage"]);
  });

  test("can have null in an optional field", async () => {
    const { status, body } = await book({
      ...BOOKING,
      customer_id: null,
      customer_id_number: null,
    });
    expect([status, body.data.customer.id_number]).toEqual([201, null]);
  });

  test.each<[what: string, json: string]>([
    ["a string", '"40.7"'],
    ["a blank string", '""'],
    ["NaN as a string", '"NaN"'],
    ["Infinity as a string", '"Infinity"'],
    ["true", "true"],
    ["a list", "[40.7]"],
    ["an empty list", "[]"],
    ["an object", '{"value": 40.7}'],
  ])("has numbers as finite JSON numbers only: not %s", async (_, json) => {
    const body = JSON.stringify({ ...COVERED_ROUTE, pickup_lat: "?" }).replace('"?"', json);
    const answer = await quote(body);
    expect(answer.status).toBe(422);
    expect(answer.body).toStrictEqual(errorBody("pickup_lat must be a number.", "pickup_lat"));
  });

  test.each(["1e999", "-1e999"])("has no numbers as large as %s", async (json) => {
    const body = JSON.stringify({ ...COVERED_ROUTE, pickup_lat: "?" }).replace('"?"', json);
    const text = "pickup_lat is too large. Its magnitude must be below 1.8e308.";
    const answer = await quote(body);
    expect([answer.status, answer.body]).toEqual([422, errorBody(text, "pickup_lat")]);
  });

  test.each<[what: string, json: string]>([
    ["an exponent", "4.0758e1"],
    ["more digits than a double has", "40.758000000000000000000000001"],
    ["a trailing zero", "40.7580"],
  ])("can have numbers with %s", async (_, json) => {
    const body = JSON.stringify({ ...COVERED_ROUTE, pickup_lat: "?" }).replace('"?"', json);
    const [{ text: asWritten }, { text: plain }] = [await quote(body), await quote(COVERED_ROUTE)];
    expect(asWritten).toBe(plain);
  });

  test("gets all field errors together, wrong types and ranges, in field order", async () => {
    const { status, body } = await book({
      weight_kg: 0.001,
      dropoff_lng: -180.5,
      dropoff_lat: null,
      dropoff_address: "\u00a0\t\n ",
      pickup_lng: [],
      pickup_lat: 90.0001,
      pickup_address: 7,
      customer_id_number: {},
      customer_id: 1.5,
      customer_email: "nobody",
      customer_name: "",
    });
    const errors = {
      customer_name: "customer_name is required.",
      customer_email: "customer_email must be a valid email address.",
      customer_id: "customer_id must be a whole number from -9007199254740991 to 9007199254740991.",
      customer_id_number: "customer_id_number must be a string.",
      pickup_address: "pickup_address must be a string.",
      pickup_lat: "pickup_lat must be greater than or equal to -90 and less than or equal to 90.",
      pickup_lng: "pickup_lng must be a number.",
      dropoff_address: "dropoff_address is required.",
      dropoff_lat: "dropoff_lat is required.",
      dropoff_lng: "dropoff_lng must be greater than or equal to -180 and less than or equal to 180.",
      weight_kg: "weight_kg must be greater than or equal to 0.01.",
    };
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toBe(
      JSON.stringify({
        message: "customer_name is required. (and 10 more errors)",
        errors: each(errors),
      }),
    );
  });

  test("gets one error for a list item of the wrong type", async () => {
    const body = { points: [7, null, { lat: 1 }] };
    const answer = await service.request("/v1/coverage/zones", { apiKey, body });
    expect(answer.body.errors).toEqual(
      each({
        "points[0]": "points[0] must be an object.",
        "points[1]": "points[1] must not be null.",
        "points[2].lng": "points[2].lng is required.",
      }),
    );
  });

  test.each([
    ["pickup_lat", 90, -90],
    ["pickup_lng", 180, -180],
    ["dropoff_lat", 90, -90],
    ["dropoff_lng", 180, -180],
    ["weight_kg", 0.01, 1e300],
  ])("can have %s at its bounds: %d and %d", async (name, ...values) => {
    for (const value of values) {
      expect((await quote({ ...COVERED_ROUTE, [name]: value })).status).toBe(200);
    }
  });

  test.each([
    ["pickup_lat", 90.00000000000001],
    ["pickup_lng", -180.00000000000003],
    ["dropoff_lat", -91],
    ["dropoff_lng", 181],
    ["weight_kg", 0.0099994],
    ["weight_kg", 0],
    ["weight_kg", -1],
  ])("cannot have %s beyond its bounds: %d", async (name, value) => {
    const { status, body } = await quote({ ...COVERED_ROUTE, [name]: value });
    expect([status, Object.keys(body.errors)]).toEqual([422, [name]]);
  });

  test("has its strings trimmed", async () => {
    const padded = {
      ...BOOKING,
      customer_name: "  Ada  Lovelace\n",
      customer_email: "\tada@example.org ",
      customer_id_number: "\u00a0AB 12 ",
      pickup_address: " 1 Times Square\r\n",
      dropoff_address: "\u3000Park\u2003",
    };
    const { status, body } = await book(padded);
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      customer: { name: "Ada  Lovelace", email: "ada@example.org", id_number: "AB 12" },
      pickup_address: "1 Times Square",
      dropoff_address: "Park",
    });
  });

  test("can have a blank string in an optional field", async () => {
    const { status, body } = await book({ ...BOOKING, customer_id_number: "  " });
    expect([status, body.data.customer.id_number]).toEqual([201, null]);
  });

  test.each([
    ["customer_name", 200],
    ["customer_id_number", 64],
    ["pickup_address", 500],
    ["dropoff_address", 500],
  ])("can have in %s up to %i user-perceived characters", async (name, most) => {
    const longest = "🚲".repeat(most);
    const taken = await book({ ...BOOKING, [name]: longest });
    expect(taken.status).toBe(201);
    expect(taken.text).toContain(longest);
    const refused = await book({ ...BOOKING, [name]: `${longest}.` });
    expect([refused.status, refused.body.errors]).toEqual([
      422,
      { [name]: [`${name} must be at most ${most} characters.`] },
    ]);
  });

  test.each([
    ["NUL", "\u0000"],
    ["half a surrogate pair", "\ud83d"],
  ])("with text that contains %s is refused, with the field", async (_, bad) => {
    const { status, body } = await book({
      ...BOOKING,
      customer_name: `A${bad}`,
      pickup_address: bad,
    });
    const text = "must be valid Unicode text without NUL characters.";
    expect([status, body.errors]).toEqual([
      422,
      { customer_name: [`customer_name ${text}`], pickup_address: [`pickup_address ${text}`] },
    ]);
  });

  test.each([
    ["right to left", "שלום \u2067evil\u2069\u200f"],
    ["quotes and markup", `'"; drop table shipment; -- <script>`],
    ["astral", "𝄞👩‍👩‍👧"],
    ["control characters", "a\u0001\u001b[31mb"],
    ["noncharacters", "a\ufffe\uffffb"],
  ])("keeps its text unchanged: %s", async (_, text) => {
    const { status, body } = await book({ ...BOOKING, pickup_address: text });
    expect([status, body.data.pickup_address]).toEqual([201, text]);
  });

  test("can have unknown fields with any value, which are ignored", async () => {
    const body = `{"__proto__": {"weight_kg": 9}, "constructor": null, "pickupLat": "x", "Weight_kg": -1, "": [], ${JSON.stringify(COVERED_ROUTE).slice(1)}`;
    const [strange, plain] = [await quote(body), await quote(COVERED_ROUTE)];
    expect(strange.text).toBe(plain.text);
  });

  test("can have unknown fields nested to any depth that fits", async () => {
    const body = `{"x": ${"[".repeat(30_000)}${"]".repeat(30_000)}}`;
    expect((await quote(body)).body.errors).toEqual(each(REQUIRED));
  });

  test("with thousands of errors gets a hundred of them and the number of the others", async () => {
    const path = "/v1/webhooks/wh_000000000000000000000000";
    const body = { types: Array.from({ length: 10_000 }, () => "x") };
    const answer = await service.request(path, { apiKey, method: "PATCH", body });
    const named = Object.keys(answer.body.errors);
    expect([answer.status, named.length, named[1]]).toEqual([422, 100, "types[0]"]);
    expect(answer.body.message).toBe(`${answer.body.errors.types[0]} (and 10000 more errors)`);
  });

  test("with a body cannot have fields in its query", async () => {
    const answer = await service.request("/v1/shipments/quote?weight_kg=1", { apiKey, body: {} });
    expect([answer.status, answer.body.errors]).toEqual([
      422,
      each({
        ...REQUIRED,
        weight_kg: "weight_kg is not a query parameter of this call, which takes none.",
      }),
    ]);
  });
});

describe("an unknown field", () => {
  const TYPED = { ...COVERED_ROUTE, weight_kgs: 3 };
  const STRICT_TEXT = "weight_kgs is not a field of this request. Did you mean weight_kg?";
  const strict = (prefer: string, body: unknown = TYPED, path = "/v1/shipments/quote") =>
    service.request(path, { apiKey, body, headers: { prefer } });

  test.each([
    ["/v1/overview?form=2026-01-01", "form", "from_date, to_date"],
    ["/v1/coverage?tolerance=5", "tolerance", "tolerance_m"],
    ["/v1/shipments/SHP-000000000000?x=1", "x", "none"],
    ["/v1/coverage?=5", '""', "tolerance_m"],
  ])("in the query is refused with its name: %s", async (path, name, taken) => {
    const text = `${name} is not a query parameter of this call, which takes ${taken}.`;
    const { status, body, code } = await service.request(path, { apiKey });
    expect({ status, body, code }).toEqual({
      status: 422,
      body: errorBody(text, name),
      code: "FIELD_INVALID",
    });
  });

  test("twice in the query is refused with its name, unless its field is repeated", async () => {
    const twice = await service.request("/v1/shipments?status=pending&status=cancelled", {
      apiKey,
    });
    const body = errorBody("status must be given only once.", "status");
    expect([twice.status, twice.body]).toEqual([422, body]);
    const repeated = "/v1/events?types=shipment.created&types=shipment.paid";
    expect((await service.request(repeated, { apiKey })).status).toBe(200);
  });

  test("in the query is refused for operators and write calls too", async () => {
    const { key } = await service.addOperator();
    const listed = await service.request("/admin/v1/workspaces?naem=x", { apiKey: key });
    expect([listed.status, Object.keys(listed.body.errors)]).toEqual([422, ["naem"]]);
    const dry = await service.request("/v1/shipments?dry_run=true", { apiKey, body: BOOKING });
    expect([dry.status, Object.keys(dry.body.errors)]).toEqual([422, ["dry_run"]]);
  });

  test("in the body is ignored and named in a header", async () => {
    const [plain, typed] = [await quote(COVERED_ROUTE), await quote(TYPED)];
    expect([plain.status, plain.headers.get("ignored-fields")]).toEqual([200, null]);
    expect([typed.text, typed.headers.get("ignored-fields")]).toEqual([plain.text, "weight_kgs"]);
    const routes = [COVERED_ROUTE, { ...COVERED_ROUTE, pickup: { lat: 1 } }];
    const batch = await service.request("/v1/shipments/quote/batch", {
      apiKey,
      body: { routes, note: "x" },
    });
    expect([batch.status, batch.headers.get("ignored-fields")]).toEqual([200, "routes[1].pickup, note"]);
  });

  test.each([
    ["weight_kg", "weight"],
    ["weight_kg", "weightKg"],
    ["weight_kg", "wieght_kg"],
    ["pickup_lat", "pickupLatitude"],
  ])("in the body that resembles a missing one is named: %s instead of %s", async (name, written) => {
    const { [name]: value, ...others } = COVERED_ROUTE as Record<string, unknown>;
    const body = { ...others, [written]: value, note: "n" };
    const text = `${name} is required; the request has "${written}", which is not a field.`;
    const refused = await quote(body);
    expect([refused.status, refused.headers.get("ignored-fields")]).toEqual([422, `${written}, note`]);
    expect(refused.body).toEqual(errorBody(text, name));
    const routes = [COVERED_ROUTE, body];
    const batch = await service.request("/v1/shipments/quote/batch", { apiKey, body: { routes } });
    expect([batch.status, batch.body.results[1].error.message]).toEqual([200, text]);
  });

  test("in the body is named in other errors, and not used in place of them", async () => {
    const body = { ...COVERED_ROUTE, weight_kg: null, hint: 1, dropoff_lat: 91 };
    const { status, headers, body: refused } = await quote(body);
    expect([status, headers.get("ignored-fields")]).toEqual([422, "hint"]);
    expect(refused).toEqual({
      message: "dropoff_lat must be greater than or equal to -90 and less than or equal to 90. (and 1 more error)",
      errors: each({
        dropoff_lat: "dropoff_lat must be greater than or equal to -90 and less than or equal to 90.",
        weight_kg: "weight_kg is required.",
      }),
    });
  });

  test("is named with limited length and visible characters", async () => {
    const names = ["a, b: \r\nx-api-key", "größe", "\ud800", "%", "", "x".repeat(5_000)];
    const more = Array.from({ length: 500 }, (_, i) => `field${i}`);
    const body = Object.fromEntries([...names, ...more].map((name) => [name, 1]));
    const { headers } = await quote(body);
    expect(headers.get("ignored-fields")!.split(", ")).toEqual([
      "a%2C%20b%3A%20%0D%0Ax-api-key",
      "gr%C3%B6%C3%9Fe",
      "%EF%BF%BD",
      "%25",
      "%22%22",
      "x".repeat(100),
      ...more.slice(0, 14),
    ]);
  });

  test.each(["handling=strict", 'respond-async, Handling = "strict"; x=y', "handling=STRICT"])(
    "in the body is refused with its path with Prefer: %s",
    async (prefer) => {
      const { status, body, code, headers: answered } = await strict(prefer);
      expect({ status, body, code }).toEqual({
        status: 422,
        body: errorBody(STRICT_TEXT, "weight_kgs"),
        code: "FIELD_INVALID",
      });
      expect(answered.get("preference-applied")).toBe("handling=strict");
      expect(answered.get("ignored-fields")).toBeNull();
      const plain = await strict(prefer, COVERED_ROUTE);
      expect([plain.status, plain.headers.get("preference-applied")]).toEqual([200, "handling=strict"]);
    },
  );

  test("is refused in strict mode together with all other errors, and for a whole batch", async () => {
    const missing = await strict("handling=strict", { ...TYPED, weight_kg: null });
    expect(missing.body.errors).toEqual(
      each({
        weight_kgs: STRICT_TEXT,
        weight_kg: 'weight_kg is required; the request has "weight_kgs", which is not a field.',
      }),
    );
    const routes = [COVERED_ROUTE, TYPED];
    const batch = await strict("handling=strict", { routes }, "/v1/shipments/quote/batch");
    expect([batch.status, batch.body.errors]).toEqual([
      422,
      each({ "routes[1].weight_kgs": `routes[1].${STRICT_TEXT}` }),
    ]);
  });

  test.each([
    "handling=lenient",
    "handling=lenient, handling=strict",
    'x="a, handling=strict, b"',
    "handling=stricter",
    "nothandling=strict",
  ])("in the body is ignored with Prefer: %s", async (prefer) => {
    const { status, headers: answered } = await strict(prefer);
    expect([status, answered.get("preference-applied"), answered.get("ignored-fields")]).toEqual([
      200,
      null,
      "weight_kgs",
    ]);
  });
});

describe("a request without fields needs no body", () => {
  const UNKNOWN = "/v1/shipments/SHP-000000000000/cancel";

  test.each<[what: string, headers: string, body: string]>([
    ["no body, no type", "", ""],
    ["no body, JSON", "Content-Type: application/json\r\n", ""],
    ["no body, a form", "Content-Type: application/x-www-form-urlencoded\r\n", ""],
    ["an empty body", "Content-Length: 0\r\n", ""],
    ["an empty body, gzip", "Content-Length: 0\r\nContent-Encoding: gzip\r\n", ""],
    ["an empty stream", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n"],
    ["a blank body", "Content-Type: text/plain\r\nContent-Length: 2\r\n", "\r\n"],
    ["{}, no type", "Content-Length: 2\r\n", "{}"],
    ["{}, plain text", "Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}"],
    ["{ }, a form", "Content-Type: multipart/form-data\r\nContent-Length: 4\r\n", "{ }\n"],
    ["{}, JSON", "Content-Type: application/json\r\nContent-Length: 2\r\n", "{}"],
    ["unknown fields", "Content-Type: application/json\r\nContent-Length: 7\r\n", '{"a":1}'],
  ])("%s", async (_, headers, body) => {
    const answer = await rawHttp(
      service.httpUrl,
      `POST ${UNKNOWN} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKey}\r\n${headers}\r\n${body}`,
    );
    expect([answer.status, answer.body]).toEqual([404, NO_SHIPMENT]);
  });

  test("but a sent body must be a JSON object", async () => {
    const statusOf = async (body: string, headers = {}) =>
      (await service.request(UNKNOWN, { apiKey, body, headers })).status;
    expect(await statusOf("{")).toBe(400);
    expect(await statusOf("null")).toBe(400);
    expect(await statusOf("[]")).toBe(400);
    expect(await statusOf('{"a":1}', { "content-type": "text/plain" })).toBe(415);
  });

  test("and a body cannot override the path", async () => {
    const { body } = await book(BOOKING);
    const { reference } = body.data;
    const cancelled = await service.request(`/v1/shipments/${reference}/cancel`, {
      apiKey,
      body: { shipment: "SHP-000000000000" },
    });
    expect([cancelled.status, cancelled.body.data.reference]).toEqual([200, reference]);
  });
});

describe("the shipment in the path", () => {
  const cancel = (segment: string) => service.request(`/v1/shipments/${segment}/cancel`, { apiKey, method: "POST" });

  test("is percent-decoded and trimmed", async () => {
    const { body } = await book(BOOKING);
    const encoded = body.data.reference.replace("SHP-", "%20%53HP%2D");
    expect((await cancel(encoded)).status).toBe(200);
  });

  test("matches in any letter case", async () => {
    const { body } = await book(BOOKING);
    expect((await cancel(body.data.reference.toLowerCase())).status).toBe(200);
    expect((await cancel("shp-000000000000")).body).toEqual(NO_SHIPMENT);
  });

  test.each(["x", "quote", "a%2Fb", "%FF", "%", "%E0%A4%A", "x".repeat(9_000)])(
    "returns 404 for %s",
    async (segment) => {
      expect((await cancel(segment)).body).toEqual(IMPOSSIBLE_REFERENCE);
    },
  );

  test("is missing if it is blank", async () => {
    const { status, body } = await cancel("%20%09");
    expect([status, body]).toEqual([422, errorBody("shipment is required.", "shipment")]);
  });
});

describe("a JSON response", () => {
  test("has every field, in order, with null for absent ones", async () => {
    const { status, text } = await quote(COVERED_ROUTE);
    expect(status).toBe(200);
    expect(text).toBe(
      '{"covered":true,"message":null,"failure_type":null,"distance_km":9.532,"distance_fee":11.44,"weight_fee":1.25,"base_fee":5,"subtotal":12.69,"total":12.69,"currency":"USD","window_fee":0,"pickup_window":null,"dropoff_window":null}',
    );
  });

  test("is JSON and has a content length", async () => {
    const { headers, text } = await quote(COVERED_ROUTE);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("content-length")).toBe(String(text.length));
  });
});

describe("X-Request-Id", () => {
  const GENERATED_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const ask = async (id: string | undefined, path = "/v1/shipments/quote") => {
    const headers: Record<string, string> = id === undefined ? {} : { "x-request-id": id };
    return (await service.request(path, { apiKey, body: COVERED_ROUTE, headers })).headers.get("x-request-id");
  };

  test.each(["a", "!~", "x".repeat(128), "0b3c-1/2"])("is returned when the caller sends %s", async (id) => {
    expect(await ask(id)).toBe(id);
  });

  test.each(["", "x".repeat(129), "a b", "a\tb", "é"])(
    "is replaced unless it has 1 to 128 visible characters: %j",
    async (id) => {
      expect(await ask(id)).toMatch(GENERATED_ID);
    },
  );

  test("is new for each call without one", async () => {
    const [first, second] = [await ask(undefined), await ask(undefined)];
    expect([first, second]).toEqual([expect.stringMatching(GENERATED_ID), expect.stringMatching(GENERATED_ID)]);
    expect(first).not.toBe(second);
  });

  test.each(["/v1/nothing", "/v1/shipments", "/healthz", "/readyz", "/metrics", "/a.B/C"])(
    "is returned from %s too, with any status",
    async (path) => {
      expect(await ask("mine", path)).toBe("mine");
    },
  );
});
