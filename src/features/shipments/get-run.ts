import type { CourierService } from "../../../gen/shipments/v1/courier_service_pb.js";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import { hasEnded } from "../../domain/shipment/shipment-state.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import { IS_LIVE_OF } from "../workspaces/workspace.entity.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { shipmentMessage } from "./shipment-message.ts";
import { selectShipments, SHIPMENT_COLUMN, type ShipmentRow } from "./shipment-row.ts";
import { COURIER_KEY, indexPredicate, PICKUP_KEY } from "./shipment.entity.ts";

/** Maximum number of open shipments, and of ended ones. */
const MAX_STOPS = 200;

const COURIER = `
  select courier.id as courier, courier.name as "courierName", live.name as "workspaceName",
    live.time_zone as "timeZone", live.couriers_reorder_stops as "canReorder",
    live.couriers_share_location as "wantsLocation"
  from courier
    join workspace on workspace.id = courier.workspace_id
    join workspace as live on ${IS_LIVE_OF}
  where courier.workspace_id = $1 and courier.id = $2`;

const OF_COURIER = `select s.* from shipment as s
  where s.workspace_id = $1 and ${COURIER_KEY} = $2 and ${indexPredicate("shipment_by_courier")}`;

/**
 * Selects the open shipments that are picked up before `$3` or already in transit, and those that ended from `$4` on.
 * Shipments that were booked more than a month before are not read again after they ended.
 */
const STOPS = `
  select ${SHIPMENT_COLUMN} from (
    (${OF_COURIER} and payment_status = 'paid'
       and (status = 'in_transit' or status = 'awaiting_pickup' and ${PICKUP_KEY} < $3)
     order by (progress #>> '{courier,sequence}')::int nulls last, created_at, reference limit ${MAX_STOPS})
    union all
    (${OF_COURIER} and status in ('delivered', 'returned', 'cancelled') and created_at > $4::timestamptz - interval '31 days'
       and coalesce(delivered_at, returned_at, cancelled_at) >= $4
     order by coalesce(delivered_at, returned_at, cancelled_at) desc, reference limit ${MAX_STOPS})
  ) as s`;

type Deps = Pick<ShipmentDeps, "em" | "now" | "versionFees">;

/** Returns today's run of a courier, in the time zone of the workspace. */
export const getRun: ServiceFunctions<typeof CourierService, Call, Deps>["getRun"] = async (request, call, deps) => {
  const { workspaceId, courier } = call.caller;
  const id = request.courier === "me" ? courier?.id : request.courier;
  if (id === undefined || (courier !== undefined && courier.id !== id)) throw refuse("COURIER_NOT_FOUND");
  const [found] = await runStatement<
    Readonly<Record<"courier" | "courierName" | "workspaceName" | "timeZone", string>> &
      Readonly<Record<"canReorder" | "wantsLocation", boolean>>
  >(deps.em, COURIER, [workspaceId, id]);
  if (found === undefined) throw refuse("COURIER_NOT_FOUND");
  const today = Temporal.Instant.fromEpochMilliseconds(timeOf(call, deps.now).getTime())
    .toZonedDateTimeISO(found.timeZone)
    .startOfDay();
  const [start, end] = [today, today.add({ days: 1 })].map((day) => new Date(day.epochMilliseconds).toISOString());
  const rows = await selectShipments(deps, STOPS, [workspaceId, id, end, start]);
  return { data: { ...found, shipments: rows.toSorted(byStop).map((row) => shipmentMessage(row, call.caller)) } };
};

/** Sorts open shipments first, by sequence and booking, then ended ones by the time of their end. */
function byStop(a: ShipmentRow, b: ShipmentRow): number {
  const ranks = [keysOf(a), keysOf(b)] as const;
  const different = ranks[0].findIndex((key, i) => key !== ranks[1][i]);
  return different < 0 ? 0 : ranks[0][different]! - ranks[1][different]!;
}

function keysOf({ status, progress, createdAt, deliveredAt, returnedAt, cancelledAt }: ShipmentRow): readonly number[] {
  if (!hasEnded(status)) return [0, progress?.courier?.sequence ?? Infinity, createdAt.getTime()];
  return [1, (deliveredAt ?? returnedAt ?? cancelledAt)?.getTime() ?? 0];
}
