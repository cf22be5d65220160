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
import { createFindProvider, type PaymentDeps } from "../features/payments/payment-provider.ts";
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
  const { createGroup } = given;
  const deps = {
    ...given,
    findShipment: createFindShipment(given.em, given.observeGroups),
    changeShipment: createChangeShipment(createGroup, given.events.announce),
    findProvider: createFindProvider(given.em, given.observeGroups),
  };
  const events = eventFunctions(deps);
  return {
    rpcs: [
      ...listRpcs(ShipmentService, shipmentFunctions(deps)),
      ...listRpcs(CustomerService, {
        getCustomer: (request, call) => getCustomer(request, call, deps.em),
        listCustomers: (request, call) => listCustomers(request, call, deps.em),
        updateCustomer: (request, call) => updateCustomer(request, call, deps.em),
      }),
      ...listRpcs(WorkspaceService, {
        getWorkspace: (_, call) =>
          getWorkspace(call, {
            em: deps.em,
            hasTariffInForce: async (em) => (await loadVersionInForce(em)) !== undefined,
          }),
      }),
      ...listRpcs(CoverageService, { getCoverage: (request) => getCoverage(request, deps) }),
      ...listRpcs(EventService, events),
      ...listRpcs(WebhookService, webhookFunctions(deps)),
      ...listRpcs(MemberService, {
        listMembers: (_, call) => listMembers(call, deps.em),
        inviteMember: (request, call) => inviteMember(request, call, deps.em),
        updateMember: (request, call) => updateMember(request, call, deps.em),
        removeMember: (request, call) => removeMember(request, call, deps.em),
      }),
      ...listRpcs(ApiKeyService, apiKeyFunctions(deps.em)),
      ...listRpcs(ReportService, {
        getUsage: (_, call) => getUsage(call, deps),
        getOverview: (request, call) => getOverview(request, call, deps),
      }),
    ],
    streams: listStreams(EventService, events),
  };
}

function shipmentFunctions(
  deps: ShipmentDeps & PaymentDeps & Pick<ServiceDeps, "events">,
): ServiceFunctions<typeof ShipmentService> {
  return {
    quoteShipment: (request) => quoteShipment(request, deps.tariffs),
    batchQuoteShipments: (request, call) => batchQuoteShipments(request, call, deps),
    createShipment: createBookShipment(deps, deps.events.announce),
    getShipment: (request, call) => getShipment(request, call, deps),
    listShipments: (request, call) => listShipments(request, call, deps),
    updateShipment: (request, call) => updateShipment(request, call, deps),
    advanceShipment: (request, call) => advanceShipment(request, call, deps),
    recordPayment: (request, call) => recordPayment(request, call, deps),
    recordRefund: (request, call) => recordRefund(request, call, deps),
    cancelShipment: (request, call) => cancelShipment(request, call, deps),
  };
}

function eventFunctions(deps: WatchDeps & ShipmentDeps): ServiceFunctions<typeof EventService> {
  return {
    listShipmentEvents: (request, call) => listShipmentEvents(request, call, deps),
    listEvents: (request, call) => listEvents(request, call, deps.em),
    watchEvents: (request, call, signal) => watchEvents(request, call, deps, signal),
  };
}

function webhookFunctions(deps: WebhookDeps): ServiceFunctions<typeof WebhookService> {
  return {
    createWebhook: (request, call) => createWebhook(request, call, deps),
    listWebhooks: (_, call) => listWebhooks(call, deps.em),
    getWebhook: (request, call) => getWebhook(request, call, deps.em),
    updateWebhook: (request, call) => updateWebhook(request, call, deps),
    deleteWebhook: (request, call) => deleteWebhook(request, call, deps.em),
    rotateWebhookSecret: (request, call) => rotateWebhookSecret(request, call, deps),
    testWebhook: (request, call) => testWebhook(request, call, deps),
    redeliverEvent: (request, call) => redeliverEvent(request, call, deps),
    listWebhookDeliveries: (request, call) => listWebhookDeliveries(request, call, deps.em),
    listWebhookAttempts: (request, call) => listWebhookAttempts(request, call, deps.em),
  };
}

function apiKeyFunctions(em: EntityManager): ServiceFunctions<typeof ApiKeyService> {
  return {
    listApiKeys: (_, call) => listApiKeys(call, em),
    createApiKey: (request, call) => createApiKey(request, call, em),
    updateApiKey: (request, call) => updateApiKey(request, call, em),
    rotateApiKey: (request, call) => rotateApiKey(request, call, em),
    revokeApiKey: (request, call) => revokeApiKey(request, call, em),
  };
}
