import { userInfo } from "node:os";
import {
  getOption,
  ScalarType,
  type DescField,
  type DescMethodUnary,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { InvalidArgumentError, Option, type Command } from "commander";
import { field as fieldRules } from "../../gen/buf/validate/validate_pb.js";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { readConfig } from "../config/config.ts";
import type { EntityManager } from "../db/orm.ts";
import { MAX_PAGE_SIZE } from "../domain/limits.ts";
import { Refusal } from "../domain/refusal.ts";
import { compileDecodeJson } from "../json/decode-json.ts";
import { enumNames } from "../json/decode-scalar.ts";
import { compileEncodeJson } from "../json/encode-json.ts";
import type { OperatorCall } from "../pipeline/call.ts";
import { localCall } from "../pipeline/local-call.ts";
import { compileValidateRequest } from "../pipeline/request/validate-request.ts";
import { callLocally } from "../server/local-rpcs.ts";
import { CommandRefused, databaseCommand, type CommandResult } from "./command.ts";

type Snake<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : S;

/** A message in the JSON dialect of `/v1`. */
type Json<T> = T extends Timestamp
  ? string
  : T extends bigint
    ? number
    : T extends number
      ? `${number}` extends `${T}`
        ? number
        : string
      : T extends readonly (infer Item)[]
        ? Json<Item>[]
        : T extends Message
          ? {
              [K in Exclude<keyof T, keyof Message> & string as Snake<K>]:
                | Json<Exclude<T[K], undefined>>
                | (undefined extends T[K] ? null : never);
            }
          : T;

export type ResponseJson<M extends DescMethodUnary> = Json<MessageShape<M["output"]>>;

/** Options, or request fields in the JSON dialect. */
export type OptionValues = Readonly<Record<string, string | number | true | undefined>>;
type Spec = readonly [flags: string, description: string];
type Options<M extends DescMethodUnary> = Readonly<
  Partial<Record<keyof Json<MessageShape<M["input"]>> | "test" | "last4", Spec | Option>>
>;

export const WORKSPACE: Spec = ["--workspace <id>", "the workspace's id"];
export const OPERATOR: Spec = ["--operator <id>", "the operator's id"];
export const TEST: Spec = ["--test", "use the test twin, whose keys begin with shp_test_"];
/** Returns the option that identifies a key by its last characters instead of its id. */
export function last4Option(): Option {
  return new Option("--last4 <characters>", "the key's last four characters").argParser((text) => {
    if (/^[0-9A-Za-z]{4}$/.test(text)) return text;
    throw new InvalidArgumentError("It must be four letters or digits.");
  });
}

/**
 * Creates a command for an operator RPC. Options are request fields, lists are printed completely, and
 * the output is created from the response.
 *
 * @param options options by request field, in the order of the help text
 */
export function rpcCommand<M extends DescMethodUnary>(
  name: string,
  description: string,
  method: M,
  options: Options<M>,
  result: (
    response: ResponseJson<M>,
    values: OptionValues,
    em: EntityManager,
  ) => CommandResult | Promise<CommandResult>,
): Command {
  const named = Object.entries<Spec | Option | undefined>(options).map(([field, spec]) => {
    const known = method.input.fields.find((it) => it.name === field);
    if (spec instanceof Option) return [field, spec] as const;
    return [field, known ? fieldOption(known, ...spec!) : new Option(...spec!)] as const;
  });
  const all = named.map(([, option]) => option);
  return databaseCommand<OptionValues>(name, description, all, async ({ em }, values) => {
    const fields = Object.fromEntries(named.map(([field, option]) => [field, values[option.attributeName()]]));
    const call = "page_size" in options ? callRpc : callForAll;
    return result(await call(em, method, await withIds(em, fields)), fields, em);
  });
}

/**
 * Creates an option for a request field. The field's rules determine the allowed values and whether the
 * option is required.
 */
export function fieldOption(field: DescField, flags: string, description: string): Option {
  const option = new Option(flags, description);
  const { required: isRequired, type } = getOption(field, fieldRules);
  const names =
    field.enum !== undefined ? [...enumNames(field.enum).values()] : type.case === "string" ? type.value.in : [];
  if (isRequired) option.makeOptionMandatory();
  if (names.length > 0) return option.choices(names);
  if (field.scalar === ScalarType.BOOL) return option;
  const isText = field.scalar === ScalarType.STRING;
  // Integer fields without a validation rule are ids and versions, which start at 1.
  const digits = type.case === undefined ? /^[1-9]\d{0,15}$/ : /^\d{1,16}$/;
  return option.argParser((text) => {
    if (!isText && !digits.test(text)) throw new InvalidArgumentError("It must be a whole number.");
    const value = isText ? text : Number(text);
    const { request, violations } = compileDecodeJson(field.parent)({ [field.name]: value });
    try {
      compileValidateRequest(field.parent)(request, { violations });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const violation = error.violations.find(({ subject }) => subject === field.name);
      if (violation !== undefined) throw new InvalidArgumentError(violation.text);
    }
    return value;
  });
}

/** Returns a request in which `test` and `last4` are replaced by ids. */
export async function withIds(em: EntityManager, { test, last4, ...request }: OptionValues): Promise<OptionValues> {
  const named = test === true ? { ...request, workspace: await twinOf(em, request) } : request;
  return last4 === undefined ? named : { ...named, key: await keyEndingIn(em, named, last4) };
}

async function twinOf(em: EntityManager, { workspace }: OptionValues): Promise<number> {
  const { data } = await callRpc(em, WorkspaceAdminService.method.getWorkspace, { workspace });
  if (data?.test_workspace) return data.test_workspace;
  throw new CommandRefused(`Workspace ${workspace} has no test twin.`);
}

async function keyEndingIn(
  em: EntityManager,
  { workspace, operator }: OptionValues,
  last4: OptionValues[string],
): Promise<string> {
  const keys =
    operator === undefined
      ? (await callRpc(em, WorkspaceAdminService.method.listWorkspaceApiKeys, { workspace })).data
      : (await callRpc(em, OperatorService.method.getOperator, { operator })).data!.keys;
  const owner = operator === undefined ? `Workspace ${workspace}` : `Operator ${operator}`;
  const [key, another] = keys.filter((it) => it.last4 === last4);
  if (key === undefined) throw new CommandRefused(`${owner} has no active key that ends in ${last4}.`);
  if (another === undefined) return key.id;
  throw new CommandRefused(`${owner} has several active keys that end in ${last4}; use its RPC.`);
}

/** Calls an operator RPC on behalf of the system account that runs the command. */
export async function callRpc<M extends DescMethodUnary>(
  em: EntityManager,
  method: M,
  fields: object,
): Promise<ResponseJson<M>> {
  const { request } = compileDecodeJson(method.input)(fields);
  const actor = { actor: "command_line", name: accountName() } as const;
  const response = await callLocally(em, actor, method, request as MessageInitShape<M["input"]>);
  return compileEncodeJson(method.output)(response) as ResponseJson<M>;
}

/** Calls an RPC. For a list, combines the data of all pages. */
async function callForAll<M extends DescMethodUnary>(
  em: EntityManager,
  method: M,
  fields: OptionValues,
): Promise<ResponseJson<M>> {
  if (!method.input.fields.some(({ name }) => name === "page_token")) return callRpc(em, method, fields);
  const data: unknown[] = [];
  for (let token: string | undefined; token !== "";) {
    const page: unknown = await callRpc(em, method, {
      ...fields,
      page_size: MAX_PAGE_SIZE,
      page_token: token,
    });
    const { data: some, next_page_token: next } = page as { data: []; next_page_token: string };
    data.push(...some);
    token = next;
  }
  return { data, next_page_token: "" } as unknown as ResponseJson<M>;
}

/** Creates a call of an operator RPC by this command. Its name is the system account that runs the command. */
export function commandLineCall(method: DescMethodUnary): OperatorCall {
  return localCall(method, "command_line", accountName());
}

/** Returns the name of the system account, or its number if it has no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

export function pick<T extends object, K extends keyof T>(from: T, ...names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, K>;
}

/** Returns a line about the expiry of one replaced key, or of all other keys. */
export function replacedLine(overlap: OptionValues[string], owner: string, last4?: OptionValues[string]): string {
  const [all, others, one] = [
    `Every other key of the ${owner}`,
    `All other keys of the ${owner}`,
    `The key ...${last4}`,
  ];
  if (overlap) return `${last4 ? `${one} expires` : `${others} expire`} in ${overlap} seconds.`;
  return `${last4 ? one : all} has expired. With --overlap SECONDS, ${last4 ? "it" : "they"} would have remained valid for that time.`;
}

/** Returns the instructions for a sign-in link. The link starts with `PUBLIC_URL` or the local address. */
export function signInLines(path: string): string[] {
  const { publicUrl, port } = readConfig(process.env);
  return [
    "Sign-in link, shown only once. It can be used once and expires after 15 minutes:",
    `${publicUrl ?? `http://127.0.0.1:${port}`}${path}`,
  ];
}
