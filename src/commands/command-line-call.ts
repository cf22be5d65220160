import { userInfo } from "node:os";
import type { DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { EntityManager } from "../db/orm.ts";
import type { OperatorCall } from "../pipeline/call.ts";
import { localCall } from "../pipeline/local-call.ts";
import { callLocally } from "../server/local-rpcs.ts";

/**
 * Calls an RPC of operators in the name of the account that runs the command.
 *
 * @throws Refusal FIELD_INVALID, and whatever the RPC throws
 */
export function callRpc<M extends DescMethodUnary>(
  em: EntityManager,
  method: M,
  fields: MessageInitShape<M["input"]>,
): Promise<MessageShape<M["output"]>> {
  return callLocally(em, { actor: "command_line", name: accountName() }, method, fields);
}

/** A call of an operator's RPC by this command, in the name of the account that runs it. */
export function commandLineCall(method: DescMethodUnary): OperatorCall {
  return localCall(method, "command_line", accountName());
}

/** The name of the account, or its number when the machine knows no name for it. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

/** Loads every page of a list. */
export async function listAll<T>(
  load: (pageToken: string) => Promise<{ readonly data: T[]; readonly nextPageToken: string }>,
): Promise<T[]> {
  const all: T[] = [];
  let pageToken = "";
  do {
    const page = await load(pageToken);
    all.push(...page.data);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return all;
}
