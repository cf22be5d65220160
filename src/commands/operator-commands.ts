import { AuditService } from "../../gen/shipments/admin/v1/audit_service_pb.js";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { commandGroup } from "./command.ts";
import {
  last4Option,
  OPERATOR,
  pick,
  replacedLine,
  rpcCommand,
  signInLines,
  type ResponseJson,
} from "./rpc-command.ts";

const { method } = OperatorService;

type Operator = NonNullable<ResponseJson<typeof method.getOperator>["data"]>;

export const operatorCommand = commandGroup(
  "operator",
  "people who run the platform",
  rpcCommand(
    "create",
    "add an operator and create its first key",
    method.createOperator,
    {
      name: ["--name <name>", "name of the operator"],
      kind: ["--kind <kind>", "person or machine"],
      email: ["--email <email>", "email, required for a person"],
      role: ["--role <role>", "its permissions"],
    },
    ({ data, operator_key }) => ({
      json: { operator: operatorJson(data!), operator_key },
      lines: [`Operator ${data!.id}: ${data!.name}, ${data!.role}`, `Key, shown only once: ${operator_key}`],
    }),
  ),
  rpcCommand(
    "list",
    "list the operators and their active keys",
    method.listOperators,
    { include_revoked: ["--all", "include revoked operators"] },
    ({ data }) => ({
      json: { operators: data.map(operatorJson) },
      lines: data.length === 0 ? ["No operators yet."] : data.map(operatorLine),
    }),
  ),
  rpcCommand(
    "create-key",
    "create an additional key for an operator",
    method.createOperatorKey,
    { operator: OPERATOR, name: ["--name <name>", "purpose of the key"] },
    ({ operator_key }) => ({
      json: { operator_key },
      lines: [`New key, shown only once: ${operator_key}`],
    }),
  ),
  rpcCommand(
    "rotate",
    "create a new key; the key it replaces, or all others, expire after the overlap",
    method.rotateOperatorKey,
    {
      operator: OPERATOR,
      last4: last4Option(),
      overlap_seconds: ["--overlap <seconds>", "time until replaced keys expire"],
    },
    ({ operator_key }, { last4, overlap_seconds }) => ({
      json: { operator_key },
      lines: [`New key, shown only once: ${operator_key}`, replacedLine(overlap_seconds, "operator", last4)],
    }),
  ),
  rpcCommand(
    "revoke-key",
    "revoke a key of an operator immediately",
    method.revokeOperatorKey,
    { operator: OPERATOR, last4: last4Option().makeOptionMandatory() },
    ({ data }, { last4 }) => ({
      json: { operator: operatorJson(data!) },
      lines: [`Revoked ...${last4}.`],
    }),
  ),
  rpcCommand(
    "sign-in",
    "create a sign-in link for an operator of kind person",
    method.createOperatorSignInLink,
    { operator: OPERATOR },
    ({ data, sign_in_path }) => ({
      json: { operator: operatorJson(data!), sign_in_path },
      lines: [`Operator ${data!.id}: ${data!.name}, ${data!.email}`, ...signInLines(sign_in_path)],
    }),
  ),
  rpcCommand(
    "revoke",
    "revoke an operator and all its keys permanently",
    method.revokeOperator,
    { operator: OPERATOR },
    ({ data }) => ({
      json: { operator: operatorJson(data!) },
      lines: [`Operator ${data!.id} is revoked.`],
    }),
  ),
);

function operatorJson(operator: Operator) {
  return {
    ...pick(operator, "id", "name", "email", "kind", "role", "revoked_at"),
    keys: operator.keys.map((key) => pick(key, "name", "last4", "ends_at")),
  };
}

function operatorLine({ id, name, email, role, revoked_at: revokedAt, keys }: Operator): string {
  const listed = keys.map(({ last4, ends_at: endsAt }) =>
    endsAt === null ? `...${last4}` : `...${last4} until ${endsAt}`,
  );
  const state = revokedAt === null ? listed.join(", ") : `revoked ${revokedAt}`;
  return `${id}  ${name}  ${email ?? "no email"}  ${role}  ${state}`;
}

const { listAuditEntries } = AuditService.method;

export const auditCommand = commandGroup(
  "audit",
  "audit log of administrative changes",
  rpcCommand(
    "list",
    "list the latest administrative changes, newest first",
    listAuditEntries,
    {
      after: ["--after <id>", "list the entries after this entry, oldest first; 0 starts with the first"],
      page_size: ["--limit <count>", "number of entries (default 25)"],
    },
    ({ data }) => ({
      json: { audit_entries: data },
      lines: data.length === 0 ? ["No changes yet."] : data.map(auditLine),
    }),
  ),
);

function auditLine(entry: ResponseJson<typeof listAuditEntries>["data"][number]): string {
  const { created_at: createdAt, actor, action, subject, changes } = entry;
  const changed = changes.map(
    ({ field, before, after }) => `${field}: ${before ?? "nothing"} -> ${after ?? "nothing"}`,
  );
  const who = `${actor!.name} (${actor!.kind})`;
  return [createdAt, who, action, subject, changed.join(", ")].join("  ").trimEnd();
}
