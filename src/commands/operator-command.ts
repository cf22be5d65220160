import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { Command, Option } from "commander";
import {
  OperatorKind,
  OperatorRole,
  type Operator,
} from "../../gen/shipments/admin/v1/operator_pb.js";
import {
  CreateOperatorKeyRequestSchema,
  CreateOperatorRequestSchema,
  CreateOperatorSignInLinkRequestSchema,
  GetOperatorRequestSchema,
  ListOperatorsRequestSchema,
  OperatorService,
  RevokeOperatorKeyRequestSchema,
  RevokeOperatorRequestSchema,
  RotateOperatorKeyRequestSchema,
} from "../../gen/shipments/admin/v1/operator_service_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { MAX_PAGE_SIZE } from "../domain/limits.ts";
import { OPERATOR_ROLES } from "../domain/roles.ts";
import { createOperatorKey } from "../features/operators/create-operator-key.ts";
import { createOperatorSignInLink } from "../features/operators/create-operator-sign-in-link.ts";
import { createOperator } from "../features/operators/create-operator.ts";
import { getOperator } from "../features/operators/get-operator.ts";
import { listOperators } from "../features/operators/list-operators.ts";
import { revokeOperatorKey } from "../features/operators/revoke-operator-key.ts";
import { revokeOperator } from "../features/operators/revoke-operator.ts";
import { rotateOperatorKey } from "../features/operators/rotate-operator-key.ts";
import { commandLineCall } from "./command-line-call.ts";
import { jsonOption, keyEndingIn, last4Option, readWholeNumber } from "./options.ts";
import { readRequest } from "./read-request.ts";
import { runCommand } from "./run-command.ts";
import { signInLines } from "./sign-in-lines.ts";

const { method } = OperatorService;

/** How long old keys can go on working after a rotation, in seconds: 7 days. */
const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;

/** `operator create`, `list`, `create-key`, `rotate`, `revoke-key`, `sign-in` and `revoke`. */
export function operatorCommand(): Command {
  return new Command("operator")
    .description("those who run the platform")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(createKeyCommand())
    .addCommand(rotateCommand())
    .addCommand(revokeKeyCommand())
    .addCommand(signInCommand())
    .addCommand(revokeCommand());
}

interface CreateOptions {
  readonly name: string;
  readonly kind: string;
  readonly email?: string;
  readonly role: string;
  readonly json: boolean;
}

/** `operator create --name NAME --kind person|machine [--email EMAIL] --role ROLE` */
function createCommand(): Command {
  return new Command("create")
    .description("add an operator and its first key")
    .requiredOption("--name <name>", "who it is")
    .addOption(choice("--kind <kind>", "what it is", ["person", "machine"]))
    .option("--email <email>", "its email, which a person needs")
    .addOption(choice("--role <role>", "what it may do", OPERATOR_ROLES))
    .addOption(jsonOption())
    .action(({ name, kind, email, role, json }: CreateOptions) =>
      runCommand(json, async (em) => {
        const request = readRequest(CreateOperatorRequestSchema, {
          name,
          kind: valueNamed(OperatorKind, kind),
          email,
          role: valueNamed(OperatorRole, role),
        });
        const { data, operatorKey } = await createOperator(
          request,
          commandLineCall(method.createOperator),
          em,
        );
        return {
          json: { operator: asJson(data!), operator_key: operatorKey },
          lines: [
            `Operator ${data!.id}: ${data!.name}, ${role}`,
            `Its key, shown this once: ${operatorKey}`,
          ],
        };
      }),
    );
}

/** `operator list [--all]` */
function listCommand(): Command {
  return new Command("list")
    .description("list the operators and their working keys")
    .option("--all", "those that were revoked too", false)
    .addOption(jsonOption())
    .action(({ all, json }: { all: boolean; json: boolean }) =>
      runCommand(json, async (em) => {
        const operators = await listAll(em, all);
        const lines = operators.length === 0 ? ["No operators yet."] : operators.map(asLine);
        return { json: { operators: operators.map(asJson) }, lines };
      }),
    );
}

/** `operator create-key --operator ID --name NAME` */
function createKeyCommand(): Command {
  return new Command("create-key")
    .description("make one more key, beside the operator's others")
    .addOption(operatorOption())
    .requiredOption("--name <name>", "what the key is for")
    .addOption(jsonOption())
    .action(({ operator, name, json }: { operator: number; name: string; json: boolean }) =>
      runCommand(json, async (em) => {
        const fields = { operator: BigInt(operator), name };
        const request = readRequest(CreateOperatorKeyRequestSchema, fields);
        const call = commandLineCall(method.createOperatorKey);
        const { operatorKey } = await createOperatorKey(request, call, em);
        return {
          json: { operator_key: operatorKey },
          lines: [`The new key, shown this once: ${operatorKey}`],
        };
      }),
    );
}

/** `operator revoke-key --operator ID --last4 XXXX` */
function revokeKeyCommand(): Command {
  return new Command("revoke-key")
    .description("end one key of an operator now")
    .addOption(operatorOption())
    .addOption(last4Option().makeOptionMandatory())
    .addOption(jsonOption())
    .action(({ operator, last4, json }: { operator: number; last4: string; json: boolean }) =>
      runCommand(json, async (em) => {
        const fields = { operator: BigInt(operator), key: await keyIdOf(em, operator, last4) };
        const request = readRequest(RevokeOperatorKeyRequestSchema, fields);
        const call = commandLineCall(method.revokeOperatorKey);
        const { data } = await revokeOperatorKey(request, call, em);
        return { json: { operator: asJson(data!) }, lines: [`Revoked ...${last4}.`] };
      }),
    );
}

/** The id of the key of an operator that ends in four characters. */
async function keyIdOf(em: EntityManager, operator: number, last4: string): Promise<string> {
  const request = readRequest(GetOperatorRequestSchema, { operator: BigInt(operator) });
  const { data } = await getOperator(request, em);
  return keyEndingIn(data!.keys, last4, `Operator ${operator}`).id;
}

/** `operator rotate --operator ID [--last4 XXXX] [--overlap SECONDS]` */
function rotateCommand(): Command {
  return new Command("rotate")
    .description("make a new key; the one that it replaces, or all others, end after the overlap")
    .addOption(operatorOption())
    .addOption(last4Option())
    .addOption(
      new Option("--overlap <seconds>", "how long what is replaced goes on working")
        .argParser((text) => readWholeNumber(text, 0, MAX_OVERLAP_SECONDS))
        .default(0),
    )
    .addOption(jsonOption())
    .action(({ operator, last4, overlap, json }: RotateOptions) =>
      runCommand(json, async (em) => {
        const key = last4 === undefined ? undefined : await keyIdOf(em, operator, last4);
        const request = readRequest(RotateOperatorKeyRequestSchema, {
          operator: BigInt(operator),
          key,
          overlapSeconds: overlap,
        });
        const call = commandLineCall(method.rotateOperatorKey);
        const { operatorKey } = await rotateOperatorKey(request, call, em);
        return {
          json: { operator_key: operatorKey },
          lines: [`The new key, shown this once: ${operatorKey}`, endOfReplaced(last4, overlap)],
        };
      }),
    );
}

interface RotateOptions {
  readonly operator: number;
  readonly last4?: string;
  readonly overlap: number;
  readonly json: boolean;
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
  return new Command("sign-in")
    .description("give an operator that is a person a link to sign in by")
    .addOption(operatorOption())
    .addOption(jsonOption())
    .action(({ operator, json }: { operator: number; json: boolean }) =>
      runCommand(json, async (em) => {
        const fields = { operator: BigInt(operator) };
        const request = readRequest(CreateOperatorSignInLinkRequestSchema, fields);
        const call = commandLineCall(method.createOperatorSignInLink);
        const { data, signInPath } = await createOperatorSignInLink(request, call, em);
        return {
          json: { operator: asJson(data!), sign_in_path: signInPath },
          lines: [
            `Operator ${operator}: ${data!.name}, ${data!.email}`,
            ...signInLines(signInPath),
          ],
        };
      }),
    );
}

/** `operator revoke --operator ID` */
function revokeCommand(): Command {
  return new Command("revoke")
    .description("end all keys of an operator, for good")
    .addOption(operatorOption())
    .addOption(jsonOption())
    .action(({ operator, json }: { operator: number; json: boolean }) =>
      runCommand(json, async (em) => {
        const request = readRequest(RevokeOperatorRequestSchema, { operator: BigInt(operator) });
        const { data } = await revokeOperator(request, commandLineCall(method.revokeOperator), em);
        return {
          json: { operator: asJson(data!) },
          lines: [`Operator ${operator} can call no more.`],
        };
      }),
    );
}

function choice(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices).makeOptionMandatory();
}

function operatorOption(): Option {
  return new Option("--operator <id>", "the operator's id")
    .argParser((text) => readWholeNumber(text, 1, Number.MAX_SAFE_INTEGER))
    .makeOptionMandatory();
}

async function listAll(em: EntityManager, includeRevoked: boolean): Promise<Operator[]> {
  const operators: Operator[] = [];
  let pageToken: string | undefined;
  do {
    const page = { includeRevoked, pageSize: MAX_PAGE_SIZE, pageToken };
    const listed = await listOperators(readRequest(ListOperatorsRequestSchema, page), em);
    operators.push(...listed.data);
    pageToken = listed.nextPageToken;
  } while (pageToken !== "");
  return operators;
}

/** The value of an enum by the name that the JSON dialect gives it. */
function valueNamed<V>(values: Readonly<Record<string, string | V>>, name: string): V {
  return values[name.toUpperCase()] as V;
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

function timeText(time: Timestamp | undefined): string | null {
  return time === undefined ? null : timestampDate(time).toISOString();
}

function asLine(operator: Operator): string {
  const { id, name, email, role, revoked_at: revokedAt, keys } = asJson(operator);
  const listed = keys.map(({ last4, ends_at: endsAt }) =>
    endsAt === null ? `...${last4}` : `...${last4} until ${endsAt}`,
  );
  const state = revokedAt === null ? listed.join(", ") : `revoked ${revokedAt}`;
  return `${id}  ${name}  ${email ?? "no email"}  ${role}  ${state}`;
}
