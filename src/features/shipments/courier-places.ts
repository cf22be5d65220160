import { create } from "@bufbuild/protobuf";
import { BatchResultSchema } from "../../../gen/shipments/v1/batch_pb.js";
import { GetCourierPlaceResponseSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { deleteOldest, runStatement } from "../../db/statement.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { Point } from "../../domain/coverage/geo.ts";
import { isoTime, toInstantMs } from "../../domain/instant.ts";
import { refuse } from "../../domain/refusal.ts";
import { isReference } from "../../domain/shipment/shipment-reference.ts";
import { type ShipmentState, stateError, transition } from "../../domain/shipment/shipment-state.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import { refusedResult } from "./change-batch.ts";
import { type ShipmentKey, shipmentNotFoundError } from "./find-shipment.ts";
import type { ShipmentFunctions } from "./shipment-deps.ts";
import { paymentStatusNumber, statusNumber } from "./shipment-message.ts";
import { COURIER_KEY } from "./shipment.entity.ts";

/** Maximum age of an available position. */
const KEPT = "1 hour";

/**
 * Returns the statement that selects the state of each shipment. With the lateral join, PostgreSQL looks up each
 * reference by key.
 */
const selectStates = (condition: string) => `
  select index, status, payment_status as "paymentStatus", version
  from json_to_recordset($2) as given (index int, reference text)
  cross join lateral (
    select status, payment_status, version from shipment
    where workspace_id = $1 and shipment.reference = given.reference ${condition}
  ) as found`;

const STATES = selectStates("limit 1");

/**
 * Of the shipments that are assigned to courier `$3`. Locks them until the positions are stored, so that a replaced
 * courier's position is deleted, or not stored at all.
 */
const STATES_OF_COURIER = selectStates(`and ${COURIER_KEY} = $3 limit 1 for share`);

/** Stores the newest position of each shipment. Skips positions less than five seconds newer than the stored one. */
const UPSERT = `
  insert into courier_place (workspace_id, shipment_reference, lat, lng, measured_at)
  select $1::bigint, newest.* from (
    select distinct on (reference) reference, lat, lng, least(measured_at, now()) as measured_at
    from json_to_recordset($2)
      as given (reference text, lat float8, lng float8, measured_at timestamptz)
    order by reference, least(measured_at, now()) desc
  ) as newest
  on conflict (workspace_id, shipment_reference)
  do update set lat = excluded.lat, lng = excluded.lng, measured_at = excluded.measured_at
  where excluded.measured_at - courier_place.measured_at >= interval '5 seconds'`;

interface Found extends ShipmentState {
  readonly index: number;
  readonly version: number;
}

const FIND = `
  select lat, lng, extract(epoch from measured_at)::float8 * 1000 as "measuredAt" from courier_place
  where workspace_id = $1 and shipment_reference = $2 and measured_at > now() - interval '${KEPT}'`;

const respond = compileResponse(GetCourierPlaceResponseSchema);

export const COURIER_PLACES = {
  async reportPlaces({ places }, { caller: { workspaceId, courier } }, { em }) {
    const reported = places.flatMap(({ shipment: reference, lat, lng, measuredAt }, index) => {
      const measuredMs = toInstantMs(measuredAt, Math.floor);
      const measured_at = measuredMs === undefined ? undefined : isoTime(measuredMs);
      return isReference(reference) ? [{ index, reference, lat, lng, measured_at }] : [];
    });
    // Sorted, so that concurrent transactions do not deadlock.
    const given = JSON.stringify(reported.toSorted((a, b) => (a.reference < b.reference ? -1 : 1)));
    const found = await (courier === undefined
      ? runStatement<Found>(em, STATES, [workspaceId, given])
      : runStatement<Found>(em, STATES_OF_COURIER, [workspaceId, given, courier.id]));
    const byIndex = new Map(found.map((it) => [it.index, it]));
    const accepted = reported.filter(({ index }) => {
      const state = byIndex.get(index);
      return state !== undefined && transition("locate", state).next !== undefined;
    });
    if (accepted.length > 0) await runStatement(em, UPSERT, [workspaceId, JSON.stringify(accepted)]);
    const results = places.map(({ shipment }, index) => {
      const state = byIndex.get(index);
      if (state === undefined) return refusedResult(shipment, shipmentNotFoundError(shipment));
      const { refusal } = transition("locate", state);
      if (refusal !== undefined) return refusedResult(shipment, stateError(refusal));
      return create(BatchResultSchema, {
        shipment,
        status: statusNumber(state.status),
        paymentStatus: paymentStatusNumber(state.paymentStatus),
        etag: String(state.version),
      });
    });
    return { results };
  },

  async getCourierPlace({ shipment }, { caller: { workspaceId } }, { em }) {
    const [data] = await runStatement<{ lat: number; lng: number; measuredAt: number }>(em, FIND, [
      workspaceId,
      shipment,
    ]);
    if (data === undefined) throw refuse("PLACE_NOT_FOUND");
    return respond({ data });
  },
} satisfies Partial<ShipmentFunctions>;

const DELETE = "delete from courier_place where workspace_id = $1 and shipment_reference = $2";

export function forgetPlace(tx: Transaction, { workspace, reference }: ShipmentKey): void {
  void tx.send(DELETE, [workspace, reference]);
}

/** Queues a courier's position, replacing the previous one. */
export function movePlace(tx: Transaction, key: ShipmentKey, { lat, lng }: Point, measuredAt: Date): void {
  forgetPlace(tx, key);
  const place = { reference: key.reference, lat, lng, measured_at: measuredAt };
  void tx.send(UPSERT, [key.workspace, JSON.stringify([place])]);
}

/**
 * Deletes positions that were measured more than an hour ago by the database's clock.
 *
 * @returns the number of deleted rows
 */
export function purgePlaces(em: EntityManager): Promise<number> {
  return deleteOldest(em, "courier_place", "measured_at", `now() - interval '${KEPT}'`, []);
}
