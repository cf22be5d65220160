import type { DescService } from "@bufbuild/protobuf";
import { AddressService } from "../../gen/shipments/v1/address_service_pb.js";
import { ApiKeyService } from "../../gen/shipments/v1/api_key_service_pb.js";
import { CoverageService } from "../../gen/shipments/v1/coverage_service_pb.js";
import { CustomerService } from "../../gen/shipments/v1/customer_service_pb.js";
import { EventService } from "../../gen/shipments/v1/event_service_pb.js";
import { MemberService } from "../../gen/shipments/v1/member_service_pb.js";
import { PaymentConnectionService } from "../../gen/shipments/v1/payment_connection_service_pb.js";
import { QuoteService } from "../../gen/shipments/v1/quote_service_pb.js";
import { ReportService } from "../../gen/shipments/v1/report_service_pb.js";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { TestService } from "../../gen/shipments/v1/test_service_pb.js";
import { WebhookService } from "../../gen/shipments/v1/webhook_service_pb.js";
import { WorkspaceService } from "../../gen/shipments/v1/workspace_service_pb.js";
import type { ObserveGroups } from "../db/group-queue.ts";
import type { EntityManager } from "../db/orm.ts";
import { ADDRESS_FUNCTIONS, type AddressDeps } from "../features/addresses/address-functions.ts";
import { CUSTOMER_FUNCTIONS } from "../features/customers/customer-functions.ts";
import type { EventAnnouncer } from "../features/events/event-announcer.ts";
import { EVENT_FUNCTIONS, type WatchDeps } from "../features/events/event-functions.ts";
import { acceptUncountedPayment } from "../features/payments/accept-uncounted-payment.ts";
import type { ConnectionDeps } from "../features/payments/payment-connections.ts";
import { createCheckout, type CheckoutDeps } from "../features/payments/create-checkout.ts";
import {
  batchRecordPayments,
  recordPayment,
  type RecordDeps,
} from "../features/payments/record-payment.ts";
import { PAYMENT_CONNECTION_FUNCTIONS } from "../features/payments/payment-connection-functions.ts";
import { recordRefund } from "../features/payments/record-refund.ts";
import { retryRefund } from "../features/payments/retry-refund.ts";
import { QUOTE_FUNCTIONS, type QuoteDeps } from "../features/quotes/quote-functions.ts";
import { getAttention } from "../features/reports/get-attention.ts";
import { getOverview, type OverviewDeps } from "../features/reports/get-overview.ts";
import { loadCustomerFigures } from "../features/reports/customer-figures.ts";
import { getUsage } from "../features/reports/get-usage.ts";
import { updateWorkspace } from "../features/workspace-admin/update-workspace.ts";
import type { UsageCounter } from "../features/reports/usage-counter.ts";
import { advanceShipment, batchAdvanceShipments } from "../features/shipments/advance-shipment.ts";
import { batchQuoteShipments } from "../features/shipments/batch-quote-shipments.ts";
import { batchCancelShipments, cancelShipment } from "../features/shipments/cancel-shipment.ts";
import type { ShipmentDeps } from "../features/shipments/change-shipment.ts";
import { countShipments } from "../features/shipments/count-shipments.ts";
import { createBookShipment } from "../features/shipments/create-shipment.ts";
import { exportShipments } from "../features/shipments/export-shipments.ts";
import { createFindShipment } from "../features/shipments/find-shipment.ts";
import { getShipment } from "../features/shipments/get-shipment.ts";
import { listShipmentEvents } from "../features/shipments/list-shipment-events.ts";
import { listPickupSlots } from "../features/shipments/list-pickup-slots.ts";
import { listShipments } from "../features/shipments/list-shipments.ts";
import { mergeCustomers } from "../features/shipments/merge-customers.ts";
import { quoteShipment } from "../features/shipments/quote-shipment.ts";
import { searchShipments } from "../features/shipments/search-shipments.ts";
import { updateShipment } from "../features/shipments/update-shipment.ts";
import { loadVersionInForce } from "../features/tariffs/versions/load-version.ts";
import {
  COVERAGE_FUNCTIONS,
  type CoverageDeps,
} from "../features/tariffs/coverage/coverage-functions.ts";
import { WEBHOOK_FUNCTIONS } from "../features/webhooks/webhook-functions.ts";
import type { WebhookDeps } from "../features/webhooks/webhooks.ts";
import { TEST_MODE_FUNCTIONS } from "../features/test-mode/test-mode-functions.ts";
import type { SimulationDeps } from "../features/test-mode/simulations.ts";
import { byTestClock, type TestTimes } from "../features/workspaces/test-clock.ts";
import { getWorkspace } from "../features/workspaces/get-workspace.ts";
import { API_KEY_FUNCTIONS } from "../features/api-keys/api-key-functions.ts";
import { createTransact } from "../features/idempotency/with-idempotency.ts";
import { MEMBER_FUNCTIONS } from "../features/people/member-functions.ts";
import type { Call } from "../pipeline/call.ts";
import {
  listRpcs,
  listStreams,
  type Rpc,
  type ServiceFunctions,
  type StreamRpc,
  type Transact,
} from "../pipeline/rpc.ts";

/** The services that callers with a workspace's key can call. */
export const SERVICES = [
  ShipmentService,
  QuoteService,
  CustomerService,
  WorkspaceService,
  CoverageService,
  EventService,
  WebhookService,
  MemberService,
  ApiKeyService,
  ReportService,
  TestService,
  PaymentConnectionService,
  AddressService,
];

/** What the RPCs work with. */
export type ServiceDeps = Omit<ShipmentDeps, "findShipment"> &
  QuoteDeps &
  WatchDeps &
  CoverageDeps &
  WebhookDeps &
  ConnectionDeps &
  CheckoutDeps &
  RecordDeps &
  OverviewDeps &
  AddressDeps &
  SimulationDeps & {
    readonly events: Pick<EventAnnouncer, "announce">;
    readonly usage: UsageCounter;
    readonly observeGroups: ObserveGroups;
    readonly testTimes: TestTimes;
  };

const CHANGES = {
  updateShipment,
  advanceShipment,
  recordPayment,
  recordRefund,
  createCheckout,
  retryRefund,
  acceptUncountedPayment,
  cancelShipment,
  batchAdvanceShipments,
  batchCancelShipments,
  batchRecordPayments,
};

/** Pairs every RPC of `SERVICES` with the function that performs it. */
export function implementServices(given: ServiceDeps): {
  readonly rpcs: readonly Rpc[];
  readonly streams: readonly StreamRpc[];
} {
  const deps = {
    ...given,
    findShipment: createFindShipment(given.em, given.observeGroups, given.versionFees),
    loadCustomerFigures,
    hasGeocoder: given.addresses !== undefined,
    hasTariffInForce: async (em: EntityManager) => (await loadVersionInForce(em)) !== undefined,
  };
  const streams: StreamRpc[] = [];
  const listWith =
    (transact?: Transact<typeof deps>) =>
    <S extends DescService>(service: S, functions: ServiceFunctions<S, Call, typeof deps>) => {
      streams.push(...listStreams(service, functions, deps));
      return listRpcs(service, functions, deps, transact);
    };
  const list = listWith(createTransact(deps));
  /** Of services whose writes share transactions, or take several. */
  const listOwn = listWith();
  return {
    rpcs: [
      ...listOwn(ShipmentService, {
        quoteShipment: byTestClock(quoteShipment),
        batchQuoteShipments: byTestClock(batchQuoteShipments),
        listPickupSlots: byTestClock(listPickupSlots),
        getShipment,
        listShipments,
        countShipments,
        exportShipments,
        searchShipments,
        createShipment: createBookShipment(deps, deps.events.announce),
        ...CHANGES,
      }),
      ...list(QuoteService, QUOTE_FUNCTIONS),
      ...list(CustomerService, { ...CUSTOMER_FUNCTIONS, mergeCustomers }),
      ...list(WorkspaceService, { getWorkspace, getAttention, updateWorkspace }),
      ...list(CoverageService, COVERAGE_FUNCTIONS),
      ...list(EventService, { listShipmentEvents, ...EVENT_FUNCTIONS }),
      ...list(WebhookService, WEBHOOK_FUNCTIONS),
      ...list(MemberService, MEMBER_FUNCTIONS),
      ...list(ApiKeyService, API_KEY_FUNCTIONS),
      ...list(ReportService, { getUsage, getOverview: byTestClock(getOverview) }),
      ...listOwn(TestService, TEST_MODE_FUNCTIONS),
      ...list(PaymentConnectionService, PAYMENT_CONNECTION_FUNCTIONS),
      ...list(AddressService, ADDRESS_FUNCTIONS),
    ],
    streams,
  };
}
