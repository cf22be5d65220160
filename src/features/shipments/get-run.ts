import type { CourierService } from "../../../gen/shipments/v1/courier_service_pb.js";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import { IS_LIVE_OF } from "../workspaces/workspace.entity.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { shipmentMessage } from "./shipment-message.ts";
import { selectShipments, SHIPMENT_COLUMN } from "./shipment-row.ts";
import { COURIER_KEY, indexPredicate, PICKUP_KEY } from "./shipment.entity.ts";

/** Maximum number of open shipments, and of shipments that ended today. */
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

/** End of the next stop's window, as text. Empty without a window. */
const WINDOW_END = `
  coalesce(case status when 'in_transit' then windows #>> '{dropoff,end}' end, windows #>> '{pickup,end}', '') collate "C"`;

const ENDED_AT = "coalesce(delivered_at, returned_at, cancelled_at)";

/**
 * Order of open shipments. Shipments left from earlier days come first, unless their position was set today: shipments
 * whose window ended before today (`$4`), and shipments without a window that were booked before today.
 */
const OPEN_ORDER = `
  (case ${WINDOW_END} when '' then created_at < $4::text::timestamptz else ${WINDOW_END} < $4::text end
    and coalesce(to_timestamp((progress #>> '{courier,sequencedAtMs}')::float8 / 1000), created_at)
      < $4::text::timestamptz) desc,
  (progress #>> '{courier,sequence}')::int nulls last, created_at, reference`;

/**
 * Selects the open shipments that are in transit or to be picked up before `$3`, and the shipments that ended at or
 * after `$4`. Excludes ended shipments that were booked more than 31 days before, which limits the rows to read.
 */
const STOPS = `
  select ${SHIPMENT_COLUMN} from (
    (${OF_COURIER} and payment_status = 'paid'
       and (status = 'in_transit' or status = 'awaiting_pickup' and ${PICKUP_KEY} < $3)
     order by ${OPEN_ORDER} limit ${MAX_STOPS})
    union all
    (${OF_COURIER} and status in ('delivered', 'returned', 'cancelled') and created_at > $4::text::timestamptz - interval '31 days'
       and ${ENDED_AT} >= $4::text::timestamptz
     order by ${ENDED_AT} desc, reference limit ${MAX_STOPS})
  ) as s
  order by ${ENDED_AT} nulls first, ${OPEN_ORDER}`;

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
  return { data: { ...found, shipments: rows.map((row) => shipmentMessage(row, call.caller)) } };
};
