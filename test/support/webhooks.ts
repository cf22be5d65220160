import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { BOOKING, type TestService } from "./service.ts";

/** Waits until something is so. */
export async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await sleep(20);
}

/** Books a shipment, and gives it. */
export async function book(service: TestService, apiKey: string): Promise<any> {
  const { status, body } = await service.request("/v1/shipments", { apiKey, body: BOOKING });
  expect(status).toBe(201);
  return body.data;
}

/** Adds a webhook, and gives the whole answer. */
export async function addWebhook(
  service: TestService,
  apiKey: string,
  body: { url: string; types?: string[] },
): Promise<{ data: any; secret: string }> {
  const answer = await service.request("/v1/webhooks", { apiKey, body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** The deliveries of a webhook, the newest first. */
export async function deliveriesOf(
  service: TestService,
  apiKey: string,
  webhook: string,
): Promise<any[]> {
  const { body } = await service.request(`/v1/webhooks/${webhook}/deliveries?page_size=100`, {
    apiKey,
  });
  return body.data;
}

/** Waits until a webhook's only delivery has been attempted so often, and gives it. */
export async function untilAttempted(
  service: TestService,
  apiKey: string,
  webhook: string,
  attempts: number,
): Promise<any> {
  for (;;) {
    const [delivery] = await deliveriesOf(service, apiKey, webhook);
    if (delivery !== undefined && delivery.attempts >= attempts) return delivery;
    await sleep(20);
  }
}

/** The attempts at a delivery, the first first. */
export async function attemptsAt(
  service: TestService,
  apiKey: string,
  delivery: any,
): Promise<any[]> {
  const path = `/v1/webhooks/${delivery.webhook}/deliveries/${delivery.id}/attempts`;
  const { body } = await service.request(path, { apiKey });
  return body.data;
}

/** Makes every job that waits for its time come due now. */
export async function hurry(service: TestService): Promise<void> {
  await service.app.em.execute(
    "update graphile_worker._private_jobs set run_at = now() where locked_at is null",
  );
  await service.app.em.execute("select pg_notify('jobs:insert', '{\"r\": 1, \"count\": 1}')");
}
