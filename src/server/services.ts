import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { AddressService } from "../../gen/shipments/v1/address_service_pb.js";
import { ApiKeyService } from "../../gen/shipments/v1/api_key_service_pb.js";
import { CourierService } from "../../gen/shipments/v1/courier_service_pb.js";
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
import { AuditService } from "../../gen/shipments/admin/v1/audit_service_pb.js";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { PlatformReportService } from "../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { SlotService } from "../../gen/shipments/admin/v1/slot_service_pb.js";
import { TariffService } from "../../gen/shipments/admin/v1/tariff_service_pb.js";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { AccountService } from "../../gen/shipments/account/v1/account_service_pb.js";
import type { ObserveGroups } from "../db/group-queue.ts";
import type { EntityManager, DatabaseDeps } from "../db/orm.ts";
import { ADDRESS_FUNCTIONS, type AddressDeps } from "../features/addresses/address-functions.ts";
import { API_KEY_FUNCTIONS } from "../features/api-keys/api-key-functions.ts";
import { listAuditEntries } from "../features/audit/list-audit-entries.ts";
import { COURIER_LINK_FUNCTIONS } from "../features/couriers/courier-links.ts";
import { COURIER_FUNCTIONS } from "../features/couriers/couriers.ts";
import { CUSTOMER_FUNCTIONS } from "../features/customers/customer-functions.ts";
import type { EventAnnouncer } from "../features/events/event-announcer.ts";
import { EVENT_FUNCTIONS, type WatchDeps } from "../features/events/event-functions.ts";
import { createTransact } from "../features/idempotency/with-idempotency.ts";
import { OPERATOR_FUNCTIONS } from "../features/operators/operator-functions.ts";
import type { ConnectionDeps } from "../features/payments/payment-connections.ts";
import { PAYMENT_FUNCTIONS, type PaymentDeps } from "../features/payments/payment-functions.ts";
import { PAYMENT_CONNECTION_FUNCTIONS } from "../features/payments/payment-connection-functions.ts";
import { MEMBER_FUNCTIONS } from "../features/people/member-functions.ts";
import { ACCOUNT_FUNCTIONS } from "../features/people/account-functions.ts";
import { QUOTE_FUNCTIONS, type QuoteDeps } from "../features/quotes/quote-functions.ts";
import { getAttention } from "../features/reports/get-attention.ts";
import { getOverview, type OverviewDeps } from "../features/reports/get-overview.ts";
import { loadCourierFigures } from "../features/reports/courier-figures.ts";
import { loadCustomerFigures } from "../features/reports/customer-figures.ts";
import { countCustomers, holdCustomerCounts } from "../features/reports/roll-up-customers.ts";
import { listRequests } from "../features/reports/list-requests.ts";
import { getUsage } from "../features/reports/get-usage.ts";
import type { UsageCounter } from "../features/reports/usage-counter.ts";
import { getHealth, type HealthDeps } from "../features/reports/get-health.ts";
import { getPlatformAttention } from "../features/reports/get-platform-attention.ts";
import { getPlatformOverview, type PlatformOverviewDeps } from "../features/reports/get-platform-overview.ts";
import type { ShipmentDeps } from "../features/shipments/shipment-deps.ts";
import { SHIPMENT_CHANGES, SHIPMENT_FUNCTIONS } from "../features/shipments/shipment-functions.ts";
import { createBookShipment } from "../features/shipments/create-shipment.ts";
import { createFindShipment } from "../features/shipments/find-shipment.ts";
import { getRun } from "../features/shipments/get-run.ts";
import { listShipmentEvents } from "../features/shipments/list-shipment-events.ts";
import { holdSlot } from "../features/shipments/hold-slot.ts";
import { mergeCustomers } from "../features/shipments/merge-customers.ts";
import { SLOT_FUNCTIONS, type SlotDeps } from "../features/slots/slot-functions.ts";
import { COVERAGE_FUNCTIONS, type CoverageDeps } from "../features/tariffs/coverage/coverage-functions.ts";
import { DRAFT_FUNCTIONS } from "../features/tariffs/drafts/draft-functions.ts";
import type { DraftDeps } from "../features/tariffs/drafts/check-stored-draft.ts";
import { loadVersionInForce } from "../features/tariffs/versions/load-version.ts";
import { createZonesLoader } from "../features/tariffs/versions/zones-document.ts";
import { VERSION_FUNCTIONS } from "../features/tariffs/versions/version-functions.ts";
import { TEST_MODE_FUNCTIONS } from "../features/test-mode/test-mode-functions.ts";
import type { SimulationDeps } from "../features/test-mode/simulations.ts";
import { WEBHOOK_FUNCTIONS } from "../features/webhooks/webhook-functions.ts";
import type { WebhookDeps } from "../features/webhooks/webhooks.ts";
import { rotateTrackingLinks, updateWorkspace } from "../features/workspace-admin/update-workspace.ts";
import { WORKSPACE_ADMIN_FUNCTIONS } from "../features/workspace-admin/workspace-admin-functions.ts";
import { byTestClock, type TestTimes } from "../features/workspaces/test-clock.ts";
import { getWorkspace } from "../features/workspaces/get-workspace.ts";
import type { Call, OperatorCall } from "../pipeline/call.ts";
import { listRpcs, listStreams, type Rpc, type ServiceFunctions, type StreamRpc } from "../pipeline/rpc.ts";

/** Services that a workspace's key can call. */
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
  CourierService,
];

const METHODS: ReadonlyMap<string, DescMethod> = new Map(
  SERVICES.flatMap(({ methods }) => methods.map((method) => [method.name, method] as const)),
);

export type ServiceDeps = Omit<ShipmentDeps, "findShipment"> &
  QuoteDeps &
  WatchDeps &
  CoverageDeps &
  WebhookDeps &
  ConnectionDeps &
  PaymentDeps &
  OverviewDeps &
  AddressDeps &
  SimulationDeps & {
    readonly events: Pick<EventAnnouncer, "announce">;
    readonly usage: UsageCounter;
    readonly observeGroups: ObserveGroups;
    readonly testTimes: TestTimes;
  };

export function implementServices(base: ServiceDeps) {
  const deps = {
    ...base,
    findShipment: createFindShipment(base.em, base.observeGroups, base.versionFees),
    loadCustomerFigures,
    holdCustomerCounts,
    countCustomers,
    loadCourierFigures,
    methods: METHODS,
    hasGeocoder: base.addresses !== undefined,
    currencyInForce: () =>
      base.tariffs.currentVersion() === undefined ? undefined : base.tariffs.current().pricing.fees.currency,
    hasTariffInForce: async (em: EntityManager) => (await loadVersionInForce(em)) !== undefined,
  };
  const streams: StreamRpc[] = [];
  const transact = createTransact(deps);
  const list = <S extends DescService>(service: S, functions: ServiceFunctions<S, Call, typeof deps>, own?: object) => {
    streams.push(...listStreams(service, functions, deps));
    return listRpcs(service, functions, deps, transact, own);
  };
  const changes = {
    ...SHIPMENT_CHANGES,
    ...PAYMENT_FUNCTIONS,
    createShipment: createBookShipment(deps, deps.events.announce),
  };
  return {
    rpcs: [
      ...list(ShipmentService, { ...SHIPMENT_FUNCTIONS, ...changes }, changes),
      ...list(QuoteService, { ...QUOTE_FUNCTIONS, holdSlot }),
      ...list(CustomerService, { ...CUSTOMER_FUNCTIONS, mergeCustomers }),
      ...list(WorkspaceService, {
        getWorkspace,
        getAttention: byTestClock(getAttention),
        updateWorkspace,
        rotateTrackingLinks,
      }),
      ...list(CoverageService, COVERAGE_FUNCTIONS),
      ...list(EventService, { listShipmentEvents, ...EVENT_FUNCTIONS }),
      ...list(WebhookService, WEBHOOK_FUNCTIONS),
      ...list(MemberService, MEMBER_FUNCTIONS),
      ...list(ApiKeyService, API_KEY_FUNCTIONS),
      ...list(ReportService, { getUsage, listRequests, getOverview: byTestClock(getOverview) }),
      ...list(TestService, TEST_MODE_FUNCTIONS, TEST_MODE_FUNCTIONS),
      ...list(PaymentConnectionService, PAYMENT_CONNECTION_FUNCTIONS),
      ...list(AddressService, ADDRESS_FUNCTIONS),
      ...list(CourierService, {
        ...COURIER_FUNCTIONS,
        ...COURIER_LINK_FUNCTIONS,
        getRun: byTestClock(getRun),
        listCouriers: byTestClock(COURIER_FUNCTIONS.listCouriers),
        getCourier: byTestClock(COURIER_FUNCTIONS.getCourier),
      }),
    ],
    streams,
  };
}

/** Services that an operator's key can call. */
export const ADMIN_SERVICES = [
  OperatorService,
  AuditService,
  WorkspaceAdminService,
  TariffService,
  SlotService,
  PlatformReportService,
];

export type AdminDeps = DraftDeps & SlotDeps & PlatformOverviewDeps & HealthDeps;

export function implementAdminServices(base: AdminDeps): readonly Rpc[] {
  const deps = { ...base, loadZones: createZonesLoader(base.em) };
  const transact = createTransact(deps);
  const list = <S extends DescService>(service: S, functions: ServiceFunctions<S, OperatorCall, typeof deps>) =>
    listRpcs(service, functions, deps, transact);
  return [
    ...list(OperatorService, OPERATOR_FUNCTIONS),
    ...list(AuditService, { listAuditEntries }),
    ...list(WorkspaceAdminService, WORKSPACE_ADMIN_FUNCTIONS),
    ...list(TariffService, { ...DRAFT_FUNCTIONS, ...VERSION_FUNCTIONS }),
    ...list(SlotService, SLOT_FUNCTIONS),
    ...list(PlatformReportService, { getPlatformOverview, getHealth, getPlatformAttention }),
  ];
}

export const ACCOUNT_SERVICES = [AccountService];

export function implementAccountServices(deps: DatabaseDeps): readonly Rpc[] {
  return listRpcs(AccountService, ACCOUNT_FUNCTIONS, deps, createTransact(deps));
}

/** Services that change identities or permissions. */
const CHANGING_CALLERS: readonly DescService[] = [
  AccountService,
  MemberService,
  OperatorService,
  WorkspaceAdminService,
];

/**
 * Clears cached sessions and operator keys after each call that may have changed them. Changes then
 * take effect immediately in this process, and within a second in others.
 */
export function forgetCallersAfter(rpcs: readonly Rpc[], forgetAll: () => void): readonly Rpc[] {
  return rpcs.map((rpc) => {
    if (rpc.readOnly || !CHANGING_CALLERS.includes(rpc.method.parent)) return rpc;
    const run: Rpc["run"] = async (request, call) => {
      try {
        return await rpc.run(request, call);
      } finally {
        forgetAll();
      }
    };
    return { ...rpc, run };
  });
}
