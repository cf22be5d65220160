import { REASONS } from "../domain/refusal-reasons.ts";
import { SESSION_COOKIE } from "../pipeline/credentials/session-cookie.ts";
import type { Json } from "./options.ts";

export function headers(...names: readonly string[]): Json {
  return Object.fromEntries(names.map((it) => [it, { $ref: `#/components/headers/${it}` }]));
}

const text = (description: string, rules: Json = {}): Json => ({
  description,
  schema: { type: "string", ...rules },
});

export const HEADERS: Json = {
  "X-Request-Id": {
    required: true,
    ...text("The caller's `X-Request-Id`, or else a generated id. Include it when you report a 500."),
  },
  "RateLimit-Policy": text(
    'Rate limit for this class of calls: up to `q` calls in `w` seconds, as in `"write";q=4000;w=2`.',
    {
      pattern: '^"(quote|read|write)";q=[0-9]+;w=[0-9]+$',
    },
  ),
  RateLimit: text(
    'Remaining quota: `r` calls. The full quota is available again in `t` seconds, as in `"write";r=3999;t=1`. With 429, `t` is the time until the next call is allowed.',
    { pattern: '^"(quote|read|write)";r=[0-9]+;t=[0-9]+$' },
  ),
  "Idempotency-Replayed": text("`true` if this is the stored response to an earlier call.", {
    const: "true",
  }),
  Simulated: text("The faults that `Simulate` injected. `ignored` with a live key. Absent without `Simulate`."),
  "Ignored-Fields": text("Paths of unknown body fields, at most 20. Absent if there are none."),
  "Preference-Applied": text("Present if the call was handled strictly, as requested by the header `Prefer`.", {
    const: "handling=strict",
  }),
  "Retry-After": text("Seconds to wait before a retry.", { pattern: "^[0-9]+$" }),
  "WWW-Authenticate": text("Authentication scheme.", { const: "Bearer" }),
  ETag: text("Version of the document. Send it as `If-None-Match` with the next request."),
  "Cache-Control": text("Caching rules for the document."),
};

const FAULT =
  "(unavailable|rate_limited|slow=[0-9]{1,5}|in_flight|lose_answer|slot_full|duplicate_webhook|reorder_webhooks|fail_webhook=[0-9]{1,2})";

export const PARAMETERS = {
  "X-Request-Id": header("X-Request-Id", "Id of the call, which is logged and returned. Generated if absent.", {
    pattern: "^[\\x21-\\x7e]{1,128}$",
  }),
  "Connect-Timeout-Ms": header(
    "Connect-Timeout-Ms",
    "The caller's timeout, in milliseconds. After the timeout, the response is 504.",
    { pattern: "^[0-9]{1,10}$" },
  ),
  Simulate: header(
    "Simulate",
    "In test mode, faults to simulate, separated by commas: unavailable, rate_limited, slow=MS (up to 10000), lose_answer; for calls that write also in_flight, slot_full, duplicate_webhook, reorder_webhooks, fail_webhook=N (up to 10).",
    {
      pattern: `^${FAULT}( *, *${FAULT})*$`,
    },
  ),
  "Idempotency-Key": header(
    "Idempotency-Key",
    "Makes the call safe to repeat. For 24 hours, the same request with the same key returns the stored response.",
    { pattern: "^[\\x21-\\x7e]{1,255}$" },
  ),
  Prefer: header(
    "Prefer",
    "`handling=strict` (RFC 7240) refuses a body with unknown fields. `errors` has an entry for each unknown field.",
  ),
  "If-None-Match": header("If-None-Match", "The `ETag` of the caller's copy of the document."),
} as const;

function header(name: string, description: string, rules: Json = {}): Json {
  return { name, in: "header", ...text(description, rules) };
}

export const SECURITY_SCHEMES = {
  workspaceBearer: bearer("A workspace's secret key, `shp_...`."),
  workspaceKey: apiKey("header", "X-Api-Key", "A workspace's secret key, `shp_...`."),
  operatorBearer: bearer("An operator's secret key, `sho_...`."),
  operatorKey: apiKey("header", "X-Api-Key", "An operator's secret key, `sho_...`."),
  session: apiKey(
    "cookie",
    SESSION_COOKIE.names.https,
    `Session cookie of a signed-in user. Named \`${SESSION_COOKIE.names.http}\` over plain HTTP.`,
  ),
} as const;

function bearer(description: string): Json {
  return { type: "http", scheme: "bearer", description };
}

function apiKey(where: string, name: string, description: string): Json {
  return { type: "apiKey", in: where, name, description };
}

export const REFUSAL: Json = {
  type: "object",
  description: "Reason why a call was refused.",
  required: ["message", "errors", "code", "request_id"],
  properties: {
    message: {
      type: "string",
      description: "Human-readable description of the first problem, and the number of other problems.",
    },
    errors: {
      type: "object",
      description: "Problems by field or subject. Empty if the problem does not belong to a field or subject.",
      additionalProperties: { type: "array", minItems: 1, items: { type: "string" } },
    },
    code: {
      type: "string",
      enum: Object.keys(REASONS),
      description: "Machine-readable reason for the first problem.",
    },
    request_id: { type: "string", description: "The `X-Request-Id` of the response." },
    metadata: {
      type: "object",
      description:
        "Additional machine-readable details, such as the new `total` or `next_available`. Absent if there are none.",
      additionalProperties: { type: "string" },
    },
  },
};

export const COVERAGE = coverage();

function coverage(): Json {
  const polygon = listOf(listOf(listOf({ type: "number" })));
  const geometry = (type: string, coordinates: Json) =>
    members({
      type: { const: type, description: "Type of the GeoJSON object." },
      coordinates: { ...coordinates, description: "Rings of positions: longitude, latitude." },
    });
  return {
    description: "The served zones, as GeoJSON.",
    ...members({
      type: { const: "FeatureCollection", description: "Type of the GeoJSON object." },
      features: {
        description: "One feature per zone.",
        ...listOf(
          members({
            type: { const: "Feature", description: "Type of the GeoJSON object." },
            id: { type: "string", description: "Stable id of the zone." },
            properties: {
              description: "Properties of the zone.",
              ...members({ name: { type: "string", description: "Name of the zone." } }),
            },
            geometry: {
              description: "Geometry of the zone.",
              oneOf: [geometry("Polygon", polygon), geometry("MultiPolygon", listOf(polygon))],
            },
          }),
        ),
      },
    }),
  };
}

function listOf(items: Json): Json {
  return { type: "array", items };
}

function members(properties: Json): Json {
  return { type: "object", required: Object.keys(properties), properties };
}
