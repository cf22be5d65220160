import type { DescMethod } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { book, bookAnd, NO_REFERENCE, BOOKING, COVERED_ROUTE, PAYMENT } from "./bookings.ts";
import { eventually } from "./eventually.ts";
import { httpCalls } from "./described-services.ts";
import type { Answer } from "./endpoints.ts";
import { listKeys } from "./platform.ts";
import type { TestOperator, TestService, TestWorkspace } from "./service.ts";
import type { StripeStandIn } from "../stripe/stand-in.ts";
import { connectStripe, PAGE_URLS, RETURN_URLS, sessionOf } from "./stripe-service.ts";
import { take } from "./take.ts";
import { SAMPLE_TARIFF } from "./tariffs.ts";
import { addWebhook } from "./webhooks.ts";

/** Who calls what workspaces and operators can call, and what stands in the fields of their calls. */
export interface MethodCaller {
  readonly workspace: TestWorkspace & { readonly twin: TestWorkspace };
  /** A workspace whose payments a provider takes, which the service asks here. */
  readonly paying: TestWorkspace;
  readonly stripe: StripeStandIn;
  readonly operator: Pick<TestOperator, "key">;
  /** Stands in every free text: a word of letters. */
  readonly mark: string;
  /** Is every free text, and has the mark in it. */
  readonly text: string;
  /** The tariff version in force; the first unless told otherwise. */
  readonly tariffVersion?: number;
}

/** Calls any method of workspaces and operators so that it succeeds. */
export interface MethodCalls {
  /** The fields of a call that succeeds, with the text wherever a field takes free text. */
  validFields(method: DescMethod): Promise<Record<string, unknown>>;
  /** Calls a method on each of its paths, or reads two messages of the stream, which has no answer. */
  call(
    method: DescMethod,
    fields: Readonly<Record<string, unknown>>,
    headers?: () => Readonly<Record<string, string>>,
  ): Promise<Answer[]>;
}

const OF_PROVIDER = /^(CreateCheckout|RetryRefund|AcceptUncountedPayment)$/;

/** Whether a method is about payments at a provider. */
function isOfProvider({ parent, name }: DescMethod): boolean {
  return parent.name === "PaymentConnectionService" || OF_PROVIDER.test(name);
}

/** Makes the calls of a caller; each call with fields that it is given makes what these name. */
export function createMethodCalls(service: TestService, caller: MethodCaller): MethodCalls {
  const { workspace, paying, stripe, operator, mark, text, tariffVersion = 1 } = caller;
  const { apiKey } = workspace;
  /** The key in whose mode a method works. */
  function keyOf(method: DescMethod): string {
    if (method.parent.name === "TestService") return workspace.twin.apiKey;
    return isOfProvider(method) ? paying.apiKey : apiKey;
  }
  let people = 0;
  const newEmail = () => `${mark}'${++people}@example.org`;

  /** For each field that takes free text, such text; for the others, what is valid there. */
  const usual: Readonly<Record<string, unknown>> = {
    ...BOOKING,
    ...PAYMENT,
    text: "c7@",
    customer_name: text,
    customer_email: `${mark}'@example.org`,
    customer_id_number: text,
    pickup_address: text,
    dropoff_address: text,
    metadata: { [mark]: text },
    note: text,
    url: `https://example.com/${mark}'`,
    etag: "1",
    email: `${mark}'@example.org`,
    routes: [COVERED_ROUTE],
    points: [{ lat: 40.758, lng: -73.9855 }],
    enabled: true,
    overlap_seconds: 60,
    name: text,
    name_contains: text,
    payment_provider: "manual",
    time_zone: "Asia/Tokyo",
    query: text,
    lat: 40.758,
    lng: -73.9855,
    quote: { rate: 5 },
    step: "pay",
    kind: "machine",
    role: "viewer",
    fees: { currency: mark, base_fee: text, rate_per_km: mark, tiers: [] },
  };

  async function validFields(method: DescMethod): Promise<Record<string, unknown>> {
    if (isOfProvider(method)) return providerFields(method);
    const names = method.input.fields.map(({ name }) => name);
    const given = names.filter((name) => name in usual).map((name) => [name, usual[name]]);
    const fields: Record<string, unknown> = Object.fromEntries(given);
    if (names.includes("shipment")) fields["shipment"] = (await shipmentFor(method))["reference"];
    if (method.name.startsWith("Batch") && names.includes("shipments")) {
      fields["shipments"] = [(await shipmentFor(method))["reference"], NO_REFERENCE];
    }
    if (names.includes("payments")) {
      fields["payments"] = [{ shipment: (await shipmentFor(method))["reference"], ...PAYMENT }];
    }
    if (names.includes("webhook")) {
      const { data } = await addWebhook(service, apiKey, { url: `https://example.com/${mark}` });
      fields["webhook"] = data.id;
      if (names.includes("delivery")) {
        const tested = await service.request(`/v1/webhooks/${data.id}/test`, { apiKey, body: {} });
        fields["delivery"] = tested.body.data.id;
      }
    }
    if (names.includes("customer")) {
      fields["customer"] = (await book(service, apiKey))["customer"].id;
    }
    if (method.name === "MergeCustomers") {
      const other = { customer_name: text, customer_email: newEmail() };
      fields["from"] = (await book(service, apiKey, other))["customer"].id;
    }
    if (names.includes("event"))
      fields["event"] = `evt_${(await book(service, apiKey)).reference}_1`;
    if (names.includes("workspace")) fields["workspace"] = (await service.addWorkspace()).id;
    if (names.includes("person")) fields["person"] = await addMember();
    const isOfOperator = method.parent.name === "OperatorService";
    if (names.includes("key") && !isOfOperator) fields["key"] = await keyFor(method, fields);
    // The etags of drafts and customers differ from a shipment's, and are not needed.
    if (names.includes("draft") || names.includes("customer")) delete fields["etag"];
    return { ...fields, ...(await platformFields(method, names)) };
  }

  /** The fields of methods about payments at a provider. */
  async function providerFields({
    name,
    parent,
    input,
  }: DescMethod): Promise<Record<string, unknown>> {
    if (parent.name === "PaymentConnectionService") {
      // What is open keeps the provider from being replaced.
      const connection = service.app.em.getConnection();
      const settle = "update provider_payment set due_at = null where workspace_id = ?";
      await connection.execute(settle, [paying.id]);
      const count =
        "update shipment set payment_details = payment_details - 'uncounted' where workspace_id = ?";
      await connection.execute(count, [paying.id]);
      const all: Record<string, unknown> = {
        payment_provider: "stripe",
        ...RETURN_URLS,
        restricted_key: stripe.addKey(stripe.addAccount()),
        webhook_secret: "whsec_own",
      };
      const begins = name === "BeginPaymentConnection" || name === "CheckPaymentConnection";
      if (begins) await connectStripe(service, stripe, paying.apiKey);
      const names = input.fields.map((field) => field.name);
      return Object.fromEntries(Object.entries(all).filter(([field]) => names.includes(field)));
    }
    const account = await connectStripe(service, stripe, paying.apiKey);
    const { reference } = await book(service, paying.apiKey);
    if (name === "CreateCheckout") return { shipment: reference, ...PAGE_URLS };
    const path = `/v1/shipments/${reference}`;
    const post = (to: string, body: object) =>
      service.request(`${path}/${to}`, { apiKey: paying.apiKey, body });
    await post("checkout", PAGE_URLS);
    const session = sessionOf(stripe, account, reference!);
    const isUncounted = name === "AcceptUncountedPayment";
    if (isUncounted) stripe.books(account).session(session).amount_total = 900;
    stripe.pay(session);
    await post("payments", PAYMENT);
    if (isUncounted) return { shipment: reference };
    stripe.refundsBecome(account, "failed");
    await post("cancel", {});
    await eventually("the refund to fail", async () => {
      const { body } = await service.request(path, { apiKey: paying.apiKey });
      return body.data.payment_details.refund_error !== null;
    });
    return { shipment: reference };
  }

  /** Those of the fields that name operators, drafts and versions, or mean something else to operators. */
  async function platformFields(method: DescMethod, names: readonly string[]) {
    const of = method.parent.name;
    if (of === "AuditService") return { action: "CreateOperator", subject: `workspace/${text}` };
    if (of === "OperatorService") {
      const email = names.includes("email") ? { email: newEmail() } : {};
      return { ...email, ...(await operatorFor(method, names)) };
    }
    if (of !== "TariffService") return {};
    const named: Record<string, unknown> = {};
    if (names.includes("draft")) named["draft"] = await makeDraft();
    if (names.includes("replaces")) named["replaces"] = tariffVersion;
    for (const name of ["version", "from_version", "to_version"]) {
      if (names.includes(name)) named[name] = tariffVersion;
    }
    if (names.includes("data")) named["data"] = text;
    if (method.name === "CallOffTariff") named["version"] = await scheduleVersion();
    return named;
  }

  async function operatorFor(
    { name }: DescMethod,
    names: readonly string[],
  ): Promise<Record<string, unknown>> {
    if (!names.includes("operator")) return {};
    if (name !== "CreateOperatorSignInLink") {
      const { id: operator, key } = await service.addOperator("viewer");
      const self = await service.request("/admin/v1/self", { apiKey: key });
      return { operator, ...(names.includes("key") ? { key: self.body.data.keys[0].id } : {}) };
    }
    const body = { name: text, kind: "person", role: "viewer", email: newEmail() };
    const made = await service.request("/admin/v1/operators", { apiKey: operator.key, body });
    return { operator: made.body.data.id };
  }

  /** The id of a new member of the workspace. */
  async function addMember(): Promise<number> {
    const answer = await service.request("/v1/members", { apiKey, body: { email: newEmail() } });
    expect(answer.status, answer.text).toBe(201);
    return answer.body.data.person;
  }

  async function makeDraft(fees?: object): Promise<number> {
    const body = {
      name: text,
      from_version: tariffVersion,
      ...(fees === undefined ? {} : { fees }),
    };
    const answer = await service.request("/admin/v1/tariff_drafts", { apiKey: operator.key, body });
    expect(answer.status, answer.text).toBe(201);
    return answer.body.data.id;
  }

  /** Schedules a version for tomorrow, and gives its number. */
  async function scheduleVersion(): Promise<number> {
    const { base_fee: _, zones: __, ...fees } = SAMPLE_TARIFF;
    const draft = await makeDraft({ ...fees, base_fee: "77.00" });
    const body = {
      replaces: tariffVersion,
      effective_at: new Date(Date.now() + 86_400_000).toISOString(),
    };
    const answer = await service.request(`/admin/v1/tariff_drafts/${draft}/publish`, {
      apiKey: operator.key,
      body,
    });
    expect(answer.status, answer.text).toBe(201);
    return answer.body.data.version;
  }

  /** A key of the workspace that the call names, or is of, which may be revoked. */
  async function keyFor({ name }: DescMethod, fields: Record<string, unknown>): Promise<string> {
    if (fields["workspace"] !== undefined) {
      const [key] = await listKeys(service.app.em, Number(fields["workspace"]));
      return key!.id;
    }
    await service.request("/v1/api_keys", { apiKey, body: { name } });
    return (await listKeys(service.app.em, workspace.id)).at(-1)!.id;
  }

  function shipmentFor({ name }: DescMethod) {
    if (name === "TakeTestStep") return book(service, workspace.twin.apiKey);
    if (name.includes("AdvanceShipment")) return bookAnd(service, apiKey, ["pay"]);
    if (name === "RecordRefund") return bookAnd(service, apiKey, ["pay", "cancel"]);
    return book(service, apiKey);
  }

  return {
    validFields,
    async call(method, fields, headers) {
      if (method.methodKind === "server_streaming") {
        const client = service.grpcClient(apiKey, method.parent) as any;
        await take(2, client[method.localName](fields, { timeoutMs: 500 })).catch(() => undefined);
        return [];
      }
      const answers: Answer[] = [];
      for (const { method: verb, path, body } of httpCalls(method, fields)) {
        const key = path.startsWith("/admin/") ? operator.key : keyOf(method);
        const more = headers === undefined ? {} : { headers: headers() };
        answers.push(await service.request(path, { apiKey: key, method: verb, body, ...more }));
      }
      return answers;
    },
  };
}
