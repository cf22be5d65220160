import { expect, onTestFinished } from "vitest";
import { data } from "./answers.ts";
import { connectTo } from "./database.ts";
import { eventually } from "./eventually.ts";
import { startReceiver, type Answering } from "./receiver.ts";
import type { TestService } from "./service.ts";

export async function addWebhook(
  service: TestService,
  apiKey: string,
  { url, types }: { readonly url: string; readonly types?: string[] },
): Promise<{ data: any; secret: string }> {
  const answer = await service.as(apiKey).createWebhook({ url, types });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** Creates a workspace with a webhook to a new receiver, which closes with the test. */
export async function addReceiver(service: TestService, answer?: Answering) {
  const receiver = await startReceiver(answer);
  onTestFinished(receiver.close);
  const workspace = await service.addWorkspace();
  const { data: webhook, secret } = await addWebhook(service, workspace.apiKey, receiver);
  return { ...workspace, receiver, webhook, secret };
}

/** Returns the deliveries of a webhook, newest first. */
export function deliveriesOf(service: TestService, apiKey: string, webhook: string): Promise<any[]> {
  return data(service.as(apiKey).listWebhookDeliveries({ webhook, page_size: 100 }));
}

/** Waits until a webhook's only delivery has been attempted this often, and returns it. */
export function untilAttempted(service: TestService, apiKey: string, webhook: string, attempts: number): Promise<any> {
  return eventually(`attempt ${attempts} at a delivery`, async () => {
    const [delivery] = await deliveriesOf(service, apiKey, webhook);
    return delivery?.attempts >= attempts && delivery;
  });
}

/** Waits until this many deliveries of a webhook have succeeded, and returns the ids of the messages. */
export async function untilDelivered(
  service: TestService,
  { receiver, webhook }: Pick<Awaited<ReturnType<typeof addReceiver>>, "receiver" | "webhook">,
  count: number,
): Promise<string[]> {
  const client = await connectTo(service.databaseUrl);
  const delivered = "select from webhook_delivery where webhook_id = $1 and status = 'delivered'";
  await eventually("all deliveries to finish", async () => {
    return (await client.query(delivered, [webhook.id])).rowCount === count;
  });
  return receiver.received.map(({ headers }) => headers["webhook-id"] as string);
}

/** Returns the attempts of a delivery, oldest first. */
export function attemptsAt(service: TestService, apiKey: string, { webhook, id: delivery }: any): Promise<any[]> {
  return data(service.as(apiKey).listWebhookAttempts({ webhook, delivery }));
}

/** Makes every pending delivery due now. */
export async function hurry(service: TestService): Promise<void> {
  await service.app.em.execute(
    `with due as (
       update webhook_delivery set next_attempt_at = now() where status = 'pending'
       returning workspace_id)
     select pg_notify('shipments_events', workspace_id::text) from due`,
  );
}
