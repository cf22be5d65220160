import { REASONS } from "../domain/refusal-reasons.ts";
import type { RefusalReason, Violation } from "../domain/refusal.ts";
import type { Audience } from "../pipeline/call.ts";
import { credentialError } from "../pipeline/credentials/read-key.ts";
import type { RefusedCall } from "./refused-call.ts";

export function refusalExample(reason: RefusalReason, call: RefusedCall) {
  const { subject, text }: Words = { ...REASONS[reason], ...OF_CALLS[reason]?.(call) };
  return { message: text, errors: subject === undefined ? {} : { [subject]: [text] } };
}

type Words = Pick<Violation, "subject" | "text">;

const CALLERS: Readonly<Record<Audience, string>> = {
  workspace: "workspace",
  operator: "operator",
  person: "account",
};

/** The next lower role for each operator role. */
const LESSER_ROLE: Readonly<Record<string, string>> = { operator: "viewer", owner: "operator" };

/** Messages that depend on the call. They replace the reason's example. */
const OF_CALLS: {
  readonly [R in RefusalReason]?: (call: RefusedCall) => Partial<Words>;
} = {
  BODY_NOT_JSON: ({ body }) => (body === "document" ? { text: "The body must be sent without Content-Encoding." } : {}),
  BODY_TOO_LARGE: ({ maxBytes }) => ({ text: `The body is larger than ${maxBytes / 1024} KiB.` }),
  FIELD_INVALID: ({ violation }) => violation,
  CREDENTIAL_REFUSED: ({ audience }) => ({ text: credentialError("is missing", audience).message }),
  ROLE_INSUFFICIENT: ({ method: { name }, operatorRole }) => ({
    text: insufficientRole(name, operatorRole),
  }),
  SCOPE_INSUFFICIENT: ({ method: { name }, limitClass, forCouriers }) => ({
    text:
      limitClass === "write"
        ? `${name} requires a key with the scope ${forCouriers ? "courier or full" : "full"}. Your key has the scope read_only.`
        : `${name} requires a key with the scope read_only or full. Your key has the scope courier.`,
  }),
  RATE_LIMITED: ({ audience, limitClass }) => ({
    text: `The ${CALLERS[audience]} has used up its ${limitClass} calls. Try again in 1 s.`,
  }),
  ETAG_STALE: ({ method: { name } }) => {
    const [subject = "draft"] = /Shipment$|Customer$/.exec(name) ?? [];
    const text = `etag is stale because the ${subject.toLowerCase()} was changed. Read it again.`;
    return { text };
  },
};

/**
 * Returns the message of ROLE_INSUFFICIENT. Operators can create links for their own account, and only
 * owners can create links for others.
 */
function insufficientRole(name: string, needed: string): string {
  const role = LESSER_ROLE[needed];
  return role === undefined
    ? "Only owners can create sign-in links for other operators. Your role is viewer."
    : `${name} requires the role ${needed}. Your role is ${role}.`;
}
