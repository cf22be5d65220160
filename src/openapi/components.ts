import { REASONS } from "../domain/refusal-reasons.ts";
import { SESSION_COOKIES } from "../pipeline/credentials/session-cookie.ts";
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
    ...text(
      "The caller's `X-Request-Id`, else one made for the call. Give it with a report of a 500.",
    ),
  },
  "RateLimit-Policy": text(
    'How often calls of this class may be made: up to `q` in `w` seconds, as in `"write";q=4000;w=2`.',
    { pattern: '^"(quote|read|write)";q=[0-9]+;w=[0-9]+$' },
  ),
  RateLimit: text(
    'What is left: `r` calls, and all of them again in `t` seconds, as in `"write";r=3999;t=1`. With 429, `t` says when there is a call again.',
    { pattern: '^"(quote|read|write)";r=[0-9]+;t=[0-9]+$' },
  ),
  "Idempotency-Replayed": text("`true` when this is the stored response of an earlier call.", {
    const: "true",
  }),
  Simulated: text(
    "The faults that the call meets, as `Simulate` asks; `ignored` with a live key. Absent without that.",
  ),
  "Ignored-Fields": text(
    "The fields of the body that there are not, by their paths: the first 20. Absent when there are none.",
  ),
  "Preference-Applied": text("Present when the call was handled strictly, as preferred.", {
    const: "handling=strict",
  }),
  "Retry-After": text("After how many seconds to try again.", { pattern: "^[0-9]+$" }),
  "WWW-Authenticate": text("How to authenticate.", { const: "Bearer" }),
  ETag: text("Names the document as it is now; send it as `If-None-Match` next time."),
  "Cache-Control": text("How the document may be kept."),
};

const FAULT =
  "(unavailable|rate_limited|slow=[0-9]{1,5}|in_flight|lose_answer|duplicate_webhook|reorder_webhooks|fail_webhook=[0-9]{1,2})";

export const PARAMETERS = {
  "X-Request-Id": header(
    "X-Request-Id",
    "Goes into the log and the answer. One is made without it.",
    {
      pattern: "^[\\x21-\\x7e]{1,128}$",
    },
  ),
  "Connect-Timeout-Ms": header(
    "Connect-Timeout-Ms",
    "How long the caller will wait, in milliseconds; after that the answer is 504.",
    { pattern: "^[0-9]{1,10}$" },
  ),
  Simulate: header(
    "Simulate",
    "In test mode, faults that the call is to meet, by commas: unavailable, rate_limited, slow=MS (up to 10000), lose_answer; for calls that write in_flight, duplicate_webhook, reorder_webhooks, fail_webhook=N (up to 10).",
    {
      pattern: `^${FAULT}( *, *${FAULT})*$`,
    },
  ),
  "Idempotency-Key": header(
    "Idempotency-Key",
    "Makes the call safe to repeat: for 24 hours, the same request with the same key is answered with the stored response.",
    { pattern: "^[\\x21-\\x7e]{1,255}$" },
  ),
  Prefer: header(
    "Prefer",
    "`handling=strict` (RFC 7240) has a body with unknown fields refused, with each as a key of `errors`.",
  ),
  "If-None-Match": header("If-None-Match", "The `ETag` of the document the caller has."),
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
    SESSION_COOKIES.https,
    `The session of a person who has signed in; without https the cookie is \`${SESSION_COOKIES.http}\`.`,
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
  description: "Why a call was refused.",
  required: ["message", "errors", "code", "request_id"],
  properties: {
    message: {
      type: "string",
      description: "The first problem, for people, and how many more there are.",
    },
    errors: {
      type: "object",
      description: "What is wrong, by field or subject; empty when no field is to blame.",
      additionalProperties: { type: "array", minItems: 1, items: { type: "string" } },
    },
    code: {
      type: "string",
      enum: Object.keys(REASONS),
      description: "The reason of the first problem, for programs.",
    },
    request_id: { type: "string", description: "The `X-Request-Id` of the answer." },
    metadata: {
      type: "object",
      description:
        "Facts for programs that go with the code, such as the new `total` or `next_available`; absent where there are none.",
      additionalProperties: { type: "string" },
    },
  },
};

export const COVERAGE = coverage();

function coverage(): Json {
  const polygon = listOf(listOf(listOf({ type: "number" })));
  const geometry = (type: string, coordinates: Json) =>
    members({
      type: { const: type, description: "The kind of GeoJSON object." },
      coordinates: { ...coordinates, description: "Rings of positions: longitude, latitude." },
    });
  return {
    description: "The zones in which deliveries are served, as GeoJSON.",
    ...members({
      type: { const: "FeatureCollection", description: "The kind of GeoJSON object." },
      features: {
        description: "One for each zone.",
        ...listOf(
          members({
            type: { const: "Feature", description: "The kind of GeoJSON object." },
            id: { type: "string", description: "Stays the same as long as the zone does." },
            properties: {
              description: "What is known of the zone.",
              ...members({ name: { type: "string", description: "The name of the zone." } }),
            },
            geometry: {
              description: "Where the zone is.",
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
