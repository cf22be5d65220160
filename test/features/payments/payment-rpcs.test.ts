import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { PaymentConnectionService } from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { ANY_TIME, book, takeStep } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { eventually } from "../../support/eventually.ts";
import { PROTOCOLS, rpcClient } from "../../support/rpc-client.ts";
import {
  connectStripe,
  getShipment,
  PAGE_URLS,
  RETURN_URLS,
  sessionOf,
  startStripeService,
} from "../../support/stripe-service.ts";

const { service, stripe } = await startStripeService();

const {
  getPaymentConnection,
  beginPaymentConnection,
  setPaymentKey,
  checkPaymentConnection,
  disconnectPaymentConnection,
} = PaymentConnectionService.method;
const { createCheckout, retryRefund } = ShipmentService.method;

const PATH = "/v1/payment_connection";
/** Method and path of each RPC by JSON. */
const ROUTES = new Map<DescMethodUnary, readonly [method: string, path: string]>([
  [getPaymentConnection, ["GET", PATH]],
  [beginPaymentConnection, ["POST", PATH]],
  [setPaymentKey, ["PUT", `${PATH}/key`]],
  [checkPaymentConnection, ["POST", `${PATH}/check`]],
  [disconnectPaymentConnection, ["DELETE", PATH]],
  [createCheckout, ["POST", "/v1/shipments/{shipment}/checkout"]],
  [retryRefund, ["POST", "/v1/shipments/{shipment}/refunds/retry"]],
]);

type Fields = Readonly<Record<string, unknown>>;

/** Calls an RPC with fields by their JSON names; gives the answer as JSON has it, or the refusal. */
type Call = (apiKey: string, method: DescMethodUnary, fields?: Fields) => Promise<unknown>;

/** A refusal as the protocol of a caller tells it. */
type Refused = (message: unknown, reason?: keyof typeof STATUS) => object;

const STATUS = {
  precondition: [422, Code.FailedPrecondition],
  argument: [422, Code.InvalidArgument],
  missing: [404, Code.NotFound],
} as const;

const byJson: Call = async (apiKey, method, fields: Fields = {}) => {
  const [verb, template] = ROUTES.get(method)!;
  const { shipment, ...body } = fields;
  const path = template.replace("{shipment}", String(shipment));
  const hasBody = verb === "POST" || verb === "PUT";
  const answer = await service.request(path, {
    apiKey,
    method: verb,
    ...(hasBody ? { body } : {}),
  });
  if (answer.status < 300) return answer.body;
  return { refused: answer.status, message: answer.body.message };
};

function byRpc(protocol: (typeof PROTOCOLS)[keyof typeof PROTOCOLS]): Call {
  return async (apiKey, method, fields: Fields = {}) => {
    const client: any = rpcClient(method.parent, protocol, service, apiKey);
    const camel = Object.entries(fields).map(([name, value]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]);
    try {
      const response = await client[method.localName](Object.fromEntries(camel));
      return inDialect(method.output, response);
    } catch (error) {
      const { code, rawMessage } = ConnectError.from(error);
      return { refused: code, message: rawMessage };
    }
  };
}

const callers: readonly (readonly [name: string, call: Call, refused: Refused])[] = [
  ["JSON", byJson, (message, reason = "precondition") => ({ refused: STATUS[reason][0], message })],
  ...(["Connect on the HTTP server", "gRPC on the gRPC server"] as const).map(
    (name) =>
      [
        name,
        byRpc(PROTOCOLS[name]),
        (message: unknown, reason: keyof typeof STATUS = "precondition") => ({
          refused: STATUS[reason][1],
          message,
        }),
      ] as const,
  ),
];

const NONE = {
  provider: null,
  state: "none",
  account: null,
  live: null,
  own_key: false,
  missing: [],
  connected_at: null,
  checked_at: null,
};
const BEGIN = { payment_provider: "stripe", ...RETURN_URLS };
const keyOf = (key: string) => ({
  payment_provider: "stripe",
  restricted_key: key,
  webhook_secret: "whsec_own",
});

describe.each(callers)("by %s", (_, call, refused) => {
  test("an account is connected, checked and disconnected", async () => {
    const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
    expect(await call(apiKey, getPaymentConnection)).toEqual({ data: NONE });
    expect(await call(apiKey, checkPaymentConnection)).toEqual(
      refused("The workspace has no payment provider connected; connect one before booking."),
    );
    const onboarding = {
      ...NONE,
      provider: "stripe",
      state: "onboarding",
      account: expect.stringMatching(/^acct_/),
      live: true,
      missing: expect.arrayContaining(["external_account"]),
      connected_at: ANY_TIME,
      checked_at: ANY_TIME,
    };
    const begun: any = await call(apiKey, beginPaymentConnection, BEGIN);
    expect(begun).toEqual({
      data: onboarding,
      onboarding_url: expect.stringMatching(/^https:\/\/connect\.stripe\.com\//),
      onboarding_expires_at: ANY_TIME,
    });
    const { account } = begun.data;
    stripe.completeOnboarding(account);
    const ready = { ...onboarding, state: "ready", account, missing: [] };
    expect(await call(apiKey, checkPaymentConnection)).toEqual({ data: ready });
    expect(await call(apiKey, getPaymentConnection)).toEqual({ data: ready });
    expect(await call(apiKey, disconnectPaymentConnection)).toEqual({});
    expect(await call(apiKey, getPaymentConnection)).toEqual({ data: NONE });
  });

  test("a key of the workspace's own is set", async () => {
    const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
    const account = stripe.addAccount();
    const set = await call(apiKey, setPaymentKey, keyOf(stripe.addKey(account)));
    expect(set).toEqual({
      data: {
        ...NONE,
        provider: "stripe",
        state: "ready",
        account,
        live: true,
        own_key: true,
        connected_at: ANY_TIME,
        checked_at: ANY_TIME,
      },
    });
    expect(await call(apiKey, getPaymentConnection)).toEqual(set);
  });

  test("what is malformed is refused", async () => {
    const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
    const key = keyOf(stripe.addKey(stripe.addAccount()));
    const shop = { ...BEGIN, return_url: "shop" };
    expect(await call(apiKey, beginPaymentConnection, shop)).toEqual(
      refused("return_url must be an address such as https://example.org/done.", "argument"),
    );
    expect(await call(apiKey, setPaymentKey, { ...key, restricted_key: "secret" })).toEqual(
      refused(expect.stringContaining("restricted_key"), "argument"),
    );
    expect(await call(apiKey, getPaymentConnection)).toEqual({ data: NONE });
  });

  test("a checkout is opened, and refused where it cannot be", async () => {
    const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
    const account = await connectStripe(service, stripe, apiKey);
    const { reference } = await book(service, apiKey);
    const fields = { shipment: reference, ...PAGE_URLS };
    const opened: any = await call(apiKey, createCheckout, fields);
    const data = await getShipment(service, apiKey, reference);
    const { url } = stripe.books(account).session(sessionOf(stripe, account, reference));
    expect(opened).toEqual({ data, checkout_url: url, expires_at: ANY_TIME });
    expect(await call(apiKey, createCheckout, fields)).toEqual(opened);
    expect(await call(apiKey, disconnectPaymentConnection)).toEqual(
      refused(
        "Payments or refunds of the workspace are open at the payment provider; wait for their end.",
      ),
    );
    expect(await call(apiKey, createCheckout, { ...fields, cancel_url: "cart" })).toEqual(
      refused("cancel_url must be an address such as https://example.org/done.", "argument"),
    );
    expect(
      await call(apiKey, createCheckout, { ...fields, shipment: "SHP-0000000000000" }),
    ).toEqual(refused(expect.any(String), "missing"));
    await takeStep(service, apiKey, reference, "cancel");
    expect(await call(apiKey, createCheckout, fields)).toEqual(
      refused("The shipment cannot be paid because it is cancelled."),
    );
  });

  test("a refund that failed is tried again, and no other", async () => {
    const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
    const account = await connectStripe(service, stripe, apiKey);
    const { reference } = await book(service, apiKey);
    await call(apiKey, createCheckout, { shipment: reference, ...PAGE_URLS });
    stripe.pay(sessionOf(stripe, account, reference));
    await takeStep(service, apiKey, reference, "pay");
    expect(await call(apiKey, retryRefund, { shipment: reference })).toEqual(
      refused("The refund cannot be tried again because its payment is paid."),
    );
    stripe.refundsBecome(account, "failed");
    await takeStep(service, apiKey, reference, "cancel");
    await eventually("the refund to fail", async () => {
      const { payment_details } = await getShipment(service, apiKey, reference);
      return payment_details.refund_error !== null;
    });
    // The one that follows is under way for long.
    stripe.refundsBecome(account, "pending");
    const failed = await getShipment(service, apiKey, reference);
    const details = { ...failed["payment_details"], refund_error: null };
    expect(await call(apiKey, retryRefund, { shipment: reference })).toEqual({
      data: {
        ...failed,
        payment_details: details,
        etag: expect.not.stringMatching(failed["etag"]),
        updated_at: ANY_TIME,
      },
    });
    expect(await call(apiKey, retryRefund, { shipment: reference })).toEqual(
      refused("The refund cannot be tried again because its refund is on its way."),
    );
  });
});
