import { expect, test } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { RPC_BOOKING } from "../support/bookings.ts";
import { sharedService } from "../support/service.ts";

const BOOKINGS = 1_000;
const AT_ONCE = 20;

test("1,000 bookings with lost responses create 1,000 shipments", async () => {
  const service = await sharedService();
  const { twin } = await service.addWorkspace();
  let sent = 0;
  const { shipments } = createClient({
    url: service.httpUrl,
    key: twin.apiKey,
    retry: { baseMs: 1 },
    fetch: (...request) => {
      sent++;
      return fetch(...request);
    },
  });
  const references = new Set<string>();
  let begun = 0;
  async function bookRepeatedly() {
    while (begun++ < BOOKINGS) {
      const { data } = await shipments.createShipment(RPC_BOOKING, {
        headers: { simulate: "lose_answer" },
      });
      references.add(data!.reference);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, bookRepeatedly));
  const booked = await service.app.em.execute("select reference from shipment where workspace_id = ?", [twin.id]);
  expect(new Set(booked.map(({ reference }) => reference))).toEqual(references);
  expect({ shipments: booked.length, sent }).toEqual({ shipments: BOOKINGS, sent: 2 * BOOKINGS });
});
