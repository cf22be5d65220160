import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { expect } from "vitest";
import type { AppConfig } from "../../src/server/app.ts";
import { startStripe, type StripeStandIn } from "../stripe/stand-in.ts";
import { book, type ShipmentJson } from "./bookings.ts";
import type { Answer } from "./endpoints.ts";
import { eventually } from "./eventually.ts";
import { whenOver } from "./when-over.ts";
import {
  startService,
  type StartedService,
  type TestService,
  type TestWorkspace,
} from "./service.ts";

/** What seals the secrets of services that take payments. */
export const SEALING_KEY = randomBytes(32);
/** What the platform's notices are signed with, in live and in test mode. */
export const PLATFORM_SECRET = "whsec_platform";
export const TEST_PLATFORM_SECRET = "whsec_platform_of_test_mode";
/** Where people come back to from pages of Stripe. */
export const RETURN_URLS = {
  return_url: "https://shop.example.org/done",
  refresh_url: "https://shop.example.org/again",
};
export const PAGE_URLS = {
  success_url: "https://shop.example.org/paid",
  cancel_url: "https://shop.example.org/cart",
};

/** A service that takes payments by the stand-in for Stripe, both on a clock of the test's own. */
export interface StripeService {
  readonly service: StartedService;
  readonly stripe: StripeStandIn;
  /** What time it is for both. */
  readonly clock: { ms: number };
  /** What the service takes payments by. */
  readonly settings: Required<Pick<AppConfig, "stripe" | "secretsKeys">>;
  /** Makes a workspace with an account that may charge. */
  connect(): Promise<ConnectedWorkspace>;
}

/** A workspace, and its account at Stripe. */
export interface ConnectedWorkspace extends TestWorkspace {
  readonly account: string;
}

/** Starts both, until the test or its file is over; notices are held until the test delivers them. */
export async function startStripeService(
  settings: Parameters<typeof startService>[0] = {},
): Promise<StripeService> {
  const clock = { ms: Date.parse("2026-11-22T12:00:00Z") };
  const stripe = await startStripe({ now: () => clock.ms, livemode: true });
  const ofStripe = stripeSettings(stripe);
  const service = await startService({ now: () => new Date(clock.ms), ...ofStripe, ...settings });
  stripe.addWebhook({ url: `${service.httpUrl}/webhooks/stripe`, secret: PLATFORM_SECRET });
  return { service, stripe, clock, settings: ofStripe, connect: () => connect(service, stripe) };
}

/** A service that has a platform in both modes of Stripe, of which each is a stand-in of its own. */
export interface StripeModes extends StripeService {
  /** Of test mode; `stripe` is of live mode. */
  readonly stripeTest: StripeStandIn;
  /** The service as the twins of its workspaces see it. */
  readonly testMode: StripeService;
}

/** Starts a service, and Stripe with both of its modes at one address, until the test or its file is over. */
export async function startStripeModes(
  given: Parameters<typeof startService>[0] = {},
): Promise<StripeModes> {
  const clock = { ms: Date.parse("2026-11-22T12:00:00Z") };
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
  const service = await startService({ now: () => new Date(clock.ms), ...settings, ...given });
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

/** Hands requests on to the stand-in of the mode that their key is of; gives the address. */
async function startFront(live: StripeStandIn, test: StripeStandIn): Promise<string> {
  const server = createServer((request, response) => {
    const { method, headers, url } = request;
    const mode = /[rs]k_test_/.test(headers.authorization ?? "") ? test : live;
    const onward = httpRequest(new URL(url!, mode.url), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      // Breaks off where the stand-in does.
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

async function connect(
  service: StartedService,
  stripe: StripeStandIn,
): Promise<ConnectedWorkspace> {
  const workspace = await service.addWorkspace({ paymentProvider: undefined });
  return connectWorkspace(service, stripe, workspace);
}

/**
 * Gives a workspace, or a twin, an account that may charge, of which no notice comes. Once the test is
 * over, nothing of it is due any more, or each hour that later tests let pass would look at it again.
 */
export async function connectWorkspace<T extends { readonly apiKey: string; readonly id: number }>(
  service: StartedService,
  stripe: StripeStandIn,
  workspace: T,
): Promise<T & { readonly account: string }> {
  const account = await connectStripe(service, stripe, workspace.apiKey);
  stripe.dropNotices();
  whenOver(async () => {
    for (const sql of FORGET) await service.app.em.execute(sql, [workspace.id]);
  });
  return { ...workspace, account };
}

const FORGET = [
  "update payment_connection set check_at = null where workspace_id = ?",
  "update provider_payment set due_at = null where workspace_id = ?",
];

/** Connects a workspace by the onboarding page; gives its account. */
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

/** The settings of a service that takes payments by a stand-in. */
export function stripeSettings(stripe: StripeStandIn) {
  const platform = { secretKey: stripe.secretKey, webhookSecrets: [PLATFORM_SECRET] };
  return {
    stripe: { apiUrl: stripe.url, platforms: { live: platform } },
    secretsKeys: [SEALING_KEY],
  };
}

/** Asks for a checkout of a shipment. */
export function askCheckout(
  service: Pick<TestService, "request">,
  apiKey: string,
  reference: string,
  fields: object = {},
): Promise<Answer> {
  const body = { ...PAGE_URLS, ...fields };
  return service.request(`/v1/shipments/${reference}/checkout`, { apiKey, body });
}

/** A shipment that can be paid at an open session. */
export interface CheckedOut {
  readonly reference: string;
  /** The id of the session. */
  readonly session: string;
}

/** Books a shipment and opens a checkout for it. */
export async function bookCheckout(
  { service, stripe }: StripeService,
  { apiKey, account }: ConnectedWorkspace,
): Promise<CheckedOut> {
  const { reference } = await book(service, apiKey);
  const opened = await askCheckout(service, apiKey, reference);
  expect(opened.status, opened.text).toBe(200);
  return { reference, session: sessionOf(stripe, account, reference) };
}

/** The session that was opened last for a shipment. */
export function sessionOf(stripe: StripeStandIn, account: string, reference: string): string {
  const sessions = [...stripe.books(account).sessions.values()];
  return sessions.findLast((session) => session.client_reference_id === reference)!.id;
}

/** The shipment as it is now. */
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

/** The types of a shipment's events, the oldest first. */
export async function eventTypes(
  service: Pick<TestService, "request">,
  apiKey: string,
  reference: string,
): Promise<string[]> {
  const { body } = await service.request(`/v1/shipments/${reference}/events`, { apiKey });
  return body.data.map(({ type }: { type: string }) => type.replace("shipment.", ""));
}
