import type { DescService } from "@bufbuild/protobuf";
import {
  AddressService,
  ApiKeyService,
  CourierService,
  CoverageService,
  CustomerService,
  EventService,
  MemberService,
  PaymentConnectionService,
  QuoteService,
  ReportService,
  ShipmentService,
  TestService,
  WebhookService,
  WorkspaceService,
  type Event,
} from "../../gen/client/definitions.js";
import { createCalls, type Calls } from "./calls.ts";
import { createFetchTransport, type Endpoint } from "./fetch-transport.ts";
import { followEvents, type FollowOptions } from "./follow-events.ts";
import { retryCalls, type RetryOptions } from "./retry-calls.ts";

export { Code } from "@connectrpc/connect";
export { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
export type { CallOptions, Calls } from "./calls.ts";
export * from "../../gen/client/definitions.js";
export { followEvents, type FollowOptions } from "./follow-events.ts";
export type { Pages } from "./pages.ts";
export type { FactsOf, Reason } from "./reasons.ts";
export type { RetryOptions } from "./retry-calls.ts";
export { ShipmentsError } from "./shipments-error.ts";
export { verifyWebhook, WebhookError, type WebhookHeaders, type WebhookOptions } from "./verify-webhook.ts";

export interface ClientOptions extends Endpoint {
  readonly retry?: RetryOptions;
}

export interface Client {
  readonly addresses: Calls<typeof AddressService>;
  readonly apiKeys: Calls<typeof ApiKeyService>;
  readonly couriers: Calls<typeof CourierService>;
  readonly coverage: Calls<typeof CoverageService>;
  readonly customers: Calls<typeof CustomerService>;
  readonly events: Calls<typeof EventService> & {
    /** See `followEvents`. */
    follow(options?: FollowOptions): AsyncGenerator<Event, void, void>;
  };
  readonly members: Calls<typeof MemberService>;
  readonly paymentConnections: Calls<typeof PaymentConnectionService>;
  readonly quotes: Calls<typeof QuoteService>;
  readonly reports: Calls<typeof ReportService>;
  readonly shipments: Calls<typeof ShipmentService>;
  readonly test: Calls<typeof TestService>;
  readonly webhooks: Calls<typeof WebhookService>;
  readonly workspace: Calls<typeof WorkspaceService>;
}

/**
 * Creates a client with all calls of a workspace:
 *
 *     const client = createClient({ url: "https://shipments.example.org", key: "shp_test_..." });
 *     const { data } = await client.shipments.getShipment({ shipment: "SHP-4T8ZK2M0QWXE" });
 *
 * Calls throw `ShipmentsError` if retries fail.
 */
export function createClient(options: ClientOptions): Client {
  const transport = connect(options);
  const events = createCalls(EventService, transport);
  return {
    addresses: createCalls(AddressService, transport),
    apiKeys: createCalls(ApiKeyService, transport),
    couriers: createCalls(CourierService, transport),
    coverage: createCalls(CoverageService, transport),
    customers: createCalls(CustomerService, transport),
    events: { ...events, follow: (following) => followEvents(events, following) },
    members: createCalls(MemberService, transport),
    paymentConnections: createCalls(PaymentConnectionService, transport),
    quotes: createCalls(QuoteService, transport),
    reports: createCalls(ReportService, transport),
    shipments: createCalls(ShipmentService, transport),
    test: createCalls(TestService, transport),
    webhooks: createCalls(WebhookService, transport),
    workspace: createCalls(WorkspaceService, transport),
  };
}

/**
 * Creates a client for one service, for smaller bundles:
 *
 *     const shipments = createServiceClient(ShipmentService, { url, key });
 */
export function createServiceClient<S extends DescService>(service: S, options: ClientOptions): Calls<S> {
  return createCalls(service, connect(options));
}

function connect({ retry, ...endpoint }: ClientOptions) {
  return retryCalls(createFetchTransport(endpoint), retry);
}
