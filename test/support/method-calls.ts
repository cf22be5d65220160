import { getOption, hasOption, type DescField, type DescMethod } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { field as rules } from "../../gen/buf/validate/validate_pb.js";
import { http } from "../../gen/google/api/annotations_pb.js";
import { SAMPLE_PICTURES } from "../../src/features/test-mode/sample-pictures.ts";
import type { StripeStandIn } from "../stripe/stand-in.ts";
import { exampleBody } from "./api-description.ts";
import { book, bookAnd, BOOKING, COVERED_ROUTE, NO_REFERENCE, PAYMENT } from "./bookings.ts";
import { httpCalls, pathFields } from "./described-services.ts";
import { eventually } from "./eventually.ts";
import type { Answer } from "./client.ts";
import { listKeys, setPaymentProvider, suspend } from "./platform.ts";
import type { TestOperator, TestService, TestWorkspace } from "./service.ts";
import { publishDocument } from "./publish-document.ts";
import { EVERY_DAY, scheduleOf } from "./schedules.ts";
import { requestCheckout, connectStripe, getShipment, PAGE_URLS, RETURN_URLS, sessionOf } from "./stripe-service.ts";
import { take } from "./take.ts";
import { SAMPLE_TARIFF } from "./tariffs.ts";
import { addWebhook } from "./webhooks.ts";

/** Workspace and operator that call all methods, and the text for the fields. */
export interface MethodCaller {
  readonly workspace: TestWorkspace & { readonly twin: TestWorkspace };
  readonly operator: TestOperator;
  /** Stripe stand-in, required for payment methods. */
  readonly stripe?: StripeStandIn;
  /** Word that every free text contains. Consists of letters. */
  readonly mark?: string;
  /** Value for every free text field. Must contain `mark`. */
  readonly text?: string;
}

/** Fields of a call as JSON. */
export type Fields = Record<string, any>;

/** Calls any method successfully for workspaces and operators, and with an effect if possible. */
export interface MethodCalls {
  /** Returns fields for a successful call. Every free text field contains `text`. */
  validFields(method: DescMethod): Promise<Fields>;
  /** Returns the caller that can use the most recently created fields: a workspace or the operator. */
  callerOf(method: DescMethod): { readonly id: number; readonly apiKey: string };
  /** Calls a method on each of its paths. For a stream, reads two messages and returns no response. */
  call(
    method: DescMethod,
    fields: Readonly<Fields>,
    headers?: () => Readonly<Record<string, string>>,
  ): Promise<Answer[]>;
}

/** Creates the object that a field names and returns the field's value. Receives the fields made so far. */
type MakeField = (method: DescMethod, made: Readonly<Fields>) => unknown;

type FieldValue = MakeField | string | number | boolean | object | undefined;

/** Whether a method is for operators. */
export function isOfOperators({ parent }: DescMethod): boolean {
  return parent.typeName.startsWith("shipments.admin.");
}

/** Whether a method handles payments through a provider. */
export function isOfProvider({ parent, name }: DescMethod): boolean {
  const isOfShipment = /^(CreateCheckout|RetryRefund|AcceptUncountedPayment)$/.test(name);
  return parent.name === "PaymentConnectionService" || isOfShipment;
}

/** Creates the calls. `validFields` creates new objects for the fields to name. */
export function createMethodCalls(service: TestService, caller: MethodCaller): MethodCalls {
  const { workspace, operator, mark = "words", text = "Some words" } = caller;
  const { apiKey } = workspace;
  const { em } = service.app;
  /** Workspace of the most recent call to the provider. */
  let paying = workspace as TestWorkspace;
  let made = 0;
  const newEmail = () => `${mark}'${++made}@example.org`;

  async function post(path: string, body: object, key = apiKey): Promise<any> {
    const response = await service.request(path, { apiKey: key, body });
    expect(response.status, response.text).toBeLessThan(300);
    return response.body.data;
  }
  const postAsOperator = (path: string, body: object) => post(`/admin/v1/${path}`, body, operator.key);

  const bookForOther = () => book(service, apiKey, { customer_name: text, customer_email: newEmail() });
  const newReference = async (method: DescMethod) => (await bookFor(method))["reference"];

  /**
   * Field values, or functions that create them. Keys are `Method.field`, `Service.field` or `field`, most specific
   * first. Fields without an entry are omitted, unless they are required; those get a generated value.
   */
  const FIELDS: Readonly<Record<string, FieldValue>> = {
    ...BOOKING,
    customer_name: text,
    pickup_address: text,
    dropoff_address: text,
    customer_email: `${mark}'@example.org`,
    customer_id_number: text,
    metadata: { [mark]: text },
    note: text,
    name: text,
    query: text,
    lat: 40.758,
    lng: -73.9855,
    time_zone: "Asia/Tokyo",
    overlap_seconds: 60,
    role: "viewer",
    payment_provider: "manual",
    "UpdateShipment.etag": "1",
    "SearchShipments.text": "c7@",
    vehicle: text,
    "UpdateCourier.name": "Ada",
    received_by: text,
    places: async (method) => [{ shipment: await newReference(method), lat: 40.7, lng: -73.9 }],
    photo: SAMPLE_PICTURES.photo.toString("base64"),
    signature: SAMPLE_PICTURES.signature.toString("base64"),
    stage: "assigned",

    shipment: (method) => (isOfProvider(method) ? bookPaying(method) : newReference(method)),
    "ShipmentService.shipments": async (method) => [await newReference(method), NO_REFERENCE],
    "AssignCourier.courier": async () => (await post("/v1/couriers", { name: text })).id,
    "AssignCourier.shipments": async (method) => [{ shipment: await newReference(method) }],
    link: async (_, { courier }) => (await post(`/v1/couriers/${courier}/links`, {})).id,
    payments: async (method) => [{ shipment: await newReference(method), ...PAYMENT }],
    customer: async () => (await bookForOther())["customer"].id,
    "MergeCustomers.from": async () => (await bookForOther())["customer"].id,
    "ListCustomers.name": undefined,
    "ListCustomers.email": undefined,
    event: async (method) => `evt_${await newReference(method)}_1`,
    webhook: async () => (await addWebhook(service, apiKey, { url: `https://example.com/${mark}` })).data.id,
    delivery: async (_, { webhook }) => (await post(`/v1/webhooks/${webhook}/test`, {})).id,
    url: `https://example.com/${mark}'`,
    enabled: true,
    "ApiKeyService.key": async ({ name }) => (await post("/v1/api_keys", { name })).id,
    person: async () => (await post("/v1/members", { email: newEmail(), role: "member" })).person,
    email: newEmail,

    workspace: addWorkspaceFor,
    "WorkspaceAdminService.key": async (_, { workspace }) => (await listKeys(em, workspace))[0]!.id,
    "ListWorkspaces.name_contains": text,
    "UpdateWorkspaceLimits.quote": { rate: 5 },
    kind: "machine",
    "OperatorService.operator": addOperatorFor,
    "OperatorService.key": async (_, { operator: id }) => {
      const response = await service.request(`/admin/v1/operators/${id}`, { apiKey: operator.key });
      return response.body.data.keys[0].id;
    },
    "AuditService.action": "CreateOperator",
    "AuditService.subject": `workspace/${text}`,
    "SlotService.schedule": async () => {
      const hours = [{ days: EVERY_DAY, opens: "00:00", closes: "00:00" }];
      const schedule = scheduleOf({
        name: text.slice(0, 100),
        time_zone: "UTC",
        hours,
        slot_minutes: 1_440,
        capacity: 5,
      });
      await publishDocument(em, { ...SAMPLE_TARIFF, schedules: [schedule] });
      return schedule["name"];
    },
    "SetSlotCapacity.capacity": 4,
    "HoldSlot.quote_id": async () => (await service.as(apiKey).createQuote(COVERED_ROUTE)).body.id,
    "SlotService.start": () => new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000).toISOString(),
    draft: ({ name }) => (name === "PublishTariff" ? newDraft() : anyDraft()),
    fees: { currency: mark, base_fee: text, rate_per_km: mark, tiers: [] },
    data: text,
    replaces: versionInForce,
    version: versionFor,
    from_version: versionInForce,
    to_version: versionInForce,

    "BeginPaymentConnection.payment_provider": async () => {
      paying = await service.addWorkspace({ paymentProvider: undefined });
      return "stripe";
    },
    "SetPaymentKey.payment_provider": async () => {
      await connect();
      return "stripe";
    },
    ...RETURN_URLS,
    restricted_key: () => caller.stripe!.addKey(caller.stripe!.addAccount()),
    webhook_secret: "whsec_own",
    ...PAGE_URLS,
  };

  async function validFields(method: DescMethod): Promise<Fields> {
    if (isOfProvider(method) && method.input.fields.length === 0) await connectFor(method);
    const fields: Fields = {};
    for (const field of method.input.fields) {
      const { name } = field;
      const candidates = [`${method.name}.${name}`, `${method.parent.name}.${name}`, name];
      const candidate = candidates.find((it) => it in FIELDS);
      const source = candidate === undefined ? await requiredValue(method, field) : FIELDS[candidate];
      const value = typeof source === "function" ? await (source as MakeField)(method, fields) : source;
      if (value !== undefined) fields[name] = value;
    }
    return fields;
  }

  /**
   * Returns the default value of a field: the id of a new record in a path, and for a required field `text` if any text
   * is valid, otherwise an example.
   */
  async function requiredValue(method: DescMethod, field: DescField): Promise<FieldValue> {
    if (pathFields(method).includes(field.name)) return (await createRecord(method)).id;
    const { required, type } = getOption(field, rules);
    const isFilled = type?.case === "repeated" && type.value.minItems > 0n;
    if (!required && !isFilled) return undefined;
    const isText = type?.case === "string" && new RegExp(type.value.pattern).test(text);
    return isText ? text : (exampleBody(method)[field.name] as FieldValue);
  }

  /** Creates a record with the first method of the same service that needs none. */
  async function createRecord({ parent }: DescMethod): Promise<{ readonly id: FieldValue }> {
    const creator = parent.methods.find((it) => isPost(it) && pathFields(it).length === 0)!;
    const [response] = await calls.call(creator, await validFields(creator));
    return response!.body.data;
  }

  /** Books a shipment and brings it into the status from which the method starts. */
  async function bookFor({ name }: DescMethod) {
    if (name === "TakeTestStep") return book(service, workspace.twin.apiKey);
    if (/AdvanceShipment|(Set|Remove|Assign)Courier|RecordAttempt|ReportProgress/.test(name)) {
      return bookAnd(service, apiKey, ["pay"]);
    }
    if (name.endsWith("CourierPlace") || name === "ReportPlaces") {
      const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
      await service.as(apiKey).reportPlaces({ places: [{ shipment, lat: 40.7, lng: -73.9 }] });
      return { reference: shipment };
    }
    if (/ReturnShipment|Proof|WaiveVerification/.test(name)) {
      const moving = await bookAnd(service, apiKey, ["pay", "advance"], {
        dropoff_verification: "photo",
      });
      const { photo, signature } = FIELDS;
      const path = `/v1/shipments/${moving["reference"]}/proof`;
      return name.startsWith("Get") ? post(path, { photo, signature }) : moving;
    }
    if (name === "RecordRefund") return bookAnd(service, apiKey, ["pay", "cancel"]);
    return book(service, apiKey);
  }

  /** Creates a workspace with a provider account, and returns the account. */
  async function connect(): Promise<string> {
    paying = await service.addWorkspace({ paymentProvider: undefined });
    return connectStripe(service, caller.stripe!, paying.apiKey);
  }

  async function connectFor({ name }: DescMethod): Promise<void> {
    const account = await connect();
    if (name === "CheckPaymentConnection") caller.stripe!.restrictAccount(account);
  }

  /** Books a shipment with provider payments, in the state from which the method starts. */
  async function bookPaying({ name }: DescMethod): Promise<string> {
    const stripe = caller.stripe!;
    const account = await connect();
    const { reference } = await book(service, paying.apiKey);
    if (name === "CreateCheckout") return reference;
    await requestCheckout(service, paying.apiKey, reference);
    const session = sessionOf(stripe, account, reference);
    const isUncounted = name === "AcceptUncountedPayment";
    if (isUncounted) stripe.books(account).session(session).amount_total = 900;
    stripe.pay(session);
    const path = `/v1/shipments/${reference}`;
    await service.request(`${path}/payments`, { apiKey: paying.apiKey, body: PAYMENT });
    if (isUncounted) return reference;
    stripe.refundsBecome(account, "failed");
    await post(`${path}/cancel`, {}, paying.apiKey);
    await eventually("the refund to fail", async () => {
      const { payment_details } = await getShipment(service, paying.apiKey, reference);
      return payment_details.refund_error !== null;
    });
    return reference;
  }

  async function addWorkspaceFor({ name }: DescMethod): Promise<number> {
    const { id } = await service.addWorkspace();
    if (name === "ConnectPaymentProvider") await setPaymentProvider(em, id, undefined);
    if (name === "ResumeWorkspace") await suspend(em, id);
    return id;
  }

  async function addOperatorFor({ name }: DescMethod): Promise<number> {
    if (name !== "CreateOperatorSignInLink") return (await service.addOperator("operator")).id;
    const person = { name: text, kind: "person", role: "viewer", email: newEmail() };
    return (await postAsOperator("operators", person)).id;
  }

  async function versionInForce(): Promise<number> {
    const [row] = await em
      .fork()
      .execute(
        "select max(version) as version from tariff_version where effective_at <= now() and called_off_at is null",
      );
    return row!.version;
  }

  async function anyDraft(fees?: object): Promise<number> {
    const fields = { name: text, from_version: await versionInForce(), fees };
    return (await postAsOperator("tariff_drafts", fields)).id;
  }

  /** Creates a draft that differs from every earlier tariff. */
  function newDraft(): Promise<number> {
    const { zones: _, source: __, tiers, ...fees } = SAMPLE_TARIFF as Fields;
    // Changes only the heaviest tier, so prices of the bookings stay the same.
    const heaviest = { ...tiers.at(-1), flat_fee: `${50 + ++made}.00` };
    return anyDraft({ ...fees, tiers: [...tiers.slice(0, -1), heaviest] });
  }

  async function publish(more: object = {}): Promise<number> {
    const fields = { replaces: await versionInForce(), ...more };
    return (await postAsOperator(`tariff_drafts/${await newDraft()}/publish`, fields)).version;
  }

  /** Returns the tariff version in force, the previous one, or one scheduled for tomorrow. */
  async function versionFor({ name }: DescMethod): Promise<number> {
    const inForce = await versionInForce();
    if (name === "RollBackTariff") await publish();
    if (name !== "CallOffTariff") return inForce;
    return publish({ effective_at: new Date(Date.now() + 86_400_000).toISOString() });
  }

  function callerOf(method: DescMethod): TestWorkspace {
    if (isOfOperators(method)) return { id: operator.id, apiKey: operator.key };
    if (method.parent.name === "TestService") return workspace.twin;
    return isOfProvider(method) ? paying : workspace;
  }

  const calls: MethodCalls = {
    validFields,
    callerOf,
    async call(method, fields, headers) {
      if (method.methodKind === "server_streaming") {
        const client = service.grpcClient(apiKey, method.parent) as any;
        await take(2, client[method.localName](fields, { timeoutMs: 500 })).catch(() => undefined);
        return [];
      }
      const responses: Answer[] = [];
      for (const { method: verb, path, body } of httpCalls(method, fields)) {
        const more = headers === undefined ? {} : { headers: headers() };
        const options = { apiKey: callerOf(method).apiKey, method: verb, body, ...more };
        responses.push(await service.request(path, options));
      }
      return responses;
    },
  };
  return calls;
}

function isPost(method: DescMethod): boolean {
  return hasOption(method, http) && getOption(method, http).pattern.case === "post";
}
