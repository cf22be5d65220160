import { getOption, hasOption, ScalarType, type DescField, type DescMethodUnary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { field as fieldRules } from "../../gen/buf/validate/validate_pb.js";
import { http } from "../../gen/google/api/annotations_pb.js";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { TariffService } from "../../gen/shipments/admin/v1/tariff_service_pb.js";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { ApiKeyService } from "../../gen/shipments/v1/api_key_service_pb.js";
import { CourierService } from "../../gen/shipments/v1/courier_service_pb.js";
import { CustomerService } from "../../gen/shipments/v1/customer_service_pb.js";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { WorkspaceService } from "../../gen/shipments/v1/workspace_service_pb.js";
import { WebhookService } from "../../gen/shipments/v1/webhook_service_pb.js";
import { data, expectRefused } from "../support/answers.ts";
import { book } from "../support/bookings.ts";
import type { Answer, ApiProtocol } from "../support/client.ts";
import { describedMethods } from "../support/described-services.ts";
import { PROTOCOLS } from "../support/rpc-client.ts";
import { sharedService } from "../support/service.ts";
import { sampleText, UPDATED_TEXTS } from "../support/shipment-texts.ts";
import { addWebhook } from "../support/webhooks.ts";

/** Forms in which an update can contain a field. */
const FORMS = ["absent", "null", "blank", "value"] as const;
type FieldForm = (typeof FORMS)[number];

/** An update of one kind of record. */
interface Update {
  readonly method: DescMethodUnary;
  /** Field that names the updated record. `undefined` if the caller's key determines the record. */
  readonly name?: string;
  /** Returns the record's workspace, if the call names it too. */
  readonly workspace?: () => number;
  /** Creates a record with every field set and returns its name. All created records are identical. */
  readonly make: () => Promise<string | number>;
  /** New values for the fields that a caller can omit, clear or set. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Values of cleared fields in the response. Required fields are missing. */
  readonly cleared: Readonly<Record<string, unknown>>;
}

const service = await sharedService();
const { apiKey, id: workspaceId } = await service.addWorkspace();
const operatorKey = (await service.addOperator()).key;

const caller = service.as(apiKey);
const operator = service.as(operatorKey);

let made = 0;
const webhooks: string[] = [];

const keys: string[] = [];

/** Creates a key. First revokes an older one, because keys are limited and tests update two at a time. */
async function makeKey(): Promise<string> {
  const old = keys.length < 2 ? undefined : keys.shift();
  if (old !== undefined) await data(caller.revokeApiKey({ key: old }));
  const { id } = await data(caller.createApiKey({ name: "Shop" }));
  keys.push(id);
  return id;
}

const UPDATES: readonly Update[] = [
  {
    method: ShipmentService.method.updateShipment,
    name: "shipment",
    make: async () => {
      const texts = Object.fromEntries(UPDATED_TEXTS.map((name) => [name, sampleText(name, 1)]));
      const fields = { ...texts, items: [{ name: "Tea", quantity: 1 }], metadata: { a: "1", b: "2" } };
      return (await book(service, apiKey, fields))["reference"];
    },
    values: {
      pickup_address: "2 Times Square",
      dropoff_address: "Door 2",
      ...Object.fromEntries(UPDATED_TEXTS.map((name) => [name, sampleText(name, 2)])),
      items: [{ name: "Cake", quantity: 2, external_id: null }],
      metadata: { b: "3", c: "4" },
    },
    cleared: { items: [], metadata: {}, ...Object.fromEntries(UPDATED_TEXTS.map((name) => [name, null])) },
  },
  {
    method: CustomerService.method.updateCustomer,
    name: "customer",
    make: async () => {
      const fields = { customer_name: `Customer ${made++}`, customer_id_number: "ID 1" };
      const { id } = (await book(service, apiKey, fields))["customer"];
      await caller.updateCustomer({ customer: id, phone: "555 0100", notes: "Rings twice" });
      return id;
    },
    values: {
      email: "grace@example.org",
      id_number: "ID 2",
      phone: "+1 555 0101",
      notes: "Door 2\nThird floor",
    },
    cleared: { id_number: null, phone: null, notes: null },
  },
  {
    method: CourierService.method.updateCourier,
    name: "courier",
    make: async () => {
      const texts = {
        email: "ada@example.org",
        phone: "+12125550123",
        vehicle: "Bike",
        external_id: `courier${made++}`,
        locale: "de",
        note: "Mornings",
      };
      return (await data(caller.createCourier({ name: "Ada", ...texts }))).id;
    },
    values: {
      name: "Grace",
      email: "grace@example.org",
      phone: "+12125550124",
      vehicle: "Van",
      // Unique in the workspace.
      get external_id() {
        return `courier${made++}`;
      },
      locale: "fr",
      note: "Late\nshift",
    },
    cleared: { email: null, phone: null, vehicle: null, external_id: null, locale: null, note: null },
  },
  {
    method: WorkspaceService.method.updateWorkspace,
    make: async () => {
      await caller.updateWorkspace({ time_zone: "Europe/Berlin", tracking_contact: "555 0100" });
      return workspaceId;
    },
    values: { time_zone: "Asia/Kathmandu", tracking_contact: "help@example.org" },
    cleared: { time_zone: "UTC", tracking_contact: null },
  },
  {
    method: WebhookService.method.updateWebhook,
    name: "webhook",
    make: async () => {
      // Deletes an older webhook first, because webhooks are limited and tests update two at a time.
      const old = webhooks.length < 2 ? undefined : webhooks.shift();
      if (old !== undefined) await caller.deleteWebhook({ webhook: old });
      const body = { url: "https://example.org/hooks", types: ["shipment.paid"] };
      const { id } = (await addWebhook(service, apiKey, body)).data;
      webhooks.push(id);
      return id;
    },
    values: { url: "https://example.org/other", types: ["shipment.delivered"] },
    cleared: { types: ["*"] },
  },
  {
    method: ApiKeyService.method.updateApiKey,
    name: "key",
    make: makeKey,
    values: { name: "Reports" },
    cleared: {},
  },
  {
    method: WorkspaceAdminService.method.updateWorkspaceApiKey,
    name: "key",
    workspace: () => workspaceId,
    make: makeKey,
    values: { name: "Reports" },
    cleared: {},
  },
  {
    method: OperatorService.method.updateOperator,
    name: "operator",
    make: async () =>
      (
        await data(
          operator.createOperator({
            name: "Deployer",
            kind: "machine",
            role: "viewer",
            email: `deployer${made++}@example.org`,
          }),
        )
      ).id,
    values: { name: "Releaser" },
    cleared: { email: null },
  },
  {
    method: TariffService.method.updateTariffDraft,
    name: "draft",
    make: async () => (await data(operator.createTariffDraft({ name: "Spring" }))).id,
    values: { name: "Summer" },
    cleared: {},
  },
];

const KINDS = UPDATES.map((update) => [update.method.name, update] as const);

/** Returns the text, list and map fields that an update can clear or that are required. */
function choices({ input }: DescMethodUnary): string[] {
  return input.fields
    .filter(({ fieldKind, name, scalar, proto }) =>
      fieldKind === "scalar"
        ? scalar === ScalarType.STRING && proto.proto3Optional && name !== "etag"
        : /list|map/.test(fieldKind) && name !== "clear",
    )
    .map(({ name }) => name);
}

test("the tests contain every update that has fields to clear", async () => {
  const all = await Promise.all((["workspace", "operator", "person"] as const).map(describedMethods));
  const updates = all.flat().filter((it) => hasOption(it, http) && getOption(it, http).pattern.case === "patch");
  expect(updates.length).toBeGreaterThanOrEqual(UPDATES.length);
  const here = UPDATES.map(({ method }) => method as (typeof updates)[number]);
  const others = updates.filter((it) => !here.includes(it));
  expect(others.flatMap((it) => choices(it as DescMethodUnary))).toEqual([]);
});

describe("an empty list or map, which Protobuf cannot distinguish from absence, can be cleared by name:", () => {
  test.each(KINDS)("%s", (_, { method: { input } }) => {
    const { clear } = input.field;
    const { type } = clear === undefined ? {} : getOption(clear, fieldRules);
    const items = type?.case === "repeated" ? type.value.items?.type : undefined;
    const names = items?.case === "string" ? items.value.in : [];
    // Optional messages can be cleared too. Other messages are required.
    const named = input.fields.filter(
      ({ fieldKind, name }) =>
        (/list|map/.test(fieldKind) && name !== "clear") || (fieldKind === "message" && names.includes(name)),
    );
    expect(names).toEqual(named.map(({ name }) => name));
  });
});

describe("an update has the same result in JSON and any other protocol:", () => {
  const protocols = Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[];
  test.each(KINDS)("%s", async (_, update) => {
    const names = choices(update.method);
    const form = fc.constantFrom(...FORMS);
    const forms = fc.record(Object.fromEntries(names.map((name) => [name, form])));
    // Both records start out equal and must stay equal. Each step starts from the result of the previous ones.
    const [one, other] = [await update.make(), await update.make()];
    await fc.assert(
      fc.asyncProperty(forms, fc.constantFrom(...protocols), async (step, protocol) => {
        const byJson = await resultOf(update, one, step);
        expect(await resultOf(update, other, step, protocol)).toEqual(byJson);
      }),
      { numRuns: 30, endOnFailure: true },
    );
  });
});

describe("a field that an update", () => {
  const FIELDS = UPDATES.flatMap((update) =>
    choices(update.method).map((field) => [update.method.name, field, update] as const),
  );

  test.each(FIELDS)("%s omits or sets to null is unchanged: %s", async (_, field, update) => {
    const name = await update.make();
    const absent = await resultOf(update, name, {});
    expect(await resultOf(update, name, { [field]: "null" })).toEqual(absent);
    expect(absent.refused).toBeUndefined();
  });

  const optional = FIELDS.filter(([, field, { cleared }]) => field in cleared);
  test.each(optional)("%s sets to blank is cleared: %s", async (_, field, update) => {
    const name = await update.make();
    const before = await resultOf(update, name, {});
    const after = await resultOf(update, name, { [field]: "blank" });
    expect(before.data![field]).not.toEqual(update.cleared[field]);
    expect(after.data).toEqual({ ...before.data, [field]: update.cleared[field] });
  });

  const required = FIELDS.filter(([, field, { cleared }]) => !(field in cleared));
  test.each(required)("%s sets to blank is refused if it is required: %s", async (_, field, update) => {
    const text = `${field} must not be blank.`;
    expect(await resultOf(update, await update.make(), { [field]: "blank" })).toEqual({
      refused: { message: text, errors: { [field]: [text] }, code: "FIELD_INVALID" },
    });
  });
});

test("a given value replaces a field that is also cleared by name", async () => {
  const { reference: shipment } = await book(service, apiKey, { metadata: { a: "1", b: "2" } });
  const replaced = { shipment, metadata: { c: "3" }, clear: ["metadata"] };
  expect((await data(caller.updateShipment(replaced))).metadata).toEqual({ c: "3" });
  const { body } = await caller.updateShipment({ shipment, clear: ["pickup_address"] });
  expect(Object.keys(body.errors)).toEqual(["clear[0]"]);
});

test("a person who operates the platform must have an email", async () => {
  const fields = { name: "Grace", kind: "person", role: "viewer", email: "grace@example.org" };
  const { id } = await data(operator.createOperator(fields));
  await expectRefused(operator.updateOperator({ operator: id, email: " " }), "FIELD_INVALID", {
    email: "email is required for a person.",
  });
});

type Step = Readonly<Record<string, FieldForm>>;

/** Result of an update: the refusal, or the data without values that distinguish the two records. */
interface UpdateResult {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly refused?: { readonly message: string; readonly errors: object; readonly code: string };
}

const BLANK = { scalar: " \t", list: [], map: {} } as const;

/** Returns a field's value in a step. JSON has a separate form for a blank value. */
function valueOf({ method, values }: Update, field: string, form: FieldForm): unknown {
  if (form === "blank") return BLANK[fieldOf(method, field).fieldKind as keyof typeof BLANK];
  return form === "null" ? null : values[field];
}

function fieldOf({ input }: DescMethodUnary, name: string): DescField {
  return input.fields.find((it) => it.name === name)!;
}

/** Updates a record over JSON, or over another transport that clears lists and maps by naming them in `clear`. */
async function resultOf(
  update: Update,
  name: string | number,
  step: Step,
  protocol: ApiProtocol = "json",
): Promise<UpdateResult> {
  const { parent, localName } = update.method;
  const forms = Object.entries(step)
    .filter(([, form]) => form !== "absent")
    .map(([field, form]) => [field, valueOf(update, field, form)]);
  const key = parent.file.proto.package === "shipments.admin.v1" ? operatorKey : apiKey;
  const client = service.as(key, protocol) as unknown as Record<string, (fields: object) => Promise<Answer>>;
  const { status, body, code } = await client[localName]!({
    ...(update.name && { [update.name]: name }),
    ...(update.workspace && { workspace: update.workspace() }),
    ...Object.fromEntries(forms),
  });
  return status === 200 ? { data: withoutOwn(body.data) } : { refused: { ...body, code: code! } };
}

/** Names of fields whose values are unique to a record. */
const OWN = /^(id|last4|reference|created_at|updated_at|etag|customer|keys|figures)$/;

/** Returns the fields in which both records must agree. */
function withoutOwn(data: object): Record<string, unknown> {
  const alike = Object.entries(data).filter(([name]) => !OWN.test(name));
  return JSON.parse(JSON.stringify(Object.fromEntries(alike)).replace(/(Customer |deployer|courier)\d+/g, "$1"));
}
