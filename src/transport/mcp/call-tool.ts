import type { CallOutcome } from "./call-rpc.ts";
import { pageNotes, pageOf, type Paging } from "./result-pages.ts";
import { bytesOf, type JsonObject, MAX_RESULT_BYTES } from "./tool-result.ts";
import type { Tool } from "./tools.ts";

/** A response with notes for the agent. */
export type NotedResponse = readonly [response: JsonObject, notes: readonly string[]];

type MakeCall = (args: JsonObject) => Promise<CallOutcome>;

export type ReadShipment = (reference: string) => Promise<CallOutcome>;

type ListTool = Pick<Tool, "size"> & { readonly paging: Paging };

/**
 * Calls the RPC of a tool. Returns the part of the response that fits in a result, with notes on the omitted items and
 * how to continue.
 *
 * @throws Refusal of the RPC, and FIELD_INVALID for a wrong `page_token`
 */
export async function callTool(
  tool: Tool,
  args: JsonObject,
  makeCall: MakeCall,
  readShipment: ReadShipment,
): Promise<NotedResponse> {
  const { paging } = tool;
  if (paging !== undefined) return callListTool({ ...tool, paging }, args, makeCall);
  const { json, replayed } = accepted(await makeCall(args));
  return [json, replayed ? await replayNotes(json, readShipment) : []];
}

/** Calls a tool that returns lists, and returns one page. */
export async function callListTool(
  { size, paging }: ListTool,
  args: JsonObject,
  makeCall: MakeCall,
): Promise<NotedResponse> {
  const [field, count] = size!;
  const request = { ...args, [field]: args[field] ?? count };
  if ("lists" in paging) return callUnpagedRpc(field, paging.lists, request, makeCall);
  const requested = Number(request[field]);
  for (let shown = requested; ;) {
    const { json } = accepted(await makeCall({ ...request, [field]: shown }));
    const notes = pageNotes(paging.argument, paging.next(json), { shown, requested });
    const share = MAX_RESULT_BYTES / bytesOf(json, notes);
    if (share >= 1 || shown === 1) return [json, notes];
    shown = Math.max(1, Math.floor(shown * share * 0.9));
  }
}

/** Calls an RPC without pages and divides its lists into pages. */
async function callUnpagedRpc(
  field: string,
  lists: readonly string[],
  { page_token: token, ...args }: JsonObject,
  makeCall: MakeCall,
): Promise<NotedResponse> {
  const { json } = accepted(await makeCall(args));
  const page = pageOf(json, lists, token);
  const { next_page_token: next } = page;
  const requested = itemCount(json, lists);
  if (next !== "") {
    const shown = itemCount(page, lists);
    return [page, pageNotes("page_token", String(next), { shown, requested })];
  }
  const limit = args[field];
  const isLimited = field === "limit" && lists.some((name) => itemsOf(json, name).length === limit);
  if (!isLimited) return [page, []];
  return [page, [`The search reached its limit of ${String(limit)}. Narrow the search, or set a larger limit.`]];
}

function itemCount(json: JsonObject, lists: readonly string[]): number {
  return lists.reduce((count, name) => count + itemsOf(json, name).length, 0);
}

function itemsOf(json: JsonObject, name: string): readonly unknown[] {
  return json[name] as readonly unknown[];
}

/**
 * Returns an outcome that is not a refusal.
 *
 * @throws Refusal of the call
 */
function accepted(outcome: CallOutcome): Exclude<CallOutcome, { readonly refusal: unknown }> {
  if ("refusal" in outcome) throw outcome.refusal;
  return outcome;
}

const REPLAYED =
  "This call was already made and was not repeated. This is its stored response. To repeat the call, set a different idempotency_key.";

/** Returns notes about a replayed response: that it is a replay, and how its shipment has changed since then. */
async function replayNotes({ data }: JsonObject, readShipment: ReadShipment) {
  const stored = data as { readonly reference: string; readonly etag: string };
  const outcome = await readShipment(stored.reference);
  if ("refusal" in outcome) return [REPLAYED, "get_shipment returns its current state."];
  const current = outcome.json["data"] as { readonly etag: string; readonly status: string };
  if (current.etag === stored.etag) return [REPLAYED];
  return [
    REPLAYED,
    `The shipment has changed since then. Its status is now ${current.status}. get_shipment returns it.`,
  ];
}
