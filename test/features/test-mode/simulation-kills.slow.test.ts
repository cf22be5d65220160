import { expect, test } from "vitest";
import { data } from "../../support/answers.ts";
import { book } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { startService } from "../../support/service.ts";
import { startServiceProcess } from "../../support/service-process.ts";

const TYPES = [
  "shipment.created",
  "shipment.paid",
  "shipment.awaiting_pickup",
  "shipment.in_transit",
  "shipment.delivered",
  "shipment.dispute_opened",
  "shipment.dispute_closed",
];

test("every simulation step runs once even if one of two processes is killed", async () => {
  const setup = await startService();
  const { twin } = await setup.addWorkspace();
  const { apiKey } = twin;
  await setup.close();
  const start = () => startServiceProcess({ DATABASE_URL: setup.databaseUrl });
  const [killed, kept] = await Promise.all([start(), start()]);
  await Promise.all([killed.untilReady(), kept.untilReady()]);

  const simulation = { scenario: "dispute", step_seconds: 1 };
  const references = await Promise.all(
    Array.from({ length: 40 }, async () => (await book(kept, apiKey, { simulation })).reference),
  );
  const shipments = (): Promise<any[]> => data(kept.as(apiKey).listShipments({ page_size: 100 }));

  await eventually("the first shipment in transit", async () =>
    (await shipments()).some(({ status }) => status === "in_transit"),
  );
  killed.process.kill("SIGKILL");
  await killed.ended;
  await eventually("the end of every dispute", async () =>
    (await shipments()).every((it) => it.payment_details?.dispute === "lost"),
  );
  for (const shipment of references) {
    const events = await data(kept.as(apiKey).listShipmentEvents({ shipment }));
    expect(events.map(({ type }: any) => type)).toEqual(TYPES);
  }
});
