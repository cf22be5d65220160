import { byOwner } from "../../db/by-owner.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runForEach } from "../../db/for-each-workspace.ts";
import { type EventContent, type EventRow, toEvent } from "../events/event-message.ts";
import type { WebhookKey, WebhookSecret } from "./webhook.entity.ts";

export interface WebhookTarget {
  readonly url: string;
  readonly secrets: readonly WebhookSecret[];
  readonly isDisabled: boolean;
  readonly isFailing: boolean;
  readonly isTest: boolean;
}

export interface DueDelivery {
  readonly workspace: number;
  readonly webhook: string;
  readonly id: number;
  /** Subject of the event: a shipment's reference or a webhook's id. */
  readonly subject: string;
  readonly attempts: number;
  /** Number of initial attempts that fail without a request. null if no failures are simulated. */
  readonly simulatedFailures: number | null;
  /** `undefined` if the event is no longer stored. */
  readonly event: EventContent | undefined;
}

export interface DueQuery extends WebhookKey {
  /** Ids of deliveries to exclude, because they are already loaded. */
  readonly loaded: readonly number[];
  readonly limit: number;
}

/** A webhook and its due deliveries, earliest first. */
export interface DueResult {
  readonly target: WebhookTarget;
  readonly deliveries: readonly DueDelivery[];
}

const LOAD = `
  select asked.index, webhook.url, webhook.secrets::text,
    webhook.disabled_reason is not null as "isDisabled",
    webhook.failing_since is not null as "isFailing",
    exists (select from workspace where id = $1 and twin_of is not null) as "isTest",
    due.id::float8, due.subject, due.number, due.attempts,
    due.simulated_failures as "simulatedFailures",
    event.position::float8, event.type, event.data::text, event.actor, event.api_key as "apiKey", event.courier,
    date_part('epoch', event.created_at) * 1000 as "createdMs"
  from json_to_recordset($2) as asked (index int, webhook text, loaded bigint[], "limit" int)
  cross join lateral (
    select * from webhook where workspace_id = $1 and id = asked.webhook limit 1
  ) as webhook
  left join lateral (
    select * from webhook_delivery as delivery
    where delivery.workspace_id = $1 and delivery.webhook_id = asked.webhook
      and delivery.status = 'pending' and delivery.next_attempt_at <= now()
      and delivery.id <> all (asked.loaded)
    order by delivery.next_attempt_at, delivery.id limit asked."limit"
  ) as due on true
  left join lateral (
    select * from event
    where workspace_id = $1 and subject = due.subject and number = due.number limit 1
  ) as event on true
  order by asked.index, due.next_attempt_at, due.id`;

/**
 * Row of the result. The delivery's columns are null if none is due. The event's columns are null
 * if the event was purged.
 */
interface Row extends Omit<WebhookTarget, "secrets">, Omit<EventRow, "data"> {
  readonly index: number;
  readonly secrets: string;
  readonly id: number | null;
  readonly attempts: number;
  readonly simulatedFailures: number | null;
  readonly data: string | null;
}

/** Decrypts a webhook's stored secrets. Returns `undefined` if this process cannot decrypt them. */
export type OpenSecrets = (
  webhook: WebhookKey,
  stored: readonly WebhookSecret[],
) => readonly WebhookSecret[] | undefined;

/**
 * Reason for a missing result: `gone` if the webhook was deleted or its secrets cannot be decrypted, `unreachable` if
 * only the workspace's database node cannot be reached.
 */
export type Unloaded = "gone" | "unreachable";

/** Loads the due deliveries of webhooks. Returns a result for each query. */
export async function loadDueDeliveries(
  em: EntityManager,
  queries: readonly DueQuery[],
  open: OpenSecrets,
): Promise<(DueResult | Unloaded)[]> {
  const requests = queries.map((query, index) => ({ index, ...query }));
  const owned = byOwner(requests, ({ workspace }) => workspace);
  const values = owned.map(([workspace, own]) => [workspace, JSON.stringify(own)]);
  const rows = await runForEach<Row>(em, LOAD, values);
  const unreachable = new Set(owned.flatMap(([, own], i) => (rows[i] === undefined ? own : [])));
  const byIndex = Map.groupBy(
    rows.flatMap((own) => own ?? []),
    ({ index }) => index,
  );
  return queries.map((query, index) => {
    const found = byIndex.get(index);
    if (unreachable.has(requests[index]!)) return "unreachable";
    const target = found && toTarget(query, found[0]!, open);
    if (found === undefined || target === undefined) return "gone";
    return { target, deliveries: found.flatMap((row) => toDelivery(query, row) ?? []) };
  });
}

function toTarget(key: WebhookKey, row: Row, open: OpenSecrets): WebhookTarget | undefined {
  const { url, isDisabled, isFailing, isTest } = row;
  // A disabled webhook gets no requests, so its secrets are not needed.
  const secrets = isDisabled ? [] : open(key, JSON.parse(row.secrets) as WebhookSecret[]);
  return secrets && { url, secrets, isDisabled, isFailing, isTest };
}

function toDelivery({ workspace, webhook }: WebhookKey, row: Row): DueDelivery | undefined {
  const { id, subject, attempts, simulatedFailures, data } = row;
  if (id === null) return undefined;
  const event = data === null ? undefined : toEvent({ ...row, data });
  return { workspace, webhook, id, subject, attempts, simulatedFailures, event };
}
