import type { Command } from "commander";
import {
  OperatorKind,
  OperatorRole,
  type Operator,
} from "../../gen/shipments/admin/v1/operator_pb.js";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { MAX_PAGE_SIZE } from "../domain/limits.ts";
import { OPERATOR_ROLES } from "../domain/roles.ts";
import { callRpc, listAll } from "./command-line-call.ts";
import {
  idOption,
  keyEndingIn,
  last4Option,
  option,
  overlapOption,
  required,
  valueNamed,
} from "./options.ts";
import { commandGroup, signInLines, subcommand, timeText } from "./subcommand.ts";

const { method } = OperatorService;

/** `operator create`, `list`, `create-key`, `rotate`, `revoke-key`, `sign-in` and `revoke`. */
export function operatorCommand(): Command {
  return commandGroup(
    "operator",
    "those who run the platform",
    createCommand(),
    listCommand(),
    createKeyCommand(),
    rotateCommand(),
    revokeKeyCommand(),
    signInCommand(),
    revokeCommand(),
  );
}

interface OperatorOptions {
  readonly operator: bigint;
}

interface CreateOptions {
  readonly name: string;
  readonly kind: string;
  readonly email?: string;
  readonly role: string;
}

/** `operator create --name NAME --kind person|machine [--email EMAIL] --role ROLE` */
function createCommand(): Command {
  return subcommand<CreateOptions>(
    "create",
    "add an operator and its first key",
    [
      required("--name <name>", "who it is"),
      required("--kind <kind>", "what it is").choices(["person", "machine"]),
      option("--email <email>", "its email, which a person needs"),
      required("--role <role>", "what it may do").choices(OPERATOR_ROLES),
    ],
    async (em, { name, kind, email, role }) => {
      const fields = {
        name,
        kind: valueNamed(OperatorKind, kind),
        email,
        role: valueNamed(OperatorRole, role),
      };
      const created = await callRpc(em, method.createOperator, fields);
      const { data, operatorKey } = created;
      return {
        json: { operator: asJson(data!), operator_key: operatorKey },
        lines: [
          `Operator ${data!.id}: ${data!.name}, ${role}`,
          `Its key, shown this once: ${operatorKey}`,
        ],
      };
    },
  );
}

/** `operator list [--all]` */
function listCommand(): Command {
  return subcommand<{ all: boolean }>(
    "list",
    "list the operators and their working keys",
    [option("--all", "those that were revoked too").default(false)],
    async (em, { all: includeRevoked }) => {
      const operators = await listAll((pageToken) => {
        const page = { includeRevoked, pageSize: MAX_PAGE_SIZE, pageToken };
        return callRpc(em, method.listOperators, page);
      });
      const lines = operators.length === 0 ? ["No operators yet."] : operators.map(asLine);
      return { json: { operators: operators.map(asJson) }, lines };
    },
  );
}

/** `operator create-key --operator ID --name NAME` */
function createKeyCommand(): Command {
  return subcommand<OperatorOptions & { name: string }>(
    "create-key",
    "make one more key, beside the operator's others",
    [idOption("operator"), required("--name <name>", "what the key is for")],
    async (em, { operator, name }) => {
      const fields = { operator, name };
      const { operatorKey } = await callRpc(em, method.createOperatorKey, fields);
      return {
        json: { operator_key: operatorKey },
        lines: [`The new key, shown this once: ${operatorKey}`],
      };
    },
  );
}

/** `operator revoke-key --operator ID --last4 XXXX` */
function revokeKeyCommand(): Command {
  return subcommand<OperatorOptions & { last4: string }>(
    "revoke-key",
    "end one key of an operator now",
    [idOption("operator"), last4Option().makeOptionMandatory()],
    async (em, { operator, last4 }) => {
      const fields = { operator, key: await findKeyId(em, operator, last4) };
      const { data } = await callRpc(em, method.revokeOperatorKey, fields);
      return { json: { operator: asJson(data!) }, lines: [`Revoked ...${last4}.`] };
    },
  );
}

async function findKeyId(em: EntityManager, operator: bigint, last4: string): Promise<string> {
  const { data } = await callRpc(em, method.getOperator, { operator });
  return keyEndingIn(data!.keys, last4, `Operator ${operator}`).id;
}

/** `operator rotate --operator ID [--last4 XXXX] [--overlap SECONDS]` */
function rotateCommand(): Command {
  return subcommand<OperatorOptions & { last4?: string; overlap: number }>(
    "rotate",
    "make a new key; the one that it replaces, or all others, end after the overlap",
    [
      idOption("operator"),
      last4Option(),
      overlapOption("how long what is replaced goes on working"),
    ],
    async (em, { operator, last4, overlap: overlapSeconds }) => {
      const key = last4 === undefined ? undefined : await findKeyId(em, operator, last4);
      const fields = { operator, key, overlapSeconds };
      const { rotateOperatorKey: rotate } = method;
      const { operatorKey } = await callRpc(em, rotate, fields);
      return {
        json: { operator_key: operatorKey },
        lines: [
          `The new key, shown this once: ${operatorKey}`,
          endOfReplaced(last4, overlapSeconds),
        ],
      };
    },
  );
}

function endOfReplaced(last4: string | undefined, overlap: number): string {
  const isOne = last4 !== undefined;
  if (overlap === 0) {
    const which = isOne ? `The key ...${last4}` : "Every other key of the operator";
    const pronoun = isOne ? "it" : "they";
    return `${which} has stopped. With --overlap SECONDS ${pronoun} would go on for a while.`;
  }
  return `${isOne ? `The key ...${last4} stops` : "The other keys of the operator stop"} in ${overlap} seconds.`;
}

/** `operator sign-in --operator ID` */
function signInCommand(): Command {
  return subcommand<OperatorOptions>(
    "sign-in",
    "give an operator that is a person a link to sign in by",
    [idOption("operator")],
    async (em, { operator }) => {
      const { createOperatorSignInLink: create } = method;
      const { data, signInPath } = await callRpc(em, create, {
        operator,
      });
      return {
        json: { operator: asJson(data!), sign_in_path: signInPath },
        lines: [`Operator ${operator}: ${data!.name}, ${data!.email}`, ...signInLines(signInPath)],
      };
    },
  );
}

/** `operator revoke --operator ID` */
function revokeCommand(): Command {
  return subcommand<OperatorOptions>(
    "revoke",
    "end all keys of an operator, for good",
    [idOption("operator")],
    async (em, { operator }) => {
      const { data } = await callRpc(em, method.revokeOperator, { operator });
      return {
        json: { operator: asJson(data!) },
        lines: [`Operator ${operator} can call no more.`],
      };
    },
  );
}

function asJson({ id, name, email, kind, role, revokedAt, keys }: Operator) {
  return {
    id: Number(id),
    name,
    email: email ?? null,
    kind: OperatorKind[kind].toLowerCase(),
    role: OperatorRole[role].toLowerCase(),
    revoked_at: timeText(revokedAt),
    keys: keys.map(({ name: of = null, last4, endsAt }) => ({
      name: of,
      last4,
      ends_at: timeText(endsAt),
    })),
  };
}

function asLine(operator: Operator): string {
  const { id, name, email, role, revoked_at: revokedAt, keys } = asJson(operator);
  const listed = keys.map(({ last4, ends_at: endsAt }) =>
    endsAt === null ? `...${last4}` : `...${last4} until ${endsAt}`,
  );
  const state = revokedAt === null ? listed.join(", ") : `revoked ${revokedAt}`;
  return `${id}  ${name}  ${email ?? "no email"}  ${role}  ${state}`;
}
