import type { RefusalReason } from "../domain/refusal.ts";
import { REFUSAL_STATUS } from "../pipeline/refusal-status.ts";
import { SESSION_COOKIES } from "../pipeline/session-cookie.ts";
import type { Json } from "./options.ts";

/** References to the headers of that name. */
export function headers(...names: readonly string[]): Json {
  return Object.fromEntries(names.map((it) => [it, { $ref: `#/components/headers/${it}` }]));
}

const text = (description: string, rules: Json = {}): Json => ({
  description,
  schema: { type: "string", ...rules },
});

/** The headers of answers. */
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
  "Retry-After": text("After how many seconds to try again.", { pattern: "^[0-9]+$" }),
  "WWW-Authenticate": text("How to authenticate.", { const: "Bearer" }),
  ETag: text("Names the document as it is now; send it as `If-None-Match` next time."),
  "Cache-Control": text("How the document may be kept."),
};

/** The headers that steer a call. */
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
  "Idempotency-Key": header(
    "Idempotency-Key",
    "Makes the call safe to repeat: for 24 hours, the same request with the same key is answered with the stored response.",
    { pattern: "^[\\x21-\\x7e]{1,255}$" },
  ),
  "If-None-Match": header("If-None-Match", "The `ETag` of the document the caller has."),
} as const;

function header(name: string, description: string, rules: Json = {}): Json {
  return { name, in: "header", ...text(description, rules) };
}

/** How callers say who they are. */
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

/** The body of every refusal. */
export const REFUSAL: Json = {
  type: "object",
  description: "Why a call was refused.",
  required: ["message", "errors"],
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
  },
};

/** The zones in which deliveries are served. */
export const COVERAGE = coverage();

function coverage(): Json {
  const polygon = listOf(listOf(listOf({ type: "number" })));
  const geometry = (type: string, coordinates: Json) =>
    members({ type: { const: type }, coordinates });
  return {
    description: "The zones in which deliveries are served, as GeoJSON.",
    ...members({
      type: { const: "FeatureCollection" },
      features: listOf(
        members({
          type: { const: "Feature" },
          id: { type: "string", description: "Stays the same as long as the zone does." },
          properties: members({ name: { type: "string", description: "The name of the zone." } }),
          geometry: {
            oneOf: [geometry("Polygon", polygon), geometry("MultiPolygon", listOf(polygon))],
          },
        }),
      ),
    }),
  };
}

function listOf(items: Json): Json {
  return { type: "array", items };
}

/** An object with all of these members. */
function members(properties: Json): Json {
  return { type: "object", required: Object.keys(properties), properties };
}

/** The headers that go with some statuses of refusals, besides the request's id. */
const REFUSAL_HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ["WWW-Authenticate"],
  409: ["Retry-After"],
  429: ["RateLimit-Policy", "RateLimit", "Retry-After"],
  503: ["Retry-After"],
};

/** A refusal of each status, as the service says it. */
const EXAMPLES: Readonly<Record<number, Json>> = {
  400: example("The body is not valid JSON.", "body"),
  401: example(
    "The credential is missing. Send the workspace's API key as Authorization: Bearer shp_... or X-Api-Key: shp_....",
  ),
  403: example("CreateWorkspace needs the role operator; yours is viewer."),
  404: example("There is no such shipment."),
  409: example(
    "etag is not the shipment's any more: it was changed meanwhile. Read it again.",
    "etag",
  ),
  413: example("The body is larger than 64 KiB.", "body"),
  415: example("The body must be JSON: send it with Content-Type: application/json.", "body"),
  422: example("weight_kg must be greater than or equal to 0.01.", "weight_kg"),
  429: example("The workspace has used up its read calls; try again in 1 s."),
  500: example("The service failed; report this with the request id."),
  503: example("The service is starting; try again in a moment."),
  504: example("The caller's deadline passed before the answer."),
};

function example(message: string, subject?: string): Json {
  return { message, errors: subject === undefined ? {} : { [subject]: [message] } };
}

/**
 * A refusal with each status, as `#/components/responses/Refused422`, with the reasons that have it;
 * but for 405, which no operation answers with.
 */
export function refusals(): Json {
  const statuses = Object.entries(REFUSAL_STATUS) as [RefusalReason, { httpStatus: number }][];
  const reasons = Map.groupBy(statuses, ([, { httpStatus }]) => httpStatus);
  reasons.delete(REFUSAL_STATUS.METHOD_NOT_ALLOWED.httpStatus);
  return Object.fromEntries(
    [...reasons].map(([status, entries]) => [
      `Refused${status}`,
      {
        description: `Refused with one of these reasons: ${entries.map(([reason]) => `\`${reason}\``).join(", ")}.`,
        headers: headers("X-Request-Id", ...(REFUSAL_HEADERS[status] ?? [])),
        content: {
          "application/json": {
            schema: { $ref: "#/components/schemas/Refusal" },
            example: EXAMPLES[status],
          },
        },
      },
    ]),
  );
}
