import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { book } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startService } from "../../support/service.ts";

test("what works by JSON works by gRPC: add, test, look at attempts, rotate, remove", async () => {
  const service = await startService();
  const receiver = await startReceiver();
  const { apiKey } = await service.addWorkspace();
  const webhooks = service.grpcClient(apiKey, WebhookService);
  const { data, secret } = await webhooks.createWebhook({ url: receiver.url });
  const webhook = data!.id;
  const tested = await webhooks.testWebhook({ webhook });
  await eventually("the first message", () => receiver.received.length === 1);
  const delivery = tested.data!.id;
  await eventually("the attempt", async () => {
    const { data: attempts } = await webhooks.listWebhookAttempts({ webhook, delivery });
    return attempts[0]?.status === 204;
  });
  await book(service, apiKey);
  await eventually("the second message", () => receiver.received.length === 2);
  expect((await webhooks.listWebhookDeliveries({ webhook })).data).toHaveLength(2);
  expect((await webhooks.rotateWebhookSecret({ webhook })).secret).not.toBe(secret);
  expect((await webhooks.updateWebhook({ webhook, enabled: false })).data?.enabled).toBe(false);
  expect((await webhooks.listWebhooks({})).data).toHaveLength(1);
  await webhooks.deleteWebhook({ webhook });
  const error = ConnectError.from(await webhooks.getWebhook({ webhook }).catch((it) => it));
  expect(error.code).toBe(Code.NotFound);
  await service.close();
  await receiver.close();
});
