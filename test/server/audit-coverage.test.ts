import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { ApiKeyService } from "../../gen/shipments/v1/api_key_service_pb.js";
import { CustomerService } from "../../gen/shipments/v1/customer_service_pb.js";
import { MemberService } from "../../gen/shipments/v1/member_service_pb.js";
import { PaymentConnectionService } from "../../gen/shipments/v1/payment_connection_service_pb.js";
import { WorkspaceService } from "../../gen/shipments/v1/workspace_service_pb.js";
import { connectTo } from "../support/database.ts";
import { describedMethods, httpCalls } from "../support/described-services.ts";
import { insertCustomers } from "../support/insert-shipments.ts";
import { RETURN_URLS, startStripeService } from "../support/stripe-service.ts";

type Fields = Readonly<Record<string, any>>;

/** What the audit log must say of a call. */
interface Expected {
  readonly subject: string;
  /** Null unless given. */
  readonly workspace?: number;
  /** For each property that changed, what it was and what it became. */
  readonly changes: Readonly<Record<string, readonly [before: unknown, after: unknown]>>;
}

interface Case {
  /** Makes what the call needs, and gives its fields. */
  readonly fields: () => Promise<Fields> | Fields;
  /** What one of its entries says, by the fields and the answer. */
  readonly entry: (fields: any, answer: any) => Expected;
}

const ID = expect.stringMatching(/^key_[0-9a-f]{24}$/);
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

/** Sends a request to the admin API that must succeed, and gives its answer's body. */
async function admin(path: string, body?: object, method = "POST"): Promise<any> {
  const answer = await service.request(`/admin/v1${path}`, {
    apiKey: owner.key,
    ...(body === undefined ? {} : { method, body }),
  });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

const MACHINE = { name: "Deployer", kind: "machine", role: "viewer" };
const addOperator = async () => ({ operator: (await admin("/operators", MACHINE)).data.id });
const addWorkspace = async (more: object = {}) => {
  const { data, api_key: apiKey } = await admin("/workspaces", { name: "Acme", ...more });
  return { workspace: data.id as number, apiKey: apiKey as string };
};
const keysOf = async (workspace: number) =>
  (await admin(`/workspaces/${workspace}/api_keys`)).data as { id: string }[];
const addMember = async (email: string) => {
  const { apiKey } = caller;
  const { body } = await service.request("/v1/members", { apiKey, body: { email } });
  return body.data.person as number;
};
const addCustomers = async () => {
  const first = await insertCustomers(await connectTo(service.databaseUrl), caller.id, 2);
  return { customer: first, from: first + 1 };
};
const inForce = async () => (await admin("/tariff")).data.version as number;
const draftOf = async (fees?: object) => {
  const fields = { name: "Winter", from_version: await inForce() };
  const { data } = await admin("/tariff_drafts", fields);
  if (fees === undefined) return data;
  return (await admin(`/tariff_drafts/${data.id}`, { fees: { ...data.fees, ...fees } }, "PATCH"))
    .data;
};
let fees = 10;
/** A draft that differs from all tariffs before. */
const newDraft = () => draftOf({ base_fee: `${++fees}.00` });
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

const onWorkspace = (
  fields: () => Promise<Fields>,
  changes: (fields: any, answer: any) => Expected["changes"],
): Case => ({
  fields,
  entry: (sent, answer) => ({
    subject: `workspace/${sent.workspace}`,
    workspace: sent.workspace,
    changes: changes(sent, answer),
  }),
});

/**
 * Every method that changes something of the platform or of keys. A new one fails this test until it
 * is listed here, with what the audit log says of it.
 */
const CASES: Readonly<Record<string, Case>> = {
  "OperatorService/CreateOperator": {
    fields: () => ({ ...MACHINE, email: "deployer@example.org" }),
    entry: (_, { data }) => ({
      subject: `operator/${data.id}`,
      changes: {
        name: [null, "Deployer"],
        email: [null, "deployer@example.org"],
        kind: [null, "machine"],
        role: [null, "viewer"],
        key: [null, data.keys[0].id],
      },
    }),
  },
  "OperatorService/UpdateOperator": {
    fields: async () => ({ ...(await addOperator()), name: "Robot", role: "operator" }),
    entry: ({ operator }) => ({
      subject: `operator/${operator}`,
      changes: { name: ["Deployer", "Robot"], role: ["viewer", "operator"] },
    }),
  },
  "OperatorService/CreateOperatorKey": {
    fields: async () => ({ ...(await addOperator()), name: "Laptop" }),
    entry: ({ operator }, { data }) => ({
      subject: `operator/${operator}`,
      changes: { key: [null, data.keys.at(-1).id], "key.name": [null, "Laptop"] },
    }),
  },
  "OperatorService/RevokeOperatorKey": {
    fields: async () => {
      const { data } = await admin("/operators", MACHINE);
      return { operator: data.id, key: data.keys[0].id };
    },
    entry: ({ operator, key }) => ({
      subject: `operator/${operator}`,
      changes: { key: [key, null] },
    }),
  },
  "OperatorService/RotateOperatorKey": {
    fields: async () => ({ ...(await addOperator()), overlap_seconds: 60 }),
    entry: ({ operator }, { data }) => ({
      subject: `operator/${operator}`,
      changes: { key: [null, data.keys.at(-1).id], overlap_seconds: [null, "60"] },
    }),
  },
  "OperatorService/CreateOperatorSignInLink": {
    fields: async () => {
      const person = { ...MACHINE, kind: "person", email: "link@example.org" };
      return { operator: (await admin("/operators", person)).data.id };
    },
    entry: ({ operator }) => ({ subject: `operator/${operator}`, changes: {} }),
  },
  "OperatorService/RevokeOperator": {
    fields: addOperator,
    entry: ({ operator }, { data }) => ({
      subject: `operator/${operator}`,
      changes: { revoked_at: [null, data.revoked_at] },
    }),
  },
  "WorkspaceAdminService/CreateWorkspace": {
    fields: () => ({ name: "Acme", payment_provider: "manual" }),
    entry: (_, { data }) => ({
      subject: `workspace/${data.id}`,
      workspace: data.id,
      changes: {
        name: [null, "Acme"],
        payment_provider: [null, "manual"],
        api_key: [null, ID],
        test_workspace: [null, expect.stringMatching(/^\d+$/)],
        test_api_key: [null, ID],
      },
    }),
  },
  "WorkspaceAdminService/RenameWorkspace": onWorkspace(
    async () => ({ ...(await addWorkspace()), name: "Umbrella" }),
    () => ({ name: ["Acme", "Umbrella"] }),
  ),
  "WorkspaceAdminService/SuspendWorkspace": onWorkspace(addWorkspace, (_, { data }) => ({
    suspended_at: [null, data.suspended_at],
  })),
  "WorkspaceAdminService/ResumeWorkspace": onWorkspace(
    async () => {
      const { workspace } = await addWorkspace();
      await admin(`/workspaces/${workspace}/suspend`, {});
      return { workspace };
    },
    () => ({ suspended_at: [TIME, null] }),
  ),
  "WorkspaceAdminService/ConnectPaymentProvider": onWorkspace(
    async () => ({ ...(await addWorkspace()), payment_provider: "manual" }),
    () => ({ payment_provider: [null, "manual"] }),
  ),
  "WorkspaceAdminService/DisconnectPaymentProvider": onWorkspace(
    async () => {
      const { workspace } = await addWorkspace({ payment_provider: "manual" });
      return { workspace };
    },
    () => ({ payment_provider: ["manual", null] }),
  ),
  "WorkspaceAdminService/UpdateWorkspaceLimits": onWorkspace(
    async () => ({ ...(await addWorkspace()), quote: { rate: 5, burst: 7 } }),
    () => ({ "limits.quote": [expect.any(String), "5 a second, 7 at once"] }),
  ),
  "WorkspaceAdminService/UpdateWorkspaceTimeZone": onWorkspace(
    async () => ({ ...(await addWorkspace()), time_zone: "Asia/Tokyo" }),
    () => ({ time_zone: ["UTC", "Asia/Tokyo"] }),
  ),
  "WorkspaceAdminService/CreateWorkspaceApiKey": {
    fields: async () => ({ ...(await addWorkspace()), name: "Shop" }),
    entry: ({ workspace }, { data }) => ({
      subject: `api_key/${data.id}`,
      workspace,
      changes: { name: [null, "Shop"], scope: [null, "full"], last4: [null, data.last4] },
    }),
  },
  "WorkspaceAdminService/UpdateWorkspaceApiKey": {
    fields: async () => {
      const { workspace } = await addWorkspace();
      const [{ id: key } = { id: "" }] = await keysOf(workspace);
      return { workspace, key, name: "Shop", scope: "read_only" };
    },
    entry: ({ workspace, key }) => ({
      subject: `api_key/${key}`,
      workspace,
      changes: { name: [null, "Shop"], scope: ["full", "read_only"] },
    }),
  },
  "WorkspaceAdminService/RotateWorkspaceApiKeys": onWorkspace(
    async () => {
      const { workspace } = await addWorkspace();
      const [{ id: old } = { id: "" }] = await keysOf(workspace);
      return { workspace, overlap_seconds: 60, old };
    },
    ({ old }, { data }) => ({
      [`api_key/${old}.ends_at`]: [null, TIME],
      new_api_key: [null, data.id],
    }),
  ),
  "WorkspaceAdminService/RevokeWorkspaceApiKey": {
    fields: async () => {
      const { workspace } = await addWorkspace();
      return { workspace, key: (await keysOf(workspace))[0]!.id };
    },
    entry: ({ workspace, key }) => ({
      subject: `api_key/${key}`,
      workspace,
      changes: { ends_at: [null, TIME] },
    }),
  },
  "WorkspaceAdminService/InviteWorkspaceMember": {
    fields: async () => ({
      ...(await addWorkspace()),
      apiKey: undefined,
      email: "ada@example.org",
    }),
    entry: ({ workspace }, { data }) => ({
      subject: `person/${data.person}`,
      workspace,
      changes: { role: [null, "admin"] },
    }),
  },
  "ApiKeyService/CreateApiKey": {
    fields: () => ({ name: "Shop" }),
    entry: (_, { data }) => ({
      subject: `api_key/${data.id}`,
      workspace: caller.id,
      changes: { name: [null, "Shop"], scope: [null, "full"], last4: [null, data.last4] },
    }),
  },
  "ApiKeyService/UpdateApiKey": {
    fields: async () => {
      const { data } = await admin(`/workspaces/${caller.id}/api_keys`, { name: "Old" });
      return { key: data.id, name: "New", scope: "read_only" };
    },
    entry: ({ key }) => ({
      subject: `api_key/${key}`,
      workspace: caller.id,
      changes: { name: ["Old", "New"], scope: ["full", "read_only"] },
    }),
  },
  "ApiKeyService/RotateApiKey": {
    fields: async () => ({ key: (await keysOf(caller.id))[0]!.id, overlap_seconds: 3_600 }),
    entry: ({ key }, { data }) => ({
      subject: `api_key/${key}`,
      workspace: caller.id,
      changes: { ends_at: [null, TIME], replaced_by: [null, data.id] },
    }),
  },
  "ApiKeyService/RevokeApiKey": {
    fields: async () => {
      const { data } = await admin(`/workspaces/${caller.id}/api_keys`, { name: "Old" });
      return { key: data.id };
    },
    entry: ({ key }) => ({
      subject: `api_key/${key}`,
      workspace: caller.id,
      changes: { ends_at: [null, TIME] },
    }),
  },
  "CustomerService/MergeCustomers": {
    fields: addCustomers,
    entry: ({ customer, from }) => ({
      subject: `customer/${customer}`,
      workspace: caller.id,
      changes: { merged_customer: [null, String(from)], moved_shipments: [null, "0"] },
    }),
  },
  "MemberService/InviteMember": {
    fields: () => ({ email: "new@example.org", role: "member" }),
    entry: (_, { data }) => ({
      subject: `person/${data.person}`,
      workspace: caller.id,
      changes: { role: [null, "member"] },
    }),
  },
  "MemberService/UpdateMember": {
    fields: async () => ({ person: await addMember("change@example.org"), role: "admin" }),
    entry: ({ person }) => ({
      subject: `person/${person}`,
      workspace: caller.id,
      changes: { role: ["viewer", "admin"] },
    }),
  },
  "MemberService/RemoveMember": {
    fields: async () => ({ person: await addMember("leave@example.org") }),
    entry: ({ person }) => ({
      subject: `person/${person}`,
      workspace: caller.id,
      changes: { role: ["viewer", null] },
    }),
  },
  "WorkspaceService/UpdateWorkspace": {
    fields: () => ({ time_zone: "Europe/Berlin" }),
    entry: () => ({
      subject: `workspace/${caller.id}`,
      workspace: caller.id,
      changes: { time_zone: ["UTC", "Europe/Berlin"] },
    }),
  },
  "PaymentConnectionService/BeginPaymentConnection": {
    fields: () => ({ payment_provider: "stripe", ...RETURN_URLS }),
    entry: (_, { data }) => ({
      subject: `workspace/${caller.id}`,
      workspace: caller.id,
      changes: {
        payment_provider: [null, "stripe"],
        "payment_provider.account": [null, data.account],
        "payment_provider.state": [null, "onboarding"],
      },
    }),
  },
  "PaymentConnectionService/CheckPaymentConnection": {
    fields: async () => {
      const { data } = (await service.request("/v1/payment_connection", { apiKey: caller.apiKey }))
        .body;
      stripe.restrictAccount(data.account);
      return {};
    },
    entry: () => ({
      subject: `workspace/${caller.id}`,
      workspace: caller.id,
      changes: { "payment_provider.state": ["ready", "restricted"] },
    }),
  },
  "PaymentConnectionService/SetPaymentKey": {
    fields: () => ({
      payment_provider: "stripe",
      restricted_key: stripe.addKey(stripe.addAccount()),
      webhook_secret: "whsec_own",
    }),
    entry: (_, { data }) => ({
      subject: `workspace/${caller.id}`,
      workspace: caller.id,
      changes: {
        "payment_provider.account": [expect.any(String), data.account],
        "payment_provider.state": ["onboarding", "ready"],
        "payment_provider.own_key": [null, "true"],
      },
    }),
  },
  "PaymentConnectionService/DisconnectPaymentConnection": {
    fields: () => ({}),
    entry: () => ({
      subject: `workspace/${caller.id}`,
      workspace: caller.id,
      changes: {
        payment_provider: ["stripe", null],
        "payment_provider.account": [expect.any(String), null],
        "payment_provider.state": ["restricted", null],
        "payment_provider.own_key": ["true", null],
      },
    }),
  },
  "TariffService/CreateTariffDraft": {
    fields: () => ({ name: "Winter", from_version: 1 }),
    entry: (_, { data }) => ({
      subject: `tariff_draft/${data.id}`,
      changes: {
        name: [null, "Winter"],
        from_version: [null, "1"],
        currency: [null, data.fees.currency],
        base_fee: [null, data.fees.base_fee],
        rate_per_km: [null, data.fees.rate_per_km],
        tiers: [null, expect.any(String)],
      },
    }),
  },
  "TariffService/UpdateTariffDraft": {
    fields: async () => ({ draft: (await draftOf()).id, name: "Summer" }),
    entry: ({ draft }) => ({
      subject: `tariff_draft/${draft}`,
      changes: { name: ["Winter", "Summer"] },
    }),
  },
  "TariffService/DeleteTariffDraft": {
    fields: async () => ({ draft: (await draftOf()).id }),
    entry: ({ draft }) => ({
      subject: `tariff_draft/${draft}`,
      changes: {
        name: ["Winter", null],
        currency: ["USD", null],
        base_fee: [expect.any(String), null],
        rate_per_km: [expect.any(String), null],
        tiers: [expect.any(String), null],
      },
    }),
  },
  "TariffService/UploadTariffZones": {
    fields: async () => {
      const { id, zones_bytes: had } = await draftOf();
      return { draft: id, data: "{}", had };
    },
    entry: ({ draft, had }) => ({
      subject: `tariff_draft/${draft}`,
      changes: {
        zones_bytes: [String(had), "2"],
        etag: [expect.any(String), expect.any(String)],
      },
    }),
  },
  "TariffService/PublishTariff": {
    fields: async () => ({
      draft: (await newDraft()).id,
      replaces: await inForce(),
      note: "Dearer",
    }),
    entry: ({ draft, replaces }, { data }) => ({
      subject: `tariff_version/${data.version}`,
      changes: {
        draft: [null, `tariff_draft/${draft}`],
        name: [null, "Winter"],
        note: [null, "Dearer"],
        replaces: [null, String(replaces)],
        effective_at: [null, data.effective_at],
        honours_quotes: [null, "true"],
      },
    }),
  },
  "TariffService/RollBackTariff": {
    fields: async () => {
      const { id: draft } = await newDraft();
      const replaces = await inForce();
      await admin(`/tariff_drafts/${draft}/publish`, { replaces });
      return { version: replaces, replaces: await inForce(), note: "Too dear" };
    },
    entry: ({ version, replaces }, { data }) => ({
      subject: `tariff_version/${data.version}`,
      changes: {
        repeats: [null, String(version)],
        note: [null, "Too dear"],
        replaces: [null, String(replaces)],
        honours_quotes: [null, "true"],
      },
    }),
  },
  "TariffService/CallOffTariff": {
    fields: async () => {
      const { id: draft } = await newDraft();
      const fields = { replaces: await inForce(), effective_at: tomorrow() };
      const { data } = await admin(`/tariff_drafts/${draft}/publish`, fields);
      return { version: data.version };
    },
    entry: ({ version }, { data }) => ({
      subject: `tariff_version/${version}`,
      changes: { called_off_at: [null, data.called_off_at] },
    }),
  },
};

/** The services by which workspaces change who may act for them. */
const OWN_SERVICES = [
  ApiKeyService,
  MemberService,
  WorkspaceService,
  PaymentConnectionService,
] as const;

const { mergeCustomers } = CustomerService.method;

const isOwn = (method: DescMethod) =>
  method === mergeCustomers || OWN_SERVICES.some((own) => own === method.parent);

const changesSomething = ({ idempotency }: DescMethod) =>
  idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
const METHODS = [
  ...(await describedMethods("operator")),
  ...OWN_SERVICES.flatMap(({ methods }) => methods),
  mergeCustomers,
]
  .filter(changesSomething)
  .map((method) => [`${method.parent.name}/${method.name}`, method] as const);

const { service, stripe } = await startStripeService();
const owner = await service.addOperator("owner");
const caller = await service.addWorkspace({ paymentProvider: undefined });

test("every method that changes the platform or a key is listed in these tests", () => {
  expect(METHODS.map(([name]) => name).sort()).toEqual(Object.keys(CASES).sort());
});

/** The fields that the method has; the others are for the expected entry alone. */
function sentFields(method: DescMethod, fields: Fields): Fields {
  const names = new Set(method.input.fields.map(({ name }) => name));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.has(name)));
}

async function entriesOf(requestId: string, filters = ""): Promise<any[]> {
  const { data } = await admin(`/audit_entries?page_size=20${filters}`);
  return data.filter((entry: { request_id: string }) => entry.request_id === requestId);
}

let calls = 0;

describe("the audit log tells who did what to what, and keeps no secret, after", () => {
  test.each(METHODS)("%s", async (name, method) => {
    const { fields, entry } = CASES[name]!;
    const given = await fields();
    const isAdmin = !isOwn(method);
    const requestId = `call-${++calls}`;
    const [http] = httpCalls(method, sentFields(method, given));
    const { status, body, text } = await service.request(http!.path, {
      apiKey: isAdmin ? owner.key : caller.apiKey,
      method: http!.method,
      body: http!.body,
      headers: { "x-request-id": requestId },
    });
    expect(status, text).toBeLessThan(300);

    const { subject, workspace = null, changes } = entry(given, body);
    const entries = await entriesOf(requestId);
    expect(await entriesOf(requestId, `&action=${method.name}&subject=${subject}`)).not.toEqual([]);
    expect(entries).toContainEqual({
      id: expect.any(Number),
      created_at: TIME,
      actor: isAdmin
        ? { kind: "operator", name: "Test owner", operator: owner.id }
        : { kind: "api_key", name: caller.apiKey.slice(-4), operator: null },
      action: method.name,
      subject,
      workspace,
      changes: Object.entries(changes).map(([field, [before, after]]) => ({
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

  test.each(METHODS.filter(([name]) => !/Create|InviteMember|UploadTariffZones/.test(name)))(
    "%s, but not when it is refused",
    async (_, method) => {
      const names = method.input.fields.map(({ name }) => name);
      const ids = names.filter((name) =>
        /^(operator|workspace|draft|version|key|person|customer|from)$/.test(name),
      );
      const nothing = Object.fromEntries(ids.map((name) => [name, "999999999"]));
      const requestId = `call-${++calls}`;
      const [http] = httpCalls(method, {
        ...nothing,
        replaces: 1,
        name: "New",
        role: "viewer",
        time_zone: "Nowhere",
      });
      const { status } = await service.request(http!.path, {
        apiKey: isOwn(method) ? caller.apiKey : owner.key,
        method: http!.method,
        body: http!.body,
        headers: { "x-request-id": requestId },
      });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(await entriesOf(requestId)).toEqual([]);
    },
  );
});
