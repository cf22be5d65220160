/** The product's pickup slots in a process of its own: for every message, a round of listing 14 days. */
import type { ListPickupSlotsRequestValid } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { createPricing } from "../../../src/domain/pricing/pricing.ts";
import { parseTariff } from "../../../src/domain/pricing/tariff.ts";
import { listPickupSlots } from "../../../src/features/shipments/list-pickup-slots.ts";
import type { TariffCache } from "../../../src/features/tariffs/versions/tariff-cache.ts";
import { EVERY_DAY, scheduleOf } from "../../support/schedules.ts";
import { worldTariff } from "../../support/tariffs.ts";
import type { SlotTimes } from "./slots.ts";

const CALLS = 500;
const ROUTE = { pickupLat: 52, pickupLng: 13, dropoffLat: 53, dropoffLng: 14, weightKg: 1 };
const REQUEST = { ...ROUTE, days: 14 } as ListPickupSlotsRequestValid;

process.on("message", ({ slotMinutes }: { slotMinutes: number }) => {
  const schedule = scheduleOf({
    hours: [{ days: EVERY_DAY, opens: "08:00", closes: "20:00", fee: "1.00" }],
    slot_minutes: slotMinutes,
    lead_time_minutes: 60,
    cut_offs: [
      { until: "12:00", days_before: 1, at: "17:00" },
      { from: "12:00", at: "11:00" },
    ],
  });
  const document = worldTariff({ schedules: [schedule], default_schedule: "day" });
  const pricing = createPricing(parseTariff(document).tariff!);
  const tariffs = { current: () => ({ version: 1, pricing }) } as unknown as TariffCache;
  const list = () =>
    listPickupSlots(REQUEST, { testTime: undefined }, { tariffs, now: () => new Date() });
  const firstMs = processorMs(list);
  const slots = list().message().data.length;
  processorMs(() => repeat(list));
  process.send!({
    slots,
    firstMs,
    listMs: processorMs(() => repeat(list)) / CALLS,
    jsonMs: processorMs(() => repeat(() => JSON.stringify(list().json()))) / CALLS,
  } satisfies SlotTimes);
});
process.send!("ready");

function repeat(call: () => unknown): void {
  for (let i = 0; i < CALLS; i++) call();
}

/** The processor time of this process while it does something, in milliseconds. */
function processorMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
