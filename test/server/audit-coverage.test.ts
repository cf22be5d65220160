import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { ApiKeyService } from "../../gen/shipments/v1/api_key_service_pb.js";
import { CourierService } from "../../gen/shipments/v1/courier_service_pb.js";
import { CustomerService } from "../../gen/shipments/v1/customer_service_pb.js";
import { MemberService } from "../../gen/shipments/v1/member_service_pb.js";
import { PaymentConnectionService } from "../../gen/shipments/v1/payment_connection_service_pb.js";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { WorkspaceService } from "../../gen/shipments/v1/workspace_service_pb.js";
import { describedMethods, httpCalls } from "../support/described-services.ts";
import { createMethodCalls, isOfOperators, type Fields } from "../support/method-calls.ts";
import { listKeys } from "../support/platform.ts";
import { startStripeService } from "../support/stripe-service.ts";

/** Old and new value of each changed property. */
type Changes = Readonly<Record<string, readonly [before: unknown, after: unknown]>>;

const ID = expect.stringMatching(/^key_[0-9a-f]{24}$/);
const NUMBER = expect.stringMatching(/^\d+$/);
const TEXT = expect.any(String);
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

/** Expects properties that were unset to take the values from the call. */
const become = (names: string, sent: Fields): Changes =>
  Object.fromEntries(names.split(" ").map((name) => [name, [null, String(sent[name])]]));

/** Expected changes in the audit entry by method, from the call's fields and its response. */
const CHANGES: Readonly<Record<string, (sent: Fields, data: any) => Changes>> = {
  CreateOperator: (sent, { keys }) => ({
    ...become("name email kind role", sent),
    key: [null, keys[0].id],
  }),
  UpdateOperator: ({ name, email }) => ({
    name: ["Test operator", name],
    email: [null, email],
    role: ["operator", "viewer"],
  }),
  CreateOperatorKey: ({ name }, { keys }) => ({
    key: [null, keys.at(-1).id],
    "key.name": [null, name],
  }),
  RevokeOperatorKey: ({ key }) => ({ key: [key, null] }),
  RotateOperatorKey: ({ key }, { keys }) => ({
    key: [key, keys.at(-1).id],
    overlap_seconds: [null, "60"],
  }),
  CreateOperatorSignInLink: () => ({}),
  RevokeOperator: (_, { revoked_at }) => ({ revoked_at: [null, revoked_at] }),
  CreateWorkspace: (sent) => ({
    ...become("name payment_provider time_zone", sent),
    api_key: [null, ID],
    test_workspace: [null, NUMBER],
    test_api_key: [null, ID],
  }),
  RenameWorkspace: ({ name }) => ({ name: ["Test", name] }),
  SuspendWorkspace: (_, { suspended_at }) => ({ suspended_at: [null, suspended_at] }),
  ResumeWorkspace: () => ({ suspended_at: [TIME, null] }),
  ConnectPaymentProvider: () => ({ payment_provider: [null, "manual"] }),
  DisconnectPaymentProvider: () => ({ payment_provider: ["manual", null] }),
  UpdateWorkspaceLimits: () => ({ "limits.quote": [TEXT, "5 per second, burst 10"] }),
  UpdateWorkspaceTimeZone: () => ({ time_zone: ["UTC", "Asia/Tokyo"] }),
  CreateWorkspaceApiKey: createKey,
  UpdateWorkspaceApiKey: ({ name }) => ({ name: [null, name] }),
  RotateWorkspaceApiKeys: (_, { id }) => ({
    [`api_key/${endedKey}.ends_at`]: [null, TIME],
    new_api_key: [null, id],
  }),
  RevokeWorkspaceApiKey: () => ({ ends_at: [null, TIME] }),
  InviteWorkspaceMember: () => ({ role: [null, "viewer"] }),
  CreateApiKey: createKey,
  UpdateApiKey: ({ name }) => ({ name: ["UpdateApiKey", name] }),
  RotateApiKey: (_, { id }) => ({ ends_at: [null, TIME], replaced_by: [null, id] }),
  RevokeApiKey: () => ({ ends_at: [null, TIME] }),
  MergeCustomers: ({ from }) => ({
    merged_customer: [null, String(from)],
    moved_shipments: [null, "1"],
  }),
  CreateCourier: (sent) => become("name vehicle", sent),
  UpdateCourier: ({ name }) => ({ name: [WORDS, name] }),
  ArchiveCourier: (_, { archived_at }) => ({ archived_at: [null, archived_at] }),
  CreateCourierLink: (_, { id, expires_at }) => ({ link: [null, id], expires_at: [null, expires_at] }),
  RevokeCourierLink: ({ link }) => ({ link: [link, null] }),
  WaiveVerification: ({ reason }) => ({ waived: [null, reason] }),
  AcceptUncountedPayment: () => ({ accepted_payment: [null, NUMBER] }),
  InviteMember: () => ({ role: [null, "viewer"] }),
  UpdateMember: () => ({ role: ["member", "viewer"] }),
  RemoveMember: () => ({ role: ["member", null] }),
  UpdateWorkspace: () => ({ time_zone: ["UTC", "Asia/Tokyo"] }),
  RotateTrackingLinks: () => ({ slug: [null, TEXT] }),
  BeginPaymentConnection: (_, { account }) => ({
    payment_provider: [null, "stripe"],
    "payment_provider.account": [null, account],
    "payment_provider.state": [null, "onboarding"],
  }),
  CheckPaymentConnection: () => ({ "payment_provider.state": ["ready", "restricted"] }),
  SetPaymentKey: (_, { account }) => ({
    "payment_provider.account": [TEXT, account],
    "payment_provider.own_key": [null, "true"],
  }),
  DisconnectPaymentConnection: () => ({
    payment_provider: ["stripe", null],
    "payment_provider.account": [TEXT, null],
    "payment_provider.state": ["ready", null],
  }),
  CreateTariffDraft: ({ fees, ...sent }) => ({
    ...become("name from_version", sent),
    ...become("currency base_fee rate_per_km", fees),
    tiers: [null, TEXT],
  }),
  UpdateTariffDraft: ({ fees }) => ({
    currency: ["USD", fees.currency],
    base_fee: [TEXT, fees.base_fee],
    rate_per_km: [TEXT, fees.rate_per_km],
    tiers: [TEXT, TEXT],
  }),
  DeleteTariffDraft: () => ({
    name: [WORDS, null],
    currency: ["USD", null],
    base_fee: [TEXT, null],
    rate_per_km: [TEXT, null],
    tiers: [TEXT, null],
  }),
  UploadTariffZones: ({ data }) => ({
    zones_bytes: [NUMBER, String(data.length)],
    etag: [TEXT, TEXT],
  }),
  PublishTariff: ({ draft, ...sent }, { effective_at }) => ({
    draft: [null, `tariff_draft/${draft}`],
    name: [null, WORDS],
    ...become("note replaces", sent),
    effective_at: [null, effective_at],
    honours_quotes: [null, "true"],
  }),
  RollBackTariff: ({ version, ...sent }) => ({
    repeats: [null, String(version)],
    ...become("note replaces", sent),
    honours_quotes: [null, "true"],
  }),
  SetSlotCapacity: ({ capacity }) => ({ capacity: [null, String(capacity)] }),
  CallOffTariff: (_, { called_off_at }) => ({ called_off_at: [null, called_off_at] }),
};

function createKey({ name }: Fields, { last4 }: any): Changes {
  return { name: [null, name], scope: [null, "full"], last4: [null, last4] };
}

/** Kind of record that methods change, and the request or response field with the record's id. */
const SUBJECTS: readonly (readonly [method: RegExp, kind: string, id: string])[] = [
  [/ApiKey$/, "api_key", "key"],
  [/Member$/, "person", "person"],
  [/Operator/, "operator", "operator"],
  [/Customers$/, "customer", "customer"],
  [/Courier(Link)?$/, "courier", "courier"],
  [/WaiveVerification|AcceptUncountedPayment/, "shipment", "shipment"],
  [/Draft$|Zones$/, "tariff_draft", "draft"],
  [/Tariff$/, "tariff_version", "version"],
];

/** Returns the expected subject of an entry: the record that the call names or creates, by default the workspace. */
function subjectOf({ name, parent }: DescMethod, sent: Fields, data: any, caller: number): string {
  if (name === "SetSlotCapacity") return `slot/${sent["start"]} ${sent["schedule"]}`;
  const [, kind, field] = SUBJECTS.find(([method]) => method.test(name)) ?? [];
  if (kind === undefined) {
    const isOfAdmins = parent.name === "WorkspaceAdminService";
    return `workspace/${isOfAdmins ? (sent["workspace"] ?? data.id) : caller}`;
  }
  return `${kind}/${kind === "tariff_version" ? data.version : (sent[field!] ?? data[field!] ?? data.id)}`;
}

/** Services with which a workspace changes who can act for it. */
const OWN_SERVICES = [
  ApiKeyService,
  MemberService,
  WorkspaceService,
  PaymentConnectionService,
  CourierService,
] as const;

const changesSomething = ({ idempotency }: DescMethod) =>
  idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
const METHODS = [
  ...(await describedMethods("operator")),
  ShipmentService.method.waiveVerification,
  ShipmentService.method.acceptUncountedPayment,
  ...OWN_SERVICES.flatMap(({ methods }) => methods),
  CustomerService.method.mergeCustomers,
]
  .filter(changesSomething)
  // Last, because its tariff has schedules, which later drafts would copy.
  .toSorted((a, b) => Number(a.parent.name === "SlotService") - Number(b.parent.name === "SlotService"))
  .map((method) => [method.name, method] as const);

const WORDS = "Some words";
const { service, stripe } = await startStripeService();
const operator = await service.addOperator("owner");
const workspace = await service.addWorkspace();
const calls = createMethodCalls(service, { workspace, operator, stripe, text: WORDS });
/** Id of the key that the call revokes. */
let endedKey: string | undefined;

test("the tests list the audit entry of every method that changes the platform or a key", () => {
  expect(METHODS.map(([name]) => name).sort()).toEqual(Object.keys(CHANGES).sort());
});

async function entriesOf(requestId: string, filters = ""): Promise<any[]> {
  const path = `/admin/v1/audit_entries?page_size=20${filters}`;
  const { body } = await service.request(path, { apiKey: operator.key });
  return body.data.filter((entry: { request_id: string }) => entry.request_id === requestId);
}

let count = 0;

async function call(method: DescMethod, fields: Fields) {
  const requestId = `call-${++count}`;
  const [http] = httpCalls(method, fields);
  const { apiKey } = calls.callerOf(method);
  const headers = { "x-request-id": requestId };
  return {
    requestId,
    apiKey,
    ...(await service.request(http!.path, { ...http, apiKey, headers })),
  };
}

describe("the audit log records the actor, subject and changes without secrets after", () => {
  test.each(METHODS)("%s", async (name, method) => {
    const sent = await calls.validFields(method);
    endedKey = sent["workspace"] && (await listKeys(service.app.em, sent["workspace"]))[0]!.id;
    const { requestId, apiKey, status, body, text } = await call(method, sent);
    expect(status, text).toBeLessThan(300);

    const { id } = calls.callerOf(method);
    const subject = subjectOf(method, sent, body.data, id);
    const created = name === "CreateWorkspace" ? body.data.id : null;
    const entries = await entriesOf(requestId);
    expect(await entriesOf(requestId, `&action=${name}&subject=${subject}`)).not.toEqual([]);
    expect(entries).toContainEqual({
      id: expect.any(Number),
      created_at: TIME,
      actor: isOfOperators(method)
        ? { kind: "operator", name: "Test owner", operator: id, api_key: null }
        : {
            kind: "api_key",
            name: apiKey.slice(-4),
            operator: null,
            api_key: { id: ID, name: null, last4: apiKey.slice(-4) },
          },
      action: name,
      subject,
      // Entries about people, operators, couriers and keys include a readable name.
      subject_name: /^(person|operator|courier|api_key)\//.test(subject) ? TEXT : null,
      workspace: isOfOperators(method) ? (sent["workspace"] ?? created) : id,
      changes: Object.entries(CHANGES[name]!(sent, body.data)).map(([field, [before, after]]) => ({
        field,
        before,
        after,
      })),
      request_id: requestId,
    });
    const secret: string | undefined = body.operator_key ?? body.api_key;
    if (secret !== undefined) expect(JSON.stringify(entries)).not.toContain(secret.slice(4, -4));
    const { test_api_key: testKey = secret } = body;
    if (testKey !== undefined) expect(JSON.stringify(entries)).not.toContain(testKey.slice(9, -4));
  });

  test.each(METHODS.filter(([name]) => !/Create|InviteMember|UploadTariffZones|RotateTrackingLinks/.test(name)))(
    "%s, but nothing after a refused call",
    async (_, method) => {
      const names = method.input.fields.map(({ name }) => name);
      const ids = names.filter((name) =>
        /^(operator|workspace|draft|version|key|person|customer|courier|link|from|shipment)$/.test(name),
      );
      const nothing = Object.fromEntries(ids.map((name) => [name, "999999999"]));
      const others = { replaces: 1, name: "New", role: "viewer", time_zone: "Nowhere" };
      const { requestId, status } = await call(method, { ...nothing, ...others });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(await entriesOf(requestId)).toEqual([]);
    },
  );
});
