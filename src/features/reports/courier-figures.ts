import type { CourierFigures } from "../../../gen/shipments/v1/courier_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { RecordOf } from "../../json/records.ts";
import type { Call } from "../../pipeline/call.ts";
import { COURIER_KEY, indexPredicate } from "../shipments/shipment.entity.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import { IS_LIVE_OF } from "../workspaces/workspace.entity.ts";
import { msOf } from "./attention.ts";
import { LATE_SINCE } from "./late-since.ts";

const TODAY = `(
  select date_trunc('day', $2::text::timestamptz, live.time_zone)
  from workspace join workspace as live on ${IS_LIVE_OF} where workspace.id = $1)`;

const OPEN = `payment_status = 'paid' and status in ('awaiting_pickup', 'in_transit')`;

const LATE = `case status when 'awaiting_pickup' then ${LATE_SINCE.awaitingPickup} else ${LATE_SINCE.inTransit} end`;

/**
 * Counts the shipments of couriers. Does not read shipments that were booked more than a month ago and have ended.
 * `$3` contains the couriers.
 */
const FIGURES = `
  select ${COURIER_KEY} as courier,
    (count(*) filter (where ${OPEN}))::int as left,
    (count(*) filter (where ${OPEN} and ${LATE} is not null))::int as late,
    (count(*) filter (where not (${OPEN})))::int as done,
    ${msOf("max(place.measured_at)")} as "lastSeenAt"
  from shipment
    left join courier_place as place
      on place.workspace_id = $1 and place.shipment_reference = reference and place.measured_at > now() - interval '1 hour'
  where shipment.workspace_id = $1 and ${COURIER_KEY} = any($3::text[]) and ${indexPredicate("shipment_by_courier")}
    and (${OPEN} or status in ('delivered', 'returned')
      and created_at > $2::text::timestamptz - interval '31 days' and coalesce(delivered_at, returned_at) >= ${TODAY})
  group by ${COURIER_KEY}`;

type Figures = RecordOf<CourierFigures>;

/**
 * Loads the progress of couriers of the caller's workspace.
 *
 * @param couriers ids, at most one page
 * @returns figures by courier id
 */
export async function loadCourierFigures(
  em: EntityManager,
  call: Call,
  now: () => Date,
  couriers: readonly string[],
): Promise<ReadonlyMap<string, Figures>> {
  const values = [call.caller.workspaceId, timeOf(call, now).toISOString(), couriers];
  const rows = await runStatement<Figures & { readonly courier: string }>(em, FIGURES, values);
  const found = new Map(rows.map(({ courier, ...figures }) => [courier, figures]));
  return new Map(couriers.map((id) => [id, found.get(id) ?? { left: 0, late: 0, done: 0, lastSeenAt: null }]));
}
