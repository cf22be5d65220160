import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  AttentionKind,
  BookingBlocker,
  type AttentionSubjectSchema,
  type WorkspaceService,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { inBatches } from "../../db/transaction.ts";
import { PAYMENT_STATUSES } from "../../domain/shipment/shipment-state.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { loadWorkingKeys } from "../api-keys/api-keys.ts";
import { indexPredicate } from "../shipments/shipment.entity.ts";
import { type BookingDeps, loadBookingBlockers } from "../workspaces/get-workspace.ts";
import { UNCOUNTED } from "../workspaces/open-payments.ts";

/** How many of a kind are counted, and how many of them are named. */
export const MAX_COUNTED = 100;
const MAX_NAMED = 10;
/** How long before its end a key needs attention, in milliseconds: 14 days. */
export const ENDING_MS = 14 * 24 * 60 * 60 * 1_000;

type Subject = MessageInitShape<typeof AttentionSubjectSchema>;

/** What is to be done of one kind, with the most urgent first, and how many that are. */
export interface Listed<Kind, Of> {
  readonly kind: Kind;
  readonly subjects: readonly Of[];
  /** As many as there are subjects when not given. */
  readonly count?: number;
}

/** What of all that is listed there is any of, with its count and the most urgent. */
export function attentionTo<Kind, Of>(listed: readonly Listed<Kind, Of>[]) {
  return listed
    .map(({ kind, subjects, count = subjects.length }) => ({
      kind,
      count: Math.min(count, MAX_COUNTED),
      subjects: subjects.slice(0, MAX_NAMED),
    }))
    .filter(({ count }) => count > 0);
}

type WorkspaceFunctions = ServiceFunctions<
  typeof WorkspaceService,
  Call,
  BookingDeps & { readonly now: () => Date }
>;

/** Open issues of the workspace, worst first. */
export const getAttention: WorkspaceFunctions["getAttention"] = async (
  _request,
  { caller: { workspaceId } },
  { em, hasTariffInForce, now },
) => {
  const [blockers, { failed, uncounted, disputed, due, disabled, failing }, ending] =
    await Promise.all([
      loadBookingBlockers(em.fork(), workspaceId, hasTariffInForce),
      loadTrouble(em, workspaceId),
      loadEndingKeys(em.fork(), workspaceId, now()),
    ]);
  const data = attentionTo<AttentionKind, Subject>([
    ...BLOCKERS.map(([blocker, kind]) => ({
      kind,
      subjects: [],
      count: Number(blockers.includes(blocker)),
    })),
    { kind: AttentionKind.REFUND_FAILED, subjects: failed },
    { kind: AttentionKind.PAYMENT_UNCOUNTED, subjects: uncounted },
    { kind: AttentionKind.DISPUTE_OPEN, subjects: disputed },
    { kind: AttentionKind.WEBHOOK_DISABLED, subjects: disabled },
    { kind: AttentionKind.WEBHOOK_FAILING, subjects: failing },
    { kind: AttentionKind.REFUND_DUE, subjects: due },
    { kind: AttentionKind.API_KEY_ENDING, subjects: ending },
  ]);
  return { data };
};

/** What stops all bookings, the worst first. */
const BLOCKERS = [
  [BookingBlocker.TARIFF, AttentionKind.TARIFF],
  [BookingBlocker.PAYMENT_PROVIDER, AttentionKind.PAYMENT_PROVIDER],
] as const;

/** What failed besides money that does not count, which is listed by itself. */
const FAILED_BESIDES = `
  (payment_details ->> 'dispute' = 'open' or payment_details ->> 'refundError' is not null)`;

/**
 * The oldest of each payment status that failed or is disputed, but for customers who did not pay: those may be many,
 * and are not for the workspace.
 */
const PAYMENT_TROUBLE = `
  select reference, cancelled_at as "cancelledAt", payment_details ->> 'refundError' as "refundError",
    payment_details ->> 'dispute' is not distinct from 'open' as disputed
  from (${PAYMENT_STATUSES.filter((it) => it !== "awaiting_payment")
    .map(
      (paymentStatus) => `(
        select * from shipment
        where workspace_id = $1 and payment_status = '${paymentStatus}'
          and ${indexPredicate("shipment_failed")} and ${FAILED_BESIDES}
        order by created_at, reference limit ${2 * MAX_COUNTED})`,
    )
    .join(" union all ")}) as failed
  order by created_at, reference`;

/** The oldest with money that does not count, and why. */
const UNCOUNTED_PAYMENTS = `
  select reference, cancelled_at as "cancelledAt", payment_details ->> 'error' as error
  from shipment where workspace_id = $1 and ${UNCOUNTED}
  order by created_at, reference limit ${MAX_COUNTED}`;

interface TroubleRow {
  readonly reference: string;
  readonly cancelledAt: Date | string | null;
  readonly refundError: string | null;
  readonly disputed: boolean;
}

interface UncountedRow extends Pick<TroubleRow, "reference" | "cancelledAt"> {
  readonly error: string | null;
}

/**
 * Of the oldest that are to go back, those that no payment provider is asked about: others are done by it.
 * What a provider is asked about is done within minutes, or fails, so that the oldest show what waits.
 */
const DUE_REFUNDS = `
  select reference, "cancelledAt"
  from (
    select reference, cancelled_at as "cancelledAt", created_at,
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

/** Webhooks that somebody has to mend; one that the workspace disabled is none. */
const FAILING_WEBHOOKS = `
  select id, url, failing_since as "failingSince", disabled_reason is not null as disabled
  from webhook
  where workspace_id = $1
    and (disabled_reason in ('gone', 'failing') or disabled_reason is null and failing_since is not null)
  order by failing_since, id`;

interface WebhookRow {
  readonly id: string;
  readonly url: string;
  readonly failingSince: Date | string | null;
  readonly disabled: boolean;
}

/** What is wrong with payments and webhooks. Of a shipment whose refund failed and is disputed the dispute decides. */
async function loadTrouble(em: EntityManager, workspace: number) {
  const [shipments, uncounted, due, webhooks] = await inBatches(em, (send) =>
    Promise.all([
      send<TroubleRow>(PAYMENT_TROUBLE, [workspace]),
      send<UncountedRow>(UNCOUNTED_PAYMENTS, [workspace]),
      send<TroubleRow>(DUE_REFUNDS, [workspace]),
      send<WebhookRow>(FAILING_WEBHOOKS, [workspace]),
    ]),
  );
  return {
    failed: shipments
      .filter(({ disputed }) => !disputed)
      .map((row) => ({ ...shipmentSubject(row), ...reasonOf(row.refundError) })),
    uncounted: uncounted.map((row) => ({ ...shipmentSubject(row), ...reasonOf(row.error) })),
    disputed: shipments.filter(({ disputed }) => disputed).map(shipmentSubject),
    due: due.map(shipmentSubject),
    disabled: webhooks.filter(({ disabled }) => disabled).map(webhookSubject),
    failing: webhooks.filter(({ disabled }) => !disabled).map(webhookSubject),
  };
}

function shipmentSubject({
  reference,
  cancelledAt,
}: Pick<TroubleRow, "reference" | "cancelledAt">): Subject {
  return { id: reference, ...atOf(cancelledAt) };
}

function reasonOf(reason: string | null): Pick<Subject, "reason"> {
  return reason === null ? {} : { reason };
}

function webhookSubject({ id, url, failingSince }: WebhookRow): Subject {
  return { id, name: url, ...atOf(failingSince) };
}

async function loadEndingKeys(em: EntityManager, workspace: number, now: Date): Promise<Subject[]> {
  const until = now.getTime() + ENDING_MS;
  return (await loadWorkingKeys(em, workspace))
    .flatMap(({ id, name, endsAt }) => (endsAt ? [{ id, name, endsAt }] : []))
    .filter(({ endsAt }) => endsAt.getTime() <= until)
    .toSorted((a, b) => a.endsAt.getTime() - b.endsAt.getTime())
    .map(({ id, name, endsAt }) => ({ id, ...(name ? { name } : {}), ...atOf(endsAt) }));
}

function atOf(at: Date | string | null): Pick<Subject, "at"> {
  return at === null ? {} : { at: timestampFromDate(new Date(at)) };
}
