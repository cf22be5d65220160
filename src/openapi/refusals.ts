import type { DescMethod, Registry } from "@bufbuild/protobuf";
import type { RefusalReason } from "../domain/refusal.ts";
import { commonReasons } from "../pipeline/common-reasons.ts";
import { REASONS } from "../domain/refusal-reasons.ts";
import { headers } from "./components.ts";
import type { Json, Options } from "./options.ts";
import { refusalExample } from "./refusal-examples.ts";
import { refusedCall, type RefusedCall, type Sent } from "./refused-call.ts";

/** Headers of refusals, if the call counts toward a rate limit. */
const COUNTED = ["RateLimit-Policy", "RateLimit"];

/** Headers by status, in addition to the request id. Most statuses have the headers of rate-limited calls. */
const REFUSAL_HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ["WWW-Authenticate"],
  403: [],
  409: [...COUNTED, "Retry-After"],
  429: [...COUNTED, "Retry-After"],
  503: [...COUNTED, "Retry-After"],
};

const EXAMPLE_REQUEST_ID = "3f0c1f5e-7a44-4f0b-9b8e-2d6f6c1f0a53";

export interface Refusals {
  of(method: DescMethod, operationId: string, sent: Sent): Json;
  /** Returns all referenced responses, as `#/components/responses/...`. */
  components(): Json;
}

/**
 * Creates the refusals of all operations. Refusals with equal reasons and messages are shared. They are
 * named after the first operation, because generators derive type names from the names.
 */
export function createRefusals(options: Options, registry: Registry): Refusals {
  const components = new Map<string, Json>();
  const names = new Map<string, string>();

  function refer(status: number, reasons: readonly RefusalReason[], call: RefusedCall, operationId: string): Json {
    const bodies = reasons.map((code) => {
      const value = { ...refusalExample(code, call), code, request_id: EXAMPLE_REQUEST_ID };
      return [code, { value }];
    });
    const response = describe(status, reasons, Object.fromEntries(bodies));
    const name = names.getOrInsertComputed(JSON.stringify(response), () => `${operationId}.${status}`);
    if (!components.has(name)) components.set(name, response);
    return { $ref: `#/components/responses/${name}` };
  }

  return {
    of(method, operationId, sent) {
      const call = refusedCall(method, sent, options, registry);
      const declared = options<RefusalReason[]>(method, "shipments.v1.refusal_reasons") ?? [];
      const byStatus = Map.groupBy(
        [...commonReasons({ ...call, hasBody: sent.body !== "none" }), ...declared].filter((reason) =>
          canBeMet(reason, call),
        ),
        (reason) => REASONS[reason].httpStatus,
      );
      return Object.fromEntries([...byStatus].map(([status, all]) => [status, refer(status, all, call, operationId)]));
    },
    components: () => Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Reasons that apply only to sessions and sign-ins. */
export const OF_SESSIONS: readonly RefusalReason[] = [
  "CROSS_SITE",
  "SIGN_IN_REFUSED",
  "NOT_A_MEMBER",
  "NOT_AN_OPERATOR",
];

/** Whether a call can be refused for a reason. */
function canBeMet(reason: RefusalReason, call: RefusedCall): boolean {
  if (OF_SESSIONS.includes(reason)) return call.audience === "person";
  if (reason === "BODY_UNREADABLE") return call.body === "json";
  if (reason === "SCOPE_INSUFFICIENT") return call.limitClass === "write" || !call.forCouriers;
  if (reason !== "ROLE_INSUFFICIENT") return true;
  // A workspace key has no role, and all operators may read.
  return call.audience === "operator" && !(call.readOnly && call.operatorRole === "viewer");
}

function describe(status: number, reasons: readonly RefusalReason[], examples: Json): Json {
  return {
    description: `Refused: ${reasons.map((reason) => `\`${reason}\``).join(", ")}.`,
    headers: headers("X-Request-Id", ...(REFUSAL_HEADERS[status] ?? COUNTED)),
    content: {
      "application/json": { schema: { $ref: "#/components/schemas/Refusal" }, examples },
    },
  };
}
