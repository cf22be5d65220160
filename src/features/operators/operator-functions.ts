import { sql } from "@mikro-orm/postgresql";
import type { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { invalidField, refuse } from "../../domain/refusal.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { endPage, readPage, toId } from "../../pipeline/page.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { changesBetween, describeActor, recordChange } from "../audit/record-change.ts";
import { assertNotLast, evictKeys, expireKeys, overlapSecondsOf, pickKey } from "../credentials/secret-keys.ts";
import { endSignInsOfOperator } from "../people/end-sign-ins.ts";
import { findOrInsertPerson, insertSignInLink } from "../people/sign-in.ts";
import type { OperatorKey } from "./operator-key.entity.ts";
import { insertOperatorKey, loadWorkingKeys, MAX_OPERATOR_KEYS } from "./operator-keys.ts";
import { Operator } from "./operator.entity.ts";
import {
  assertAnotherOwner,
  assertEmailFree,
  assertSelfOrOwner,
  changeOperator,
  emailMissingError,
  findOperator,
  kindOf,
  loadOperatorMessage,
  lockOperators,
  operatorMessage,
  roleOf,
} from "./operators.ts";

export const OPERATOR_FUNCTIONS: ServiceFunctions<typeof OperatorService, OperatorCall, DatabaseDeps> = {
  async getSelf(_request, { caller: { operatorId } }, { em }) {
    if (operatorId === undefined) throw refuse("OPERATOR_NOT_FOUND", "The caller is not an operator.");
    return { data: await loadOperatorMessage(em.fork(), operatorId) };
  },

  async listOperators(request, _call, { em }) {
    const { includeRevoked = false } = request;
    const page = readPage(request, { list: "operators", includeRevoked }, toId);
    const reading = em.fork();
    const found = await reading.find(
      Operator,
      {
        ...(includeRevoked ? {} : { revokedAt: null }),
        ...(page.after === undefined ? {} : { id: { $gt: page.after } }),
      },
      { orderBy: { id: "asc" }, limit: page.limit },
    );
    const { rows, nextPageToken } = endPage(found, page, ({ id }) => [id]);
    const keys = await loadWorkingKeys(reading, ...rows.map(({ id }) => id));
    const keysOf = Map.groupBy(keys, ({ operator }) => operator);
    const data = rows.map((operator) => operatorMessage(operator, keysOf.get(operator.id) ?? []));
    return { data, nextPageToken };
  },

  async getOperator({ operator }, _call, { em }) {
    const reading = em.fork();
    const { id } = await findOperator(reading, operator);
    return { data: await loadOperatorMessage(reading, id) };
  },

  async createOperator(request, call, { em }) {
    const { name, email } = request;
    const [kind, role] = [kindOf(request.kind)!, roleOf(request.role)!];
    if (kind === "person" && email === undefined) throw emailMissingError();
    if (email !== undefined) await lockOperators(em, () => assertEmailFree(em, email));
    const properties = { name, email: email ?? null, kind, role };
    // The driver returns the new id as text.
    const id = Number(await em.insert(Operator, { ...properties, createdAt: sql`now()` }));
    const key = await insertOperatorKey(em, id);
    const changes = changesBetween({}, { ...properties, key: key.id });
    recordChange(em, call, { subject: `operator/${id}`, changes });
    return { data: await loadOperatorMessage(em, id), operatorKey: key.secret };
  },

  updateOperator: (request, call, { em }) =>
    changeOperator(em, call, request.operator, async (operator) => {
      const { id, name, email = null, role, kind } = operator;
      if (request.email === "" && kind === "person") throw emailMissingError();
      const before = { name, email, role };
      const after = {
        name: request.name ?? name,
        email: request.email === "" ? null : (request.email ?? email),
        role: roleOf(request.role) ?? role,
      };
      const changes = changesBetween(before, after);
      if (changes.length === 0) return {};
      if (after.role !== "owner") await assertAnotherOwner(em, operator);
      if (request.email) await assertEmailFree(em, request.email, id);
      await em.nativeUpdate(Operator, { id }, after);
      await evictKeys(em, "operator_key", id);
      if (kind === "person" && email!.toLowerCase() !== after.email!.toLowerCase()) {
        await endSignInsOfOperator(em, email!);
      }
      return { changes };
    }),

  createOperatorKey: ({ operator: sent, name }, call, { em }) =>
    changeOperator(em, call, sent, async (operator) => {
      assertSelfOrOwner(call.caller, operator, "manage keys of");
      const { id } = operator;
      if ((await loadWorkingKeys(em, id)).length >= MAX_OPERATOR_KEYS) {
        const text = `The operator has ${MAX_OPERATOR_KEYS} active keys, the maximum. Revoke one first.`;
        throw refuse("API_KEY_LIMIT", text, { subject: "api_key" });
      }
      const key = await insertOperatorKey(em, id, name);
      const changes = changesBetween({}, { key: key.id, "key.name": name });
      return { changes, operatorKey: key.secret };
    }),

  revokeOperatorKey: ({ operator: sent, key: keyId }, call, { em }) =>
    changeOperator(em, call, sent, async (operator) => {
      assertSelfOrOwner(call.caller, operator, "manage keys of");
      const { id, kind } = operator;
      const working = await loadWorkingKeys(em, id);
      const key = pickKey(working, keyId);
      if (kind === "machine" && call.caller.operatorId === id) {
        assertNotLast(key, working, "of yours");
      }
      await expireKeys(em, "operator_key", [key], 0);
      return { changes: changesBetween({ key: key.id }, {}) };
    }),

  rotateOperatorKey: (request, call, { em }) =>
    changeOperator(em, call, request.operator, async (operator) => {
      assertSelfOrOwner(call.caller, operator, "manage keys of");
      const { id } = operator;
      const overlapOf = (key: OperatorKey) => overlapSecondsOf(key.id, request.overlapSeconds, call.caller.keyId);
      const working = await loadWorkingKeys(em, id);
      const old = request.key === undefined ? undefined : pickKey(working, request.key);
      const replaced = Map.groupBy(old === undefined ? working : [old], overlapOf);
      for (const [seconds, keys] of replaced) await expireKeys(em, "operator_key", keys, seconds);
      // If the limit is exceeded, the keys that expire first are revoked immediately.
      const remaining = (await loadWorkingKeys(em, id)).toSorted((a, b) => endMs(a) - endMs(b));
      await expireKeys(em, "operator_key", remaining.slice(0, 1 - MAX_OPERATOR_KEYS), 0);
      const key = await insertOperatorKey(em, id, old?.name ?? null);
      const changes = changesBetween(
        { key: old?.id },
        { key: key.id, overlap_seconds: Math.max(0, ...replaced.keys()) },
      );
      return { changes, operatorKey: key.secret };
    }),

  createOperatorSignInLink: ({ operator: sent }, call, { em }) =>
    changeOperator(em, call, sent, async (operator) => {
      assertSelfOrOwner(call.caller, operator, "create sign-in links for");
      if (operator.kind === "machine") {
        throw invalidField("operator", "is a machine and cannot sign in.");
      }
      const person = await findOrInsertPerson(em, operator.email!, operator.name);
      const madeBy = call.caller.operatorId === operator.id ? null : describeActor(call);
      const link = { personId: person.id, workspaceId: null, madeBy };
      return { changes: [], signInPath: await insertSignInLink(em, link) };
    }),

  revokeOperator: ({ operator: sent }, call, { em }) =>
    changeOperator(em, call, sent, async (operator) => {
      await assertAnotherOwner(em, operator);
      const { id, kind, email } = operator;
      await em.nativeUpdate(Operator, { id }, { revokedAt: sql`now()` });
      await expireKeys(em, "operator_key", await loadWorkingKeys(em, id), 0);
      if (kind === "person") await endSignInsOfOperator(em, email!);
      await em.refresh(operator);
      return { changes: changesBetween({}, { revoked_at: operator.revokedAt }) };
    }),
};

/** Returns the expiry of a key in milliseconds since the epoch, or the largest safe integer if it has none. */
function endMs({ endsAt }: OperatorKey): number {
  return endsAt?.getTime() ?? Number.MAX_SAFE_INTEGER;
}
