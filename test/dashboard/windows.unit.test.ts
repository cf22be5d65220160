import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { nextAvailable, problemOfWindows, windowAt } from "../../src/dashboard/shipments/windows.ts";
import { instantOf } from "../../src/dashboard/ui/local-time.ts";

const iso = (date: string, time: string, timeZone: string) => instantOf(date, time, timeZone)?.toISOString();

test("an ambiguous local time means its first occurrence, and a skipped local time moves by the gap", () => {
  expect(iso("2026-12-01", "08:00", "Europe/Berlin")).toBe("2026-12-01T07:00:00.000Z");
  expect(iso("2026-10-25", "02:30", "Europe/Berlin")).toBe("2026-10-25T00:30:00.000Z");
  expect(iso("2027-03-28", "02:30", "Europe/Berlin")).toBe("2027-03-28T01:30:00.000Z");
  expect(iso("2026-11-01", "01:30", "America/New_York")).toBe("2026-11-01T05:30:00.000Z");
  expect(iso("2027-04-04", "01:45", "Australia/Lord_Howe")).toBe("2027-04-03T14:45:00.000Z");
  expect(iso("2026-12-01", "", "Europe/Berlin")).toBeUndefined();
});

test("a window that ends at or before its start ends on the next day", () => {
  const times = { start: "22:00", end: "01:30" };
  expect(windowAt("2026-12-31", times, "America/New_York")).toEqual({
    start: new Date("2027-01-01T03:00Z"),
    end: new Date("2027-01-01T06:30Z"),
  });
});

test("errors show times in the local time zone with its name, and the next available ones", () => {
  const refused = {
    message: "",
    fields: {
      pickup_window: [
        "pickup_window must be one of the slots of 60 minutes that GET /v1/pickup_slots lists. The next available window is 2026-12-01T17:00:00.000Z to 2026-12-01T18:00:00.000Z.",
        "pickup_window had to be booked by 2026-11-30T17:00:00.000Z.",
      ],
      dropoff_window: ["dropoff_window must neither start nor end before pickup_window does."],
    },
    reason: "WINDOW_INVALID",
    facts: {
      next_available: "2026-12-01T17:00:00.000Z",
      next_available_end: "2026-12-01T18:00:00.000Z",
    },
    code: Code.FailedPrecondition,
  };
  const timeZones = { pickup: "Asia/Kathmandu", dropoff: undefined };
  const { fields } = problemOfWindows(refused, timeZones);
  // Normalizes the separator between two times, which depends on the runtime.
  const plain = Object.values(fields)
    .flat()
    .map((text) => text.replaceAll(/[\u2009\u202f]/g, " "));
  expect(plain).toEqual([
    "Pickup time must be one of the slots of 60 minutes. The next available window is Tue, Dec 1, 10:45 – 11:45 PM Kathmandu time.",
    "Pickup time had to be booked by Mon, Nov 30, 10:45 PM Kathmandu time.",
    "Dropoff time must neither start nor end before pickup time does.",
  ]);
  expect(nextAvailable(refused, "pickup")).toEqual({
    start: new Date("2026-12-01T17:00Z"),
    end: new Date("2026-12-01T18:00Z"),
  });
  expect(nextAvailable(refused, "dropoff")).toBeUndefined();
});
