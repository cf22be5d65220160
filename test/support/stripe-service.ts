import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { expect } from "vitest";
import type { AppConfig } from "../../src/server/app.ts";
import { startStripe, type StripeStandIn } from "../stripe/stand-in.ts";
import { book, type ShipmentJson } from "./bookings.ts";
import type { Answer } from "./client.ts";
import { eventually } from "./eventually.ts";
import { whenOver } from "./when-over.ts";
import { startService, type StartedService, type TestService, type TestWorkspace } from "./service.ts";

/** Key that encrypts the secrets of services with payments. */
export const SEALING_KEY = randomBytes(32);
/** Signing secret for the platform's events, in live and test mode. */
export const PLATFORM_SECRET = "whsec_platform";
export const TEST_PLATFORM_SECRET = "whsec_platform_of_test_mode";
/** URLs to which Stripe's pages redirect. */
export const RETURN_URLS = {
  return_url: "https://shop.example.org/done",
  refresh_url: "https://shop.example.org/again",
};
export const PAGE_URLS = {
  success_url: "https://shop.example.org/paid",
  cancel_url: "https://shop.example.org/cart",
};

/** Returns the start of the current minute. Stripe's times are whole seconds. */
function currentMinute(): number {
  return Math.floor(Date.now() / 60_000) * 60_000;
}

/** A service that uses the Stripe stand-in for payments. Both run on a controlled clock. */
export interface StripeService {
  readonly service: StartedService;
  readonly stripe: StripeStandIn;
  /** Current time of service and stand-in. */
  readonly clock: { ms: number };
  /** The service's payment settings. */
  readonly settings: Required<Pick<AppConfig, "stripe" | "secretsKeys">>;
  /** Creates a workspace with an account that can charge. */
  connect(): Promise<ConnectedWorkspace>;
}

/** A workspace with its Stripe account. */
export interface ConnectedWorkspace extends TestWorkspace {
  readonly account: string;
}

/** Starts a service and its stand-in until the end of the test or its file. Tests must deliver events explicitly. */
export async function startStripeService(settings: Parameters<typeof startService>[0] = {}): Promise<StripeService> {
  const clock = { ms: currentMinute() };
  const stripe = await startStripe({ now: () => clock.ms, livemode: true });
  const ofStripe = stripeSettings(stripe);
  const service = await startService({ now: () => new Date(clock.ms), ...ofStripe, ...settings });
  stripe.addWebhook({ url: `${service.httpUrl}/webhooks/stripe`, secret: PLATFORM_SECRET });
  return { service, stripe, clock, settings: ofStripe, connect: () => connect(service, stripe) };
}

/** A service connected to both Stripe modes, each with its own stand-in. */
export interface StripeModes extends StripeService {
  /** Stand-in for test mode. `stripe` is the one for live mode. */
  readonly stripeTest: StripeStandIn;
  /** The service as used by the test twins of its workspaces. */
  readonly testMode: StripeService;
}

/** Starts a service, and Stripe with both modes at one URL, until the end of the test or its file. */
export async function startStripeModes(overrides: Parameters<typeof startService>[0] = {}): Promise<StripeModes> {
  const clock = { ms: currentMinute() };
  const [stripe, stripeTest] = await Promise.all(
    [true, false].map((livemode) => startStripe({ now: () => clock.ms, livemode })),
  );
  const apiUrl = await startFront(stripe!, stripeTest!);
  const { stripe: live, secretsKeys } = stripeSettings(stripe!);
  const test = { secretKey: stripeTest!.secretKey, webhookSecrets: [TEST_PLATFORM_SECRET] };
  const settings = {
    stripe: { apiUrl, platforms: { ...live.platforms, test } },
    secretsKeys,
  };
  const service = await startService({ now: () => new Date(clock.ms), ...settings, ...overrides });
  const url = `${service.httpUrl}/webhooks/stripe`;
  stripe!.addWebhook({ url, secret: PLATFORM_SECRET });
  stripeTest!.addWebhook({ url, secret: TEST_PLATFORM_SECRET });
  const both = { service, clock, settings };
  return {
    ...both,
    stripe: stripe!,
    stripeTest: stripeTest!,
    connect: () => connect(service, stripe!),
    testMode: {
      ...both,
      stripe: stripeTest!,
      connect: async () => {
        const { twin } = await service.addWorkspace({ paymentProvider: undefined });
        return connectWorkspace(service, stripeTest!, twin);
      },
    },
  };
}

/** Starts a server that forwards requests to the stand-in of their key's mode. Returns its URL. */
async function startFront(live: StripeStandIn, test: StripeStandIn): Promise<string> {
  const server = createServer((request, response) => {
    const { method, headers, url } = request;
    const mode = /[rs]k_test_/.test(headers.authorization ?? "") ? test : live;
    const onward = httpRequest(new URL(url!, mode.url), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      // Ignores the error when the stand-in aborts the response. The pipeline then aborts too.
      pipeline(answer, response, () => undefined);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  whenOver(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function connect(service: StartedService, stripe: StripeStandIn): Promise<ConnectedWorkspace> {
  const workspace = await service.addWorkspace({ paymentProvider: undefined });
  return connectWorkspace(service, stripe, workspace);
}

/**
 * Gives a workspace or test twin an account that can charge, without sending events. After the test, removes the
 * workspace's due work, which would otherwise run whenever later tests advance the clock.
 */
async function connectWorkspace<T extends { readonly apiKey: string; readonly id: number }>(
  service: StartedService,
  stripe: StripeStandIn,
  workspace: T,
): Promise<T & { readonly account: string }> {
  const account = await connectStripe(service, stripe, workspace.apiKey);
  stripe.dropEvents();
  whenOver(async () => {
    for (const sql of FORGET) await service.app.em.execute(sql, [workspace.id]);
  });
  return { ...workspace, account };
}

const FORGET = [
  "update payment_connection set check_at = null where workspace_id = ?",
  "update provider_payment set due_at = null where workspace_id = ?",
];

/** Connects a workspace through the onboarding page. Returns its account. */
export async function connectStripe(
  service: Pick<TestService, "request">,
  stripe: StripeStandIn,
  apiKey: string,
): Promise<string> {
  const body = { payment_provider: "stripe", ...RETURN_URLS };
  const begun = await service.request("/v1/payment_connection", { apiKey, body });
  expect(begun.status, begun.text).toBe(200);
  const account = begun.body.data.account as string;
  stripe.completeOnboarding(account);
  const checked = await service.request("/v1/payment_connection/check", { apiKey, body: {} });
  expect(checked.body.data).toMatchObject({ provider: "stripe", state: "ready", account });
  return account;
}

/** Returns the settings for a service that uses a stand-in for payments. */
export function stripeSettings(stripe: StripeStandIn) {
  const platform = { secretKey: stripe.secretKey, webhookSecrets: [PLATFORM_SECRET] };
  return {
    stripe: { apiUrl: stripe.url, platforms: { live: platform } },
    secretsKeys: [SEALING_KEY],
  };
}

export function requestCheckout(
  service: Pick<TestService, "request">,
  apiKey: string,
  reference: string,
  fields: object = {},
): Promise<Answer> {
  const body = { ...PAGE_URLS, ...fields };
  return service.request(`/v1/shipments/${reference}/checkout`, { apiKey, body });
}

/** A shipment with an open checkout session. */
export interface CheckedOut {
  readonly reference: string;
  readonly session: string;
}

/** Books a shipment and requests its checkout. */
export async function bookCheckout(
  { service, stripe }: StripeService,
  { apiKey, account }: ConnectedWorkspace,
): Promise<CheckedOut> {
  const { reference } = await book(service, apiKey);
  const opened = await requestCheckout(service, apiKey, reference);
  expect(opened.status, opened.text).toBe(200);
  return { reference, session: sessionOf(stripe, account, reference) };
}

/** Returns a shipment's most recent session. */
export function sessionOf(stripe: StripeStandIn, account: string, reference: string): string {
  const sessions = [...stripe.books(account).sessions.values()];
  return sessions.findLast((session) => session.client_reference_id === reference)!.id;
}

export async function getShipment(
  service: Pick<TestService, "request">,
  apiKey: string,
  reference: string,
): Promise<ShipmentJson> {
  return (await service.request(`/v1/shipments/${reference}`, { apiKey })).body.data;
}

/** Waits until a shipment has these fields. */
export function untilShipment(
  service: Pick<TestService, "request">,
  apiKey: string,
  reference: string,
  fields: { payment_status?: string; payment_details?: object },
): Promise<ShipmentJson> {
  let last: ShipmentJson;
  return eventually(`${reference} to be ${JSON.stringify(fields)}`, async () => {
    last = await getShipment(service, apiKey, reference);
    const { payment_status = last["payment_status"], payment_details = {} } = fields;
    const details = Object.entries(payment_details);
    const agrees =
      last["payment_status"] === payment_status &&
      details.every(([name, value]) => last["payment_details"]?.[name] === value);
    return agrees ? last : undefined;
  }).catch((error: Error) => {
    throw new Error(`${error.message}; it is ${JSON.stringify(last)}`);
  });
}

/** Returns the types of a shipment's events, oldest first. */
export async function eventTypes(
  service: Pick<TestService, "request">,
  apiKey: string,
  reference: string,
): Promise<string[]> {
  const { body } = await service.request(`/v1/shipments/${reference}/events`, { apiKey });
  return body.data.map(({ type }: { type: string }) => type.replace("shipment.", ""));
}
