import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import type { PaymentConnection, PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import { assertProviderLimit, sealContext, type ConsumeCall } from "./payment-connections.ts";
import { ProviderRefused, type ProviderEvent, type EventRecipient } from "./payment-provider.ts";
import type { PaymentProviders } from "./payment-providers.ts";

/** Returns the signature header of each provider that sends events, by name. */
export function signatureHeaders(providers: PaymentProviders): Readonly<Record<string, string>> {
  const named = Object.values(providers).flatMap(({ name, online }) =>
    online === undefined ? [] : [[name, online.signatureHeader]],
  );
  return Object.fromEntries(named) as Record<string, string>;
}

export interface EventDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  readonly providers: PaymentProviders;
  readonly secretSeal: SecretSeal;
  readonly consumeCall: ConsumeCall;
}

export interface ReceivedEvent {
  readonly provider: string;
  /** Workspace in the URL. `undefined` for the platform's URL. */
  readonly workspace: number | undefined;
  /** Reads the request body, which the sender may transmit slowly. */
  readonly readBody: () => Promise<Buffer>;
  readonly signature: string;
}

/**
 * Verifies and stores an event for later processing. A redelivered event is stored once.
 *
 * @throws Refusal REQUEST_MALFORMED if the provider did not sign the event, RATE_LIMITED
 */
export async function receiveEvent(deps: EventDeps, received: ReceivedEvent): Promise<void> {
  const { em, now, providers } = deps;
  const { workspace, readBody, signature } = received;
  const provider = received.provider as PaymentProviderName;
  const { online } = providers[provider];
  const owner =
    workspace === undefined ? { own: undefined, account: null } : await loadOwner(deps, provider, workspace);
  if (online === undefined || owner === undefined) throw unsigned();
  const body = await readBody();
  const receivedAt = now();
  const event = await online.readEvent({ body, signature, receivedAt }, owner).catch((error: unknown) => {
    throw error instanceof ProviderRefused ? unsigned() : error;
  });
  if (event === undefined) return;
  if (workspace !== undefined) await assertProviderLimit(deps.consumeCall, "events", workspace);
  const account = event.account ?? owner.account!;
  await storeEvents(em, { provider, account, events: [event], at: receivedAt });
}

const INSERT = `
  insert into payment_notice
    (provider, account, received_at, due_at, id, type, live, shipment, payment)
  select $1, $2, $3, $3, *
  from unnest($4::text[], $5::text[], $6::boolean[], $7::text[], $8::text[])
  on conflict (provider, id) do nothing returning 1`;

/** Stores events of an account and skips duplicates. Returns the number of stored events. */
export async function storeEvents(
  em: EntityManager,
  {
    provider,
    account,
    events,
    at,
  }: {
    readonly provider: PaymentProviderName;
    readonly account: string;
    readonly events: readonly ProviderEvent[];
    readonly at: Date;
  },
): Promise<number> {
  const columns = (["id", "type", "live", "shipment", "payment"] as const).map((name) =>
    events.map((event) => event[name]),
  );
  const values = [provider, account, at.toISOString(), ...columns];
  return (await runStatement(em, INSERT, values)).length;
}

function unsigned(): Refusal {
  return refuse("REQUEST_MALFORMED", "The event is not signed by the payment provider.");
}

const SELECT = `
  select notice_secrets as "webhookSecrets", live, account from payment_connection
  where workspace_id = $1 and provider = $2 and notice_secrets is not null`;

/** Returns the signing secrets of a workspace with its own key, or `undefined` if there are none. */
async function loadOwner(
  { em, secretSeal }: EventDeps,
  provider: PaymentProviderName,
  workspace: number,
): Promise<(EventRecipient & Pick<PaymentConnection, "account">) | undefined> {
  type Stored = Pick<PaymentConnection, "webhookSecrets" | "live" | "account">;
  const [row] = await runStatement<Stored>(em, SELECT, [workspace, provider]);
  const opened = row && secretSeal.open(row.webhookSecrets!, sealContext(workspace, "notice_secrets"));
  return opened === undefined
    ? undefined
    : {
        own: { mode: row!.live ? "live" : "test", secrets: opened.split(",") },
        account: row!.account,
      };
}
