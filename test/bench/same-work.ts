import assert from "node:assert/strict";
import { fromJson, toJson } from "@bufbuild/protobuf";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Database, newRows, restore } from "./database.ts";
import { fillIn } from "./numbering.ts";
import { isGrpc, type GrpcCall, type JsonCall, type Operation } from "./operations.ts";
import type { ServerProcess } from "./processes.ts";
import type { Side } from "./sides.ts";

/** A side whose server is running. */
export interface RunningSide extends Side {
  readonly database: Database;
  readonly processes: readonly ServerProcess[];
}

/** Number of calls that the check makes for each operation. */
export const CHECK_CALLS = 2;

/** Fields of new rows that always differ. Customer ids can have gaps, and each side has its own API keys. */
const OWN = /^(id|customer_id|last4|reference|subject|transaction|(created|updated|cancelled|paid)(_at|At))$/;
/** Name of a page token field. Tokens may differ. */
const PAGE_TOKEN = /^next_?page_?token$/i;

/**
 * Checks that peers do the same work as the first side: equal rows, and equal responses to equal
 * requests except for new references and times.
 */
export async function checkSameWork(
  [first, ...others]: readonly RunningSide[],
  operations: readonly Operation[],
): Promise<void> {
  const peers = others.filter(({ isPeer }) => isPeer);
  for (const operation of peers.length === 0 ? [] : operations) {
    const work = await workOf(first!, operation);
    for (const peer of peers) {
      assert.deepEqual(await workOf(peer, operation), work, `${peer.name}, ${operation.name}`);
    }
  }
}

async function workOf(side: RunningSide, { call, from }: Operation): Promise<object> {
  const { database } = side;
  if (from !== undefined) await restore(database, from);
  const answers: object[] = [];
  for (let number = 0; number < CHECK_CALLS; number++) {
    const fill = <T>(value: T) => JSON.parse(fillIn(JSON.stringify(value), number, database.shipments)) as T;
    if (isGrpc(call)) answers.push(await callByGrpc(side, [call[0], fill(call[1])]));
    else answers.push(await callByJson(side, fill(call)));
  }
  if (from === undefined) return without(answers, PAGE_TOKEN);
  const rows = await newRows(database.url);
  assert.ok(rows.events.length >= CHECK_CALLS, `${side.name} wrote no events`);
  await restore(database, from);
  return without({ answers, rows }, OWN);
}

async function callByJson({ processes, database }: RunningSide, [method, path, body]: JsonCall): Promise<object> {
  const response = await fetch(`http://127.0.0.1:${processes[0]!.ports.http}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${database.accounts[0]!.apiKey}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${text}`);
  return { status: response.status, body: JSON.parse(text) as object };
}

async function callByGrpc({ processes, database }: RunningSide, [method, request]: GrpcCall): Promise<object> {
  const baseUrl = `http://127.0.0.1:${processes[0]!.ports.grpc}`;
  const headers = { authorization: `Bearer ${database.accounts[0]!.apiKey}` };
  const input = fromJson(method.input, request);
  const transport = createGrpcTransport({ baseUrl });
  const { message } = await transport.unary(method, undefined, undefined, headers, input);
  return toJson(method.output, message) as object;
}

/** Returns a value without the fields whose names match, at any depth. */
function without(value: object, names: RegExp): object {
  const keep = (name: string, field: unknown) => (names.test(name) ? undefined : field);
  return JSON.parse(JSON.stringify(value, keep)) as object;
}
