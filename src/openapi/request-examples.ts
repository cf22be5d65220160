import type { Json } from "./options.ts";

/** Midtown Manhattan to Brooklyn, which the sample tariff covers. */
const ROUTE = {
  pickup_lat: 40.758,
  pickup_lng: -73.9855,
  dropoff_lat: 40.6782,
  dropoff_lng: -73.9442,
  weight_kg: 2.5,
} as const;

/** A body for each message that is one, by its full name: what "Try it out" begins with. */
export const REQUEST_EXAMPLES: Readonly<Record<string, Json>> = {
  "shipments.v1.QuoteShipmentRequest": ROUTE,
  "shipments.v1.BatchQuoteShipmentsRequest": { routes: [ROUTE, { ...ROUTE, weight_kg: 10 }] },
  "shipments.v1.CreateShipmentRequest": {
    customer_name: "Ada Lovelace",
    customer_email: "ada@example.org",
    pickup_address: "1 Times Square, New York",
    dropoff_address: "95 Prospect Park West, Brooklyn",
    ...ROUTE,
  },
  "shipments.v1.UpdateShipmentRequest": { dropoff_address: "97 Prospect Park West, Brooklyn" },
  "shipments.v1.UpdateCustomerRequest": { id_number: "AB 12" },
  "shipments.v1.CancelShipmentRequest": { reason: "customer_request" },
  "shipments.v1.RecordPaymentRequest": { amount: 12.69, currency: "USD" },
  "shipments.v1.CreateWebhookRequest": {
    url: "https://shop.example.org/hooks",
    types: ["shipment.created", "shipment.delivered"],
  },
  "shipments.v1.UpdateWebhookRequest": { enabled: true },
  "shipments.v1.RedeliverEventRequest": { event: "evt_SHP-4T8ZK2M0QWXE_2" },
  "shipments.v1.RotateWebhookSecretRequest": { overlap_seconds: 3_600 },
  "shipments.v1.CreateApiKeyRequest": { name: "Web shop" },
  "shipments.v1.UpdateApiKeyRequest": { name: "Web shop, reports", scope: "read_only" },
  "shipments.v1.RotateApiKeyRequest": { overlap_seconds: 3_600 },
  "shipments.v1.InviteMemberRequest": { email: "grace@example.org", role: "member" },
  "shipments.v1.UpdateMemberRequest": { role: "admin" },
  "shipments.account.v1.UpdateAccountRequest": { name: "Grace Hopper" },
  "shipments.admin.v1.CreateOperatorRequest": {
    name: "Grace Hopper",
    kind: "person",
    email: "grace@example.org",
    role: "operator",
  },
  "shipments.admin.v1.UpdateOperatorRequest": { role: "viewer" },
  "shipments.admin.v1.CreateOperatorKeyRequest": { name: "Deployments" },
  "shipments.admin.v1.RotateOperatorKeyRequest": { overlap_seconds: 3_600 },
  "shipments.admin.v1.CreateWorkspaceRequest": { name: "Web shop", payment_provider: "manual" },
  "shipments.admin.v1.RenameWorkspaceRequest": { name: "Web shop, New York" },
  "shipments.admin.v1.ConnectPaymentProviderRequest": { payment_provider: "manual" },
  "shipments.admin.v1.CreateWorkspaceApiKeyRequest": { name: "Web shop" },
  "shipments.admin.v1.UpdateWorkspaceApiKeyRequest": { scope: "read_only" },
  "shipments.admin.v1.RotateWorkspaceApiKeysRequest": { overlap_seconds: 3_600 },
  "shipments.admin.v1.UpdateWorkspaceLimitsRequest": { write: { rate: 100, burst: 200 } },
  "shipments.admin.v1.InviteWorkspaceMemberRequest": { email: "grace@example.org", role: "admin" },
  "shipments.admin.v1.CreateTariffDraftRequest": { name: "Spring", from_version: 1 },
  "shipments.admin.v1.UpdateTariffDraftRequest": { name: "Spring and summer" },
  "shipments.admin.v1.PublishTariffRequest": { replaces: 1, note: "Dearer fuel" },
  "shipments.admin.v1.ReplayTariffRequest": { shipments: 1_000, routes: [ROUTE] },
  "shipments.admin.v1.RollBackTariffRequest": { replaces: 2, note: "Prices were too high" },
};
