import {
  type AttentionSubject,
  BookingBlocker,
  GetAttentionResponseSchema,
  type WorkspaceService,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { inBatches } from "../../db/transaction.ts";
import { MAX_WRONG_PINS } from "../../domain/shipment/delivery-proof.ts";
import { PAYMENT_STATUSES } from "../../domain/shipment/shipment-state.ts";
import type { RecordOf } from "../../json/records.ts";
import type { Call } from "../../pipeline/call.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { loadWorkingKeys } from "../api-keys/api-keys.ts";
import type { ShipmentDeps } from "../shipments/shipment-deps.ts";
import { shipmentRecord } from "../shipments/shipment-message.ts";
import { selectShipments, SHIPMENT_COLUMN } from "../shipments/shipment-row.ts";
import { COURIER_KEY, indexPredicate, PICKUP_KEY } from "../shipments/shipment.entity.ts";
import { type BookingDeps, loadBookingBlockers } from "../workspaces/get-workspace.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import { UNCOUNTED } from "../workspaces/open-payments.ts";
import { attentionTo, ENDING_MS, MAX_COUNTED, msOf } from "./attention.ts";
import { IN_RUN, lastSeen } from "./courier-figures.ts";
import { LATE_SINCE } from "./late-since.ts";

const respond = compileResponse(GetAttentionResponseSchema);

type Subject = RecordOf<AttentionSubject>;

type Deps = BookingDeps & Pick<ShipmentDeps, "now" | "versionFees">;
type WorkspaceFunctions = ServiceFunctions<typeof WorkspaceService, Call, Deps>;

/** Returns the open issues of the workspace, most severe first. */
export const getAttention: WorkspaceFunctions["getAttention"] = async (
  request,
  call,
  { em, hasTariffInForce, now, versionFees },
) => {
  const { workspaceId } = call.caller;
  const [blockers, found, ending] = await Promise.all([
    loadBookingBlockers(em.fork(), workspaceId, hasTariffInForce),
    loadTrouble(em, call, now),
    loadEndingKeys(em.fork(), workspaceId, now()),
  ]);
  const { failed, uncounted, disputed, toPickUp, toDeliver, missing, unseen, attempted, locked, due } = found;
  const data = attentionTo<Subject>([
    { kind: "tariff", count: Number(blockers.includes(BookingBlocker.TARIFF)) },
    {
      kind: "payment_provider",
      count: Number(blockers.includes(BookingBlocker.PAYMENT_PROVIDER)),
    },
    { kind: "refund_failed", subjects: failed },
    { kind: "payment_uncounted", subjects: uncounted },
    { kind: "dispute_open", subjects: disputed },
    { kind: "pickup_late", subjects: toPickUp },
    { kind: "delivery_late", subjects: toDeliver },
    { kind: "courier_missing", subjects: missing },
    { kind: "courier_unseen", subjects: unseen },
    { kind: "attempts_failed", subjects: attempted },
    { kind: "pin_locked", subjects: locked },
    { kind: "webhook_disabled", subjects: found.disabled },
    { kind: "webhook_failing", subjects: found.failing },
    { kind: "refund_due", subjects: due },
    { kind: "api_key_ending", subjects: ending },
  ]);
  if (!request.shipments) return respond({ data });
  const references = data.flatMap(({ subjects }) => subjects.map(({ id }) => id));
  const rows = await selectShipments({ em, versionFees }, SHIPMENTS, [workspaceId, references]);
  const shipments = new Map(rows.map((row) => [row.reference, shipmentRecord(row, call.caller)]));
  const withShipment = (subject: Subject) => ({ ...subject, shipment: shipments.get(subject.id) ?? null });
  return respond({ data: data.map((it) => ({ ...it, subjects: it.subjects.map(withShipment) })) });
};

const SHIPMENTS = `
  select ${SHIPMENT_COLUMN} from shipment as s
  where s.workspace_id = $1 and s.reference = any($2::text[])`;

/** Matches open disputes and failed refunds. Unassigned payments are listed separately. */
const OTHER_FAILURES = `
  (payment_details ->> 'dispute' = 'open' or payment_details ->> 'refundError' is not null)`;

/**
 * Selects the oldest shipments with problems in each payment status. Omits unpaid shipments,
 * because there can be many and the workspace cannot fix them.
 */
const PAYMENT_TROUBLE = `
  select reference as id, ${msOf("cancelled_at")} as at, payment_details ->> 'refundError' as reason,
    payment_details ->> 'dispute' is not distinct from 'open' as disputed
  from (${PAYMENT_STATUSES.filter((it) => it !== "awaiting_payment")
    .map(
      (paymentStatus) => `(
        select * from shipment
        where workspace_id = $1 and payment_status = '${paymentStatus}'
          and ${indexPredicate("shipment_failed")} and ${OTHER_FAILURES}
        order by created_at, reference limit ${2 * MAX_COUNTED})`,
    )
    .join(" union all ")}) as failed
  order by created_at, reference`;

/** Selects the oldest unassigned payments with their reasons. */
const UNCOUNTED_PAYMENTS = `
  select reference as id, ${msOf("cancelled_at")} as at, payment_details ->> 'error' as reason
  from shipment where workspace_id = $1 and ${UNCOUNTED}
  order by created_at, reference limit ${MAX_COUNTED}`;

/**
 * Selects due refunds that no payment provider is processing, among the oldest due refunds. Newer ones need no check,
 * because providers complete or fail refunds within minutes.
 */
const DUE_REFUNDS = `
  select reference as id, ${msOf("cancelled_at")} as at
  from (
    select reference, cancelled_at, created_at,
      payment_details->>'refundError' as "refundError"
    from shipment
    where workspace_id = $1 and status = 'cancelled' and payment_status = 'refund_pending'
      and ${indexPredicate("shipment_by_status")}
    order by created_at, reference limit ${MAX_COUNTED}
  ) as pending
  where "refundError" is null and not exists (
    select from provider_payment
    where workspace_id = $1 and shipment_reference = reference and due_at is not null
  )
  order by created_at, reference`;

/** Maximum number of shipments to check for lateness in each status, both with and without a pickup window. */
const MAX_CHECKED = 200;

/** SQL for the time at which a shipment became or becomes late, null if it is not late, by status. */
const PROMISED = { awaiting_pickup: LATE_SINCE.awaitingPickup, in_transit: LATE_SINCE.inTransit };

/**
 * Selects shipments that missed a window, will miss a window according to their ETA, or have no window and are too old.
 * Checks only the shipments that become late first: those with the earliest pickup windows, and the oldest without a
 * pickup window. The dashboard applies the same rule in `useDelay`.
 *
 * @param condition further SQL condition of the shipments
 */
function selectLate(
  statuses: readonly (keyof typeof PROMISED)[],
  { condition = "", limit = MAX_COUNTED }: { readonly condition?: string; readonly limit?: number } = {},
): string {
  return `
  select reference as id, ${msOf("promised")} as at
  from (${statuses
    .flatMap((status) =>
      [`= ''`, `> ''`].map(
        (starts) => `(
        select reference, ${PROMISED[status]} as promised from shipment
        where workspace_id = $1 and status = '${status}' and (${PICKUP_KEY}) ${starts} ${condition}
          and ${indexPredicate("shipment_due_by_pickup")}
        order by (${PICKUP_KEY}), created_at, reference limit ${MAX_CHECKED})`,
      ),
    )
    .join(" union all ")}) as first
  where promised is not null
  order by promised, reference limit ${limit}`;
}

const PICKUP_LATE = selectLate(["awaiting_pickup"]);
const DELIVERY_LATE = selectLate(["in_transit"]);

/** Shipments without a courier are reported this long before they become late, in milliseconds. */
const COURIER_NEEDED_MS = 60 * 60_000;

/**
 * Selects shipments that have no courier and are late at the time `$2`, in workspaces that have couriers. Includes the
 * shipments in `PICKUP_LATE` and `DELIVERY_LATE`.
 */
const COURIER_MISSING = selectLate(["awaiting_pickup", "in_transit"], {
  condition: `and progress #>> '{courier,name}' is null
          and exists (select from courier where workspace_id = $1 and archived_at is null)`,
  limit: 3 * MAX_COUNTED,
});

/** Selects couriers with undelivered shipments who were last seen between 20 minutes and 12 hours ago. */
const COURIER_UNSEEN = `
  select courier.id, courier.name, ${msOf("seen.at")} as at
  from courier cross join lateral (select ${lastSeen("courier.id")} as at) as seen
  where courier.workspace_id = $1 and courier.archived_at is null
    and seen.at between now() - interval '12 hours' and now() - interval '20 minutes'
    and exists (
      select from shipment where workspace_id = $1 and ${COURIER_KEY} = courier.id
        and ${indexPredicate("shipment_by_courier")} and ${IN_RUN})
  order by seen.at, courier.id limit ${MAX_COUNTED}`;

/** Selects shipments with failed attempts, or with a locked PIN and no waiver yet. */
const ATTEMPTED = `
  select reference as id, (progress #>> '{attempts,-1,atMs}')::float8 as at,
    progress #>> '{attempts,-1,reason}' as reason,
    jsonb_array_length(progress -> 'attempts') >= 1 as attempted,
    progress ->> 'wrongPins' = '${MAX_WRONG_PINS}' and verification ->> 'by' = 'pin'
      and coalesce(progress #>> '{proof,waived}', '') = ''
      and progress #>> '{proof,pinVerified}' is distinct from 'true' as locked
  from shipment where workspace_id = $1 and ${indexPredicate("shipment_attempted")}
  order by coalesce(jsonb_array_length(progress -> 'attempts'), 0) desc, created_at, reference limit ${MAX_COUNTED}`;

/** Selects failing webhooks. Omits webhooks that the workspace disabled. */
const FAILING_WEBHOOKS = `
  select id, url as name, ${msOf("failing_since")} as at, disabled_reason is not null as disabled
  from webhook
  where workspace_id = $1
    and (disabled_reason in ('gone', 'failing') or disabled_reason is null and failing_since is not null)
  order by failing_since, id`;

/**
 * Loads issues with payments, deliveries and webhooks. A shipment with both a failed refund and a
 * dispute is listed as disputed.
 */
async function loadTrouble(em: EntityManager, call: Call, now: () => Date) {
  const workspace = call.caller.workspaceId;
  const at = timeOf(call, now);
  const [shipments, uncounted, toPickUp, toDeliver, missing, unseen, attempted, due, webhooks] = await inBatches(
    em,
    (send) =>
      Promise.all([
        send<Subject & { readonly disputed: boolean }>(PAYMENT_TROUBLE, [workspace]),
        send<Subject>(UNCOUNTED_PAYMENTS, [workspace]),
        send<Subject>(PICKUP_LATE, [workspace, at.toISOString()]),
        send<Subject>(DELIVERY_LATE, [workspace, at.toISOString()]),
        send<Subject>(COURIER_MISSING, [workspace, new Date(at.getTime() + COURIER_NEEDED_MS).toISOString()]),
        send<Subject>(COURIER_UNSEEN, [workspace]),
        send<Subject & { readonly attempted: boolean; readonly locked: boolean }>(ATTEMPTED, [workspace]),
        send<Subject>(DUE_REFUNDS, [workspace]),
        send<Subject & { readonly disabled: boolean }>(FAILING_WEBHOOKS, [workspace]),
      ]),
  );
  const late = new Set([...toPickUp, ...toDeliver].map(({ id }) => id));
  return {
    failed: shipments.filter(({ disputed }) => !disputed),
    uncounted,
    disputed: shipments.filter(({ disputed }) => disputed).map((shipment) => ({ ...shipment, reason: null })),
    toPickUp,
    toDeliver,
    missing: missing.filter(({ id }) => !late.has(id)),
    unseen,
    attempted: attempted.filter((shipment) => shipment.attempted),
    locked: attempted.filter(({ locked }) => locked).map(({ id }) => ({ id })),
    due,
    disabled: webhooks.filter(({ disabled }) => disabled),
    failing: webhooks.filter(({ disabled }) => !disabled),
  };
}

async function loadEndingKeys(em: EntityManager, workspace: number, now: Date) {
  const until = now.getTime() + ENDING_MS;
  return (await loadWorkingKeys(em, workspace))
    .flatMap(({ id, name, endsAt }) => (endsAt ? [{ id, name, at: endsAt }] : []))
    .filter(({ at }) => at.getTime() <= until)
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
}
