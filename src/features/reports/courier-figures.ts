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

/** Matches shipments that a courier still has to deliver. */
export const IN_RUN = `payment_status = 'paid' and status in ('awaiting_pickup', 'in_transit')`;

const LATE = `case status when 'awaiting_pickup' then ${LATE_SINCE.awaitingPickup} else ${LATE_SINCE.inTransit} end`;

const placesOf = (courier: string) => `
  from shipment as s join courier_place as place on place.workspace_id = $1 and place.shipment_reference = s.reference
  where s.workspace_id = $1 and s.${COURIER_KEY} = ${courier} and s.${COURIER_KEY} is not null
    and s.reference <> 'shipment_by_courier' and s.status in ('awaiting_pickup', 'in_transit')`;

/** Returns SQL for the time of a courier's newest location or last call. Locations are deleted after an hour. */
export const lastSeen = (courier: string) => `greatest(
  (select max(place.measured_at) ${placesOf(courier)}),
  (select max(session.last_seen_at)
   from courier_link as link
     join courier_session as session on session.workspace_id = $1 and session.link_id = link.id
   where link.workspace_id = $1 and link.courier_id = ${courier}))`;

/** Counts the shipments of couriers, and selects their newest location. Omits completed shipments that were booked more than a month ago. */
const FIGURES = `
  select asked.id as courier, counted.*, ${msOf(lastSeen("asked.id"))} as "lastSeenAt",
    (select json_build_object('lat', lat, 'lng', lng, 'measuredAt', ${msOf("measured_at")})
     ${placesOf("asked.id")} and measured_at > now() - interval '1 hour'
     order by measured_at desc limit 1) as place
  from json_to_recordset($3) as asked (id text)
  cross join lateral (
    select
      (count(*) filter (where ${IN_RUN}))::int as left,
      (count(*) filter (where ${IN_RUN} and ${LATE} is not null))::int as late,
      (count(*) filter (where not (${IN_RUN})))::int as done
    from shipment
    where workspace_id = $1 and ${COURIER_KEY} = asked.id and ${indexPredicate("shipment_by_courier")}
      and (${IN_RUN} or status in ('delivered', 'returned')
        and created_at > $2::text::timestamptz - interval '31 days' and coalesce(delivered_at, returned_at) >= ${TODAY})
  ) as counted`;

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
  const asked = JSON.stringify(couriers.map((id) => ({ id })));
  const values = [call.caller.workspaceId, timeOf(call, now).toISOString(), asked];
  const rows = await runStatement<Figures & { readonly courier: string }>(em, FIGURES, values);
  return new Map(rows.map(({ courier, ...figures }) => [courier, figures]));
}
