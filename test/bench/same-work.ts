import assert from "node:assert/strict";
import { fromJson, toJson } from "@bufbuild/protobuf";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Contestant } from "./contest.ts";
import { newRows, restore } from "./database.ts";
import { fillIn } from "./numbering.ts";
import type { Operation } from "./operations.ts";

/** How often each operation is called before it is measured. */
export const PROOF_CALLS = 2;

/** What is never the same twice in what was written just now. */
const OWN = /^(reference|subject|transaction|(created|updated|cancelled|paid)(_at|At))$/;

/**
 * Proves that the peers do the same work as the first contestant: they answer the same requests
 * alike, but for new references and times, and leave the same rows.
 */
export async function proveSameWork(
  contestants: readonly Contestant[],
  operations: readonly Operation[],
): Promise<void> {
  const peers = contestants.filter(({ isPeer }) => isPeer);
  if (peers.length === 0) return;
  for (const operation of operations) {
    const work = await workOf(contestants[0]!, operation);
    for (const peer of peers) {
      assert.deepEqual(await workOf(peer, operation), work, `${peer.name}, ${operation.name}`);
    }
  }
}

async function workOf(contestant: Contestant, operation: Operation): Promise<object> {
  const { database } = contestant;
  if (operation.from !== undefined) await restore(database, operation.from);
  const answers: object[] = [];
  for (let call = 0; call < PROOF_CALLS; call++) {
    const fill = <T>(value: T) =>
      JSON.parse(fillIn(JSON.stringify(value), call, database.shipments)) as T;
    const answer = operation.grpc === undefined ? callByJson : callByGrpc;
    answers.push(await answer(contestant, operation, fill));
  }
  // How a page is continued is each one's own affair.
  if (operation.from === undefined) return without(answers, /^next_?[pP]age_?[tT]oken$/);
  const rows = await newRows(database.url);
  await restore(database, operation.from);
  return without({ answers, rows }, OWN);
}

type Fill = <T>(value: T) => T;

async function callByJson(
  { processes, database }: Contestant,
  { json, name }: Operation,
  fill: Fill,
): Promise<object> {
  const { method, path, body } = fill(json!);
  const response = await fetch(`http://127.0.0.1:${processes[0]!.ports.http}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${database.apiKey}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${name}: ${text}`);
  return { status: response.status, body: JSON.parse(text) as object };
}

async function callByGrpc(
  { processes, database }: Contestant,
  { grpc }: Operation,
  fill: Fill,
): Promise<object> {
  const { method } = grpc!;
  const baseUrl = `http://127.0.0.1:${processes[0]!.ports.grpc}`;
  const headers = { authorization: `Bearer ${database.apiKey}` };
  const request = fromJson(method.input, fill(grpc!.request));
  const transport = createGrpcTransport({ baseUrl });
  const { message } = await transport.unary(method, undefined, undefined, headers, request);
  return toJson(method.output, message) as object;
}

/** A value without the fields whose names match, however deep. */
function without(value: object, names: RegExp): object {
  const keep = (name: string, field: unknown) => (names.test(name) ? undefined : field);
  return JSON.parse(JSON.stringify(value, keep)) as object;
}
