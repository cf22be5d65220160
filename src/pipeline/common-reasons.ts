import type { DescMethod } from "@bufbuild/protobuf";
import type { RefusalReason } from "../domain/refusal.ts";
import type { Audience } from "./call.ts";

/** Audiences by package. The audience of all other packages is `workspace`. */
const AUDIENCES: Readonly<Record<string, Audience>> = {
  "shipments.admin.v1": "operator",
  "shipments.account.v1": "person",
};

export function audienceOf({ parent }: DescMethod): Audience {
  return AUDIENCES[parent.file.proto.package] ?? "workspace";
}

const ANY_CALL: readonly RefusalReason[] = [
  "FIELD_INVALID",
  "CREDENTIAL_REFUSED",
  "CROSS_SITE",
  "RATE_LIMITED",
  "UNAVAILABLE",
  "DEADLINE_EXCEEDED",
  "REQUEST_TOO_SLOW",
  "INTERNAL",
];

const OF_AUDIENCE: Readonly<Record<Audience, readonly RefusalReason[]>> = {
  workspace: ["WORKSPACE_SUSPENDED", "ROLE_INSUFFICIENT", "SCOPE_INSUFFICIENT", "NOT_A_MEMBER"],
  operator: ["ROLE_INSUFFICIENT", "NOT_AN_OPERATOR"],
  person: [],
};

const WITH_BODY: readonly RefusalReason[] = ["BODY_UNREADABLE", "BODY_NOT_JSON", "BODY_TOO_LARGE"];

const REPEATABLE: readonly RefusalReason[] = ["IDEMPOTENCY_KEY_IN_USE", "IDEMPOTENCY_KEY_REUSED"];

/**
 * Returns the refusal reasons common to all methods of a kind. Each method declares its own reasons
 * (`refusal_reasons`).
 */
export function commonReasons(kind: {
  readonly audience: Audience;
  readonly readOnly: boolean;
  readonly hasBody: boolean;
}): readonly RefusalReason[] {
  return [
    ...ANY_CALL,
    ...OF_AUDIENCE[kind.audience],
    ...(kind.hasBody ? WITH_BODY : []),
    ...(kind.readOnly || kind.audience === "person" ? [] : REPEATABLE),
  ];
}
