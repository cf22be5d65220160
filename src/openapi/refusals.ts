import type { DescMethod } from "@bufbuild/protobuf";
import type { RefusalReason } from "../domain/refusal.ts";
import { commonReasons } from "../pipeline/common-reasons.ts";
import { REFUSAL_STATUS } from "../pipeline/refusal-status.ts";
import { headers } from "./components.ts";
import type { Json, Options } from "./options.ts";
import { REFUSAL_EXAMPLES } from "./refusal-examples.ts";

/** The headers that go with some statuses of refusals, besides the request's id. */
const REFUSAL_HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ["WWW-Authenticate"],
  409: ["Retry-After"],
  429: ["RateLimit-Policy", "RateLimit", "Retry-After"],
  503: ["Retry-After"],
};

/** The answers of an operation that refuse a call: one for each status, with its reasons. */
export interface Refusals {
  /** Gives references to the answers, by status. */
  of(method: DescMethod, kind: Parameters<typeof commonReasons>[0]): Json;
  /** Every answer that has been referred to, as `#/components/responses/...`. */
  components(): Json;
}

/** Builds the answers of all operations, of which those with the same reasons are one. */
export function createRefusals(options: Options): Refusals {
  const components = new Map<string, Json>();

  function refer(status: number, reasons: readonly RefusalReason[]): Json {
    const name = [`Refused${status}`, ...reasons].join(".");
    if (!components.has(name)) components.set(name, describe(status, reasons));
    return { $ref: `#/components/responses/${name}` };
  }

  return {
    of(method, kind) {
      const own = options<RefusalReason[]>(method, "shipments.v1.refusal_reasons") ?? [];
      const byStatus = Map.groupBy(
        [...commonReasons(kind), ...own],
        (reason) => REFUSAL_STATUS[reason].httpStatus,
      );
      return Object.fromEntries([...byStatus].map(([status, all]) => [status, refer(status, all)]));
    },
    components: () => Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function describe(status: number, reasons: readonly RefusalReason[]): Json {
  const examples = reasons.map((reason) => [reason, { value: REFUSAL_EXAMPLES[reason] }]);
  return {
    description: `Refused: ${reasons.map((reason) => `\`${reason}\``).join(", ")}.`,
    headers: headers("X-Request-Id", ...(REFUSAL_HEADERS[status] ?? [])),
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Refusal" },
        examples: Object.fromEntries(examples),
      },
    },
  };
}
