import { IS_LIVE_OF } from "../workspaces/workspace.entity.ts";

/**
 * Returns SQL for the end of a window that is missed, or will be missed according to the ETA. Null otherwise. The ETA
 * is ignored once the courier has arrived.
 */
const missed = (end: string) => `case when (windows #>> '{${end},end}')::timestamptz < greatest(
    $2::text::timestamptz,
    case when progress ->> 'arrivedAt' is distinct from '${end}'
      then to_timestamp((progress #>> '{etas,${end}}')::float8 / 1000) end)
  then (windows #>> '{${end},end}')::timestamptz end`;

const LATE_AFTER = `(
  select make_interval(mins => live.late_after_minutes)
  from workspace join workspace as live on ${IS_LIVE_OF} where workspace.id = $1)`;

/** SQL for the time at which a shipment without windows became late, null if it is not late. */
const AGED = `case when coalesce(windows ->> 'pickup', windows ->> 'dropoff') is null
    and created_at < $2::text::timestamptz - ${LATE_AFTER}
  then created_at + ${LATE_AFTER} end`;

/**
 * SQL for the time at which a shipment became or will become late, by status. Null if it is not late. `$1` is the
 * workspace and `$2` the current time.
 */
export const LATE_SINCE = {
  awaitingPickup: `least(${missed("pickup")}, ${missed("dropoff")}, ${AGED})`,
  inTransit: `least(${missed("dropoff")}, ${AGED})`,
};
