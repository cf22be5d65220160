import { fileURLToPath } from "node:url";
import { Migrator } from "@mikro-orm/migrations";
import { MikroORM, type EntityManager, type Options } from "@mikro-orm/postgresql";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { Customer } from "../features/customers/customer.entity.ts";
import { Event } from "../features/events/event.entity.ts";
import { WorkspaceLimit } from "../features/workspaces/workspace-limit.entity.ts";
import { KeptAnswer } from "../features/idempotency/stored-response.entity.ts";
import { Payment } from "../features/payments/payment.entity.ts";
import { TariffVersion } from "../features/tariffs/tariff.entity.ts";
import { Shipment } from "../features/shipments/shipment.entity.ts";
import { WebhookAttempt } from "../features/webhooks/webhook-attempt.entity.ts";
import { WebhookDelivery } from "../features/webhooks/webhook-delivery.entity.ts";
import { Webhook } from "../features/webhooks/webhook.entity.ts";
import { ApiKey } from "../features/workspaces/api-key.entity.ts";
import { PaymentConnection } from "../features/workspaces/payment-connection.entity.ts";
import { Workspace } from "../features/workspaces/workspace.entity.ts";
import { discardBrokenConnections } from "./broken-connections.ts";
import { prepareStatements } from "./prepared-statements.ts";

/**
 * Every bound on a connection's patience, in milliseconds; pg hands the first four to the server.
 */
const PATIENCE = {
  statement_timeout: 5_000,
  lock_timeout: 3_000,
  idle_in_transaction_session_timeout: 10_000,
  connectionTimeoutMillis: 2_000,
  query_timeout: 8_000,
} as const;
/** How many connections one process holds at most. */
export const MAX_CONNECTIONS = 20;

/**
 * The ORM on one database. A `patient` one lets statements take as long as they take, as migrations
 * may. Does not connect until it is used; fork its `em` for every unit of work,
 * and `close()` it at the end.
 */
export function createOrm(
  databaseUrl: string,
  { log, patient = false }: { log?: Logger; patient?: boolean } = {},
): MikroORM {
  return new MikroORM(ormOptions(databaseUrl, log, patient));
}

/** What unit-of-work code receives: an entity manager of its own. */
export type { EntityManager };

function ormOptions(databaseUrl: string, log: Logger | undefined, patient: boolean): Options {
  return {
    clientUrl: databaseUrl,
    entities: [
      Workspace,
      ApiKey,
      PaymentConnection,
      Customer,
      TariffVersion,
      Shipment,
      Payment,
      KeptAnswer,
      WorkspaceLimit,
      Event,
      Webhook,
      WebhookDelivery,
      WebhookAttempt,
    ],
    extensions: [Migrator],
    pool: { min: 0, max: MAX_CONNECTIONS },
    driverOptions: {
      ...(patient ? {} : PATIENCE),
      keepAlive: true,
      application_name: "shipments",
      onPoolCreated(pool: Pool) {
        discardBrokenConnections(pool);
        prepareStatements(pool);
      },
    },
    migrations: {
      path: fileURLToPath(new URL("migrations", import.meta.url)),
      tableName: "applied_migration",
      snapshotName: "schema-snapshot",
      // Only a developer's new migration writes it, never a server that migrates.
      snapshotOnMigrate: false,
      fileName: (timestamp: string, name?: string) => `${timestamp}-${name ?? "change"}`,
    },
    schemaGenerator: { ignoreSchema: ["graphile_worker"] },
    // Nothing here has two sides to keep alike, and units of work are flushed when they are done: the
    // accessors that MikroORM would define on every property of every row cost a third of a list.
    propagationOnPrototype: false,
    colors: false,
    logger: (message: string) => log?.debug(message),
  };
}
