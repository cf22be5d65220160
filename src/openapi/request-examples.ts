import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { enumNames } from "../json/decode-scalar.ts";
import type { Json } from "./options.ts";
import type { Schemas } from "./schemas.ts";

/** Route from Midtown Manhattan to Brooklyn, which the sample tariff covers. */
const ROUTE = {
  pickup_lat: 40.758,
  pickup_lng: -73.9855,
  dropoff_lat: 40.6782,
  dropoff_lng: -73.9442,
  weight_kg: 2.5,
} as const;

/** Example values of fields by name. Other fields get a value that fits their type and rules. */
const VALUES: Json = {
  ...ROUTE,
  routes: [ROUTE, { ...ROUTE, weight_kg: 10 }],
  lat: 40.758,
  lng: -73.9855,
  customer_name: "Ada Lovelace",
  customer_email: "ada@example.org",
  pickup_address: "1 Times Square, New York",
  dropoff_address: "95 Prospect Park West, Brooklyn",
  shipment: "SHP-4T8ZK2M0QWXE",
  shipments: ["SHP-4T8ZK2M0QWXE"],
  event: "evt_SHP-4T8ZK2M0QWXE_2",
  amount: 12.69,
  currency: "USD",
  return_url: "https://shop.example.org/payments/done",
  refresh_url: "https://shop.example.org/payments/again",
  success_url: "https://shop.example.org/paid",
  cancel_url: "https://shop.example.org/cart",
  url: "https://shop.example.org/hooks",
  restricted_key: "rk_live_AbCdEfGh",
  webhook_secret: "whsec_AbCdEfGh",
  name: "Web shop",
  email: "grace@example.org",
  time_zone: "Europe/Berlin",
  overlap_seconds: 3_600,
  replaces: 1,
};

/** Example values by message. They replace values by field name, or add fields that are not required. */
const FIELDS: Readonly<Record<string, Json>> = {
  "shipments.v1.CreateQuoteRequest": { valid_for_seconds: 900 },
  "shipments.v1.UpdateShipmentRequest": { dropoff_address: "97 Prospect Park West, Brooklyn" },
  "shipments.v1.UpdateCustomerRequest": { phone: "+1 212 555 0100", notes: "Rings twice" },
  "shipments.v1.SetCourierRequest": { name: "Ada Byron", vehicle: "Cargo bike" },
  "shipments.v1.AssignCourierRequest": {
    courier: "cou_1b3d9f2a7c5e4d6f8a0b1c2d",
    shipments: [{ shipment: "SHP-4T8ZK2M0QWXE", sequence: 1 }],
  },
  "shipments.v1.ReportProgressRequest": { stage: "at_dropoff" },
  "shipments.v1.RecordProofRequest": { received_by: "Ada Lovelace", note: "At the front desk" },
  "shipments.v1.WaiveVerificationRequest": { reason: "Lost the PIN" },
  "shipments.v1.BatchCancelShipmentsRequest": { reason: "customer_request" },
  "shipments.v1.CreateWebhookRequest": { types: ["shipment.created", "shipment.delivered"] },
  "shipments.v1.UpdateWebhookRequest": { enabled: true },
  "shipments.v1.UpdateApiKeyRequest": { name: "Web shop, reports", scope: "read_only" },
  "shipments.v1.InviteMemberRequest": { role: "member" },
  "shipments.account.v1.UpdateAccountRequest": { name: "Grace Hopper" },
  "shipments.account.v1.SaveFilterRequest": {
    name: "To pay, of today",
    query: "status=1&days=today",
  },
  "shipments.account.v1.RenameSavedFilterRequest": { name: "Not paid yet" },
  "shipments.admin.v1.CreateOperatorRequest": { name: "Grace Hopper", email: "grace@example.org" },
  "shipments.admin.v1.UpdateOperatorRequest": { role: "viewer" },
  "shipments.admin.v1.CreateOperatorKeyRequest": { name: "Deployments" },
  "shipments.admin.v1.CreateWorkspaceRequest": { payment_provider: "manual" },
  "shipments.admin.v1.UpdateWorkspaceApiKeyRequest": { scope: "read_only" },
  "shipments.admin.v1.UpdateWorkspaceLimitsRequest": { write: { rate: 100, burst: 200 } },
  "shipments.admin.v1.InviteWorkspaceMemberRequest": { role: "admin" },
  "shipments.admin.v1.CreateTariffDraftRequest": { name: "Spring", from_version: 1 },
  "shipments.admin.v1.UpdateTariffDraftRequest": { name: "Spring and summer" },
  "shipments.admin.v1.PublishTariffRequest": { note: "Dearer fuel" },
  "shipments.admin.v1.ReplayTariffRequest": { shipments: 1_000, routes: [ROUTE] },
  "shipments.admin.v1.RollBackTariffRequest": { note: "Prices were too high" },
};

/**
 * Returns an example body of a request, for "Try it out". The body contains the required fields, or the
 * first field if none is required.
 *
 * @param fields fields of the body
 * @throws Error for a text field whose pattern does not match the example for its name
 */
export function requestExample(
  message: DescMessage,
  fields: readonly DescField[],
  schemas: Pick<Schemas, "field" | "isRequired">,
): Json {
  const own = FIELDS[message.typeName] ?? {};
  const needed = fields.filter((it) => it.name in own || isNeeded(it));
  const shown = needed.length === 0 ? fields.slice(0, 1) : needed;
  return Object.fromEntries(shown.map((it) => [it.name, own[it.name] ?? valueOf(it)]));

  function isNeeded(field: DescField): boolean {
    return schemas.isRequired(field) || "minItems" in schemas.field(field, "request");
  }

  function valueOf(field: DescField): unknown {
    const value = VALUES[field.name] ?? elementOf(field);
    return field.fieldKind === "list" && !Array.isArray(value) ? [value] : value;
  }

  function elementOf(field: DescField): unknown {
    if (field.enum !== undefined) return [...enumNames(field.enum).values()][0];
    if (field.message?.typeName === "google.protobuf.Timestamp") return "2026-12-01T09:00:00Z";
    if (field.message !== undefined) return requestExample(field.message, field.message.fields, schemas);
    const { items, ...schema } = schemas.field(field, "request");
    return scalarOf(field, (items as Json | undefined) ?? schema);
  }
}

function scalarOf({ name, scalar }: DescField, rules: Json): unknown {
  if (scalar === ScalarType.BOOL) return true;
  if (scalar !== ScalarType.STRING) return rules["minimum"] ?? 1;
  const [choice] = (rules["enum"] as readonly string[] | undefined) ?? [];
  const text = choice ?? name.replaceAll("_", " ").replace(/^./, (it) => it.toUpperCase());
  if (new RegExp((rules["pattern"] as string | undefined) ?? "").test(text)) return text;
  throw new Error(`src/openapi/request-examples.ts has no value of ${name}`);
}
