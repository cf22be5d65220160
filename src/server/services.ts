import type { DescService } from "@bufbuild/protobuf";
import { ApiKeyService } from "../../gen/shipments/v1/api_key_service_pb.js";
import { CoverageService } from "../../gen/shipments/v1/coverage_service_pb.js";
import { CustomerService } from "../../gen/shipments/v1/customer_service_pb.js";
import { EventService } from "../../gen/shipments/v1/event_service_pb.js";
import { MemberService } from "../../gen/shipments/v1/member_service_pb.js";
import { ReportService } from "../../gen/shipments/v1/report_service_pb.js";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { WebhookService } from "../../gen/shipments/v1/webhook_service_pb.js";
import { WorkspaceService } from "../../gen/shipments/v1/workspace_service_pb.js";
import type { ObserveGroups } from "../db/group-queue.ts";
import type { EntityManager } from "../db/orm.ts";
import { createApiKey } from "../features/api-keys/create-api-key.ts";
import { listApiKeys } from "../features/api-keys/list-api-keys.ts";
import { revokeApiKey } from "../features/api-keys/revoke-api-key.ts";
import { rotateApiKey } from "../features/api-keys/rotate-api-key.ts";
import { updateApiKey } from "../features/api-keys/update-api-key.ts";
import { getCustomer } from "../features/customers/get-customer.ts";
import { listCustomers } from "../features/customers/list-customers.ts";
import { updateCustomer } from "../features/customers/update-customer.ts";
import type { EventAnnouncer } from "../features/events/event-announcer.ts";
import { listEvents } from "../features/events/list-events.ts";
import { watchEvents, type WatchDeps } from "../features/events/watch-events.ts";
import { recordPayment } from "../features/payments/record-payment.ts";
import { recordRefund } from "../features/payments/record-refund.ts";
import { getOverview, type OverviewDeps } from "../features/reports/get-overview.ts";
import { getUsage } from "../features/reports/get-usage.ts";
import type { UsageCounter } from "../features/reports/usage-counter.ts";
import { advanceShipment } from "../features/shipments/advance-shipment.ts";
import { batchQuoteShipments } from "../features/shipments/batch-quote-shipments.ts";
import { cancelShipment } from "../features/shipments/cancel-shipment.ts";
import { createChangeShipment, type ShipmentDeps } from "../features/shipments/change-shipment.ts";
import { createBookShipment } from "../features/shipments/create-shipment.ts";
import { createFindShipment } from "../features/shipments/find-shipment.ts";
import { getShipment } from "../features/shipments/get-shipment.ts";
import { listShipmentEvents } from "../features/shipments/list-shipment-events.ts";
import { listShipments } from "../features/shipments/list-shipments.ts";
import { quoteShipment } from "../features/shipments/quote-shipment.ts";
import { updateShipment } from "../features/shipments/update-shipment.ts";
import { loadVersionInForce } from "../features/tariffs/versions/load-version.ts";
import { getCoverage, type CoverageDeps } from "../features/tariffs/coverage/get-coverage.ts";
import { createWebhook } from "../features/webhooks/create-webhook.ts";
import { deleteWebhook } from "../features/webhooks/delete-webhook.ts";
import { getWebhook } from "../features/webhooks/get-webhook.ts";
import { listWebhookAttempts } from "../features/webhooks/list-webhook-attempts.ts";
import { listWebhookDeliveries } from "../features/webhooks/list-webhook-deliveries.ts";
import { listWebhooks } from "../features/webhooks/list-webhooks.ts";
import { redeliverEvent } from "../features/webhooks/redeliver-event.ts";
import { rotateWebhookSecret } from "../features/webhooks/rotate-webhook-secret.ts";
import { testWebhook } from "../features/webhooks/test-webhook.ts";
import { updateWebhook } from "../features/webhooks/update-webhook.ts";
import type { WebhookDeps } from "../features/webhooks/webhooks.ts";
import { inviteMember } from "../features/people/invite-member.ts";
import { listMembers } from "../features/people/list-members.ts";
import { removeMember } from "../features/people/remove-member.ts";
import { updateMember } from "../features/people/update-member.ts";
import { getWorkspace } from "../features/workspaces/get-workspace.ts";
import type { Call } from "../pipeline/call.ts";
import {
  listRpcs,
  listStreams,
  type Rpc,
  type ServiceFunctions,
  type StreamRpc,
} from "../pipeline/rpc.ts";

/** The services that callers with a workspace's key can call. */
export const SERVICES = [
  ShipmentService,
  CustomerService,
  WorkspaceService,
  CoverageService,
  EventService,
  WebhookService,
  MemberService,
  ApiKeyService,
  ReportService,
];

/** What the RPCs work with. */
export type ServiceDeps = Omit<ShipmentDeps, "findShipment" | "changeShipment"> &
  WatchDeps &
  CoverageDeps &
  WebhookDeps &
  OverviewDeps & {
    readonly events: Pick<EventAnnouncer, "announce">;
    readonly usage: UsageCounter;
    readonly observeGroups: ObserveGroups;
  };

/** Pairs every RPC of `SERVICES` with the function that performs it. */
export function implementServices(given: ServiceDeps): {
  readonly rpcs: readonly Rpc[];
  readonly streams: readonly StreamRpc[];
} {
  const deps = {
    ...given,
    findShipment: createFindShipment(given.em, given.observeGroups),
    changeShipment: createChangeShipment(given.createGroup, given.events.announce),
    hasTariffInForce: async (em: EntityManager) => (await loadVersionInForce(em)) !== undefined,
  };
  const list = <S extends DescService>(
    service: S,
    functions: ServiceFunctions<S, Call, typeof deps>,
  ) => listRpcs(service, functions, deps);
  const events = { listShipmentEvents, listEvents, watchEvents };
  return {
    rpcs: [
      ...list(ShipmentService, {
        quoteShipment,
        batchQuoteShipments,
        createShipment: createBookShipment(deps, deps.events.announce),
        getShipment,
        listShipments,
        updateShipment,
        advanceShipment,
        recordPayment,
        recordRefund,
        cancelShipment,
      }),
      ...list(CustomerService, { getCustomer, listCustomers, updateCustomer }),
      ...list(WorkspaceService, { getWorkspace }),
      ...list(CoverageService, { getCoverage }),
      ...list(EventService, events),
      ...list(WebhookService, {
        createWebhook,
        listWebhooks,
        getWebhook,
        updateWebhook,
        deleteWebhook,
        rotateWebhookSecret,
        testWebhook,
        redeliverEvent,
        listWebhookDeliveries,
        listWebhookAttempts,
      }),
      ...list(MemberService, { listMembers, inviteMember, updateMember, removeMember }),
      ...list(ApiKeyService, {
        listApiKeys,
        createApiKey,
        updateApiKey,
        rotateApiKey,
        revokeApiKey,
      }),
      ...list(ReportService, { getUsage, getOverview }),
    ],
    streams: listStreams<typeof EventService, Call, typeof deps>(EventService, events, deps),
  };
}
