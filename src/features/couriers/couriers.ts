import { LockMode } from "@mikro-orm/core";
import {
  type CourierFigures,
  type CourierProfile as CourierMessage,
  CourierProfileSchema,
  type CourierService,
} from "../../../gen/shipments/v1/courier_service_pb.js";
import { isUniqueViolation } from "../../db/database-error.ts";
import { lockAndLoad } from "../../db/lock-and-load.ts";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { readInOrder, type Transaction } from "../../db/transaction.ts";
import { isInstant } from "../../domain/instant.ts";
import { createId } from "../../domain/secret-key.ts";
import { MAX_COURIERS } from "../../domain/limits.ts";
import { assertEtag, refuse } from "../../domain/refusal.ts";
import type { Courier } from "../../domain/shipment/delivery-progress.ts";
import { compileToMessage, type RecordOf } from "../../json/records.ts";
import type { Call } from "../../pipeline/call.ts";
import { endPage, readPage } from "../../pipeline/page.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { CourierProfile } from "./courier.entity.ts";

interface CourierDeps extends DatabaseDeps {
  readonly now: () => Date;
  /** Loads the progress of deliveries, by courier id. */
  readonly loadCourierFigures: (
    em: EntityManager,
    call: Call,
    now: () => Date,
    couriers: readonly string[],
  ) => Promise<ReadonlyMap<string, RecordOf<CourierFigures>>>;
}

type CourierFunctions = Omit<
  ServiceFunctions<typeof CourierService, Call, CourierDeps>,
  "createCourierLink" | "listCourierLinks" | "revokeCourierLink" | "getRun"
>;

/** Fields that callers set. */
const FIELDS = ["name", "phone", "email", "vehicle", "externalId", "locale", "note"] as const;

export const COURIER_FUNCTIONS: CourierFunctions = {
  async createCourier(request, call, { em, now }) {
    const { workspaceId: workspace } = call.caller;
    const active = { workspace, archivedAt: null };
    const count = await lockAndLoad(em, "couriers", workspace, () => em.count(CourierProfile, active));
    if (count >= MAX_COURIERS) throw refuse("COURIER_LIMIT");
    const at = now();
    const given = Object.fromEntries(FIELDS.map((field) => [field, request[field] || null]));
    const id = createId("cou");
    const courier = em.create(CourierProfile, {
      ...given,
      name: request.name,
      id,
      ...active,
      createdAt: at,
      updatedAt: at,
    });
    return writeCourier(em, call, courier, {});
  },

  async listCouriers(request, call, { em, now, loadCourierFigures }) {
    const { workspaceId: workspace } = call.caller;
    const { externalId, includeArchived } = request;
    const where = { workspace, ...(externalId && { externalId }), ...(!includeArchived && { archivedAt: null }) };
    const { after, ...page } = readPage(request, where, toPosition);
    const older = after && { $or: [{ createdAt: { $lt: after.at } }, { createdAt: after.at, id: { $lt: after.id } }] };
    const options = { orderBy: { createdAt: "desc", id: "desc" }, limit: page.limit } as const;
    const found = await readInOrder(em, (tx) => tx.find(CourierProfile, { ...where, ...older }, options));
    const { rows, nextPageToken } = endPage(found, { after, ...page }, ({ createdAt, id }) => [
      createdAt.getTime(),
      id,
    ]);
    const ids = rows.map(({ id }) => id);
    const figures = request.figures ? await loadCourierFigures(em.fork(), call, now, ids) : undefined;
    return { data: rows.map((row) => courierMessage(row, figures?.get(row.id))), nextPageToken };
  },

  async getCourier({ courier: id }, call, { em, now, loadCourierFigures }) {
    const courier = await loadCourier(em.fork(), call, id);
    const figures = await loadCourierFigures(em.fork(), call, now, [id]);
    return { data: courierMessage(courier, figures.get(id)) };
  },

  async updateCourier(request, call, { em, now }) {
    const courier = await loadCourier(em, call, request.courier, "lock");
    assertEtag("courier", request.etag, String(courier.version));
    const before = { ...courier };
    for (const field of FIELDS) {
      const given = request[field];
      if (given !== undefined) Object.assign(courier, { [field]: given || null });
    }
    if (changesBetween(before, courier).length > 0) courier.updatedAt = now();
    return writeCourier(em, call, courier, before);
  },

  async archiveCourier({ courier: id }, call, { em, now }) {
    const courier = await loadCourier(em, call, id, "lock");
    const before = { ...courier };
    courier.archivedAt = courier.updatedAt = now();
    const revoke = "update courier_link set ends_at = now() where workspace_id = $1 and courier_id = $2";
    await runStatement(em, revoke, [courier.workspace, id]);
    return writeCourier(em, call, courier, before);
  },
};

/**
 * Loads a courier of the caller's workspace. With `lock`, locks the row and finds only a courier who is not archived.
 *
 * @throws Refusal COURIER_NOT_FOUND, also for a courier of another workspace
 */
export async function loadCourier(
  em: EntityManager,
  { caller }: Call,
  id: string,
  lock?: "lock",
): Promise<CourierProfile> {
  const of = { workspace: caller.workspaceId, id };
  const courier =
    lock === undefined
      ? await em.findOne(CourierProfile, of)
      : await em.findOne(CourierProfile, { ...of, archivedAt: null }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (courier === null) throw refuse("COURIER_NOT_FOUND");
  return courier;
}

/**
 * Writes a courier and records the change.
 *
 * @throws Refusal COURIER_TAKEN
 */
async function writeCourier(tx: EntityManager, call: Call, courier: CourierProfile, before: Partial<CourierProfile>) {
  await tx.flush().catch((error: unknown) => {
    throw isUniqueViolation(error) ? refuse("COURIER_TAKEN") : error;
  });
  const { id, workspace: workspaceId } = courier;
  const changes = changesBetween(audited(before), audited(courier));
  if (courier.version !== before.version) recordChange(tx, call, { subject: `courier/${id}`, workspaceId, changes });
  return { data: courierMessage(courier) };
}

/** Returns the audited fields. The audit log is kept forever, so it contains no phone number, email or note. */
function audited({ name, vehicle, externalId: external_id, locale, archivedAt: archived_at }: Partial<CourierProfile>) {
  return { name, vehicle, external_id, locale, archived_at };
}

const FIND = `
  select id as "courierId", name, phone, vehicle, external_id as "externalId" from courier
  where workspace_id = $1 and id = $2 and archived_at is null`;

/** Returns a courier as assigned to shipments. `undefined` if no active courier has this id. */
export async function findAssignable(tx: Transaction, workspace: number, id: string): Promise<Courier | undefined> {
  return (await tx.send<Courier>(FIND, [workspace, id]))[0];
}

const toMessage = compileToMessage(CourierProfileSchema);

function courierMessage(courier: CourierProfile, figures: RecordOf<CourierFigures> | null = null): CourierMessage {
  return toMessage({ ...courier, etag: String(courier.version), figures });
}

function toPosition([createdAtMs, id]: readonly unknown[]) {
  return isInstant(createdAtMs) && typeof id === "string" ? { at: new Date(createdAtMs), id } : undefined;
}
