import { expect, test } from "vitest";
import { trackingPage } from "../../src/tracking/tracking-page.ts";
import { TRACKED } from "./tracked.ts";

const inEnglish = { language: "en", locale: "en" } as const;

test("steps state the day in the time zone of the dropoff, except on the day of the previous step", () => {
  const reachedMs = {
    pending: Date.parse("2026-11-01T20:00Z"),
    awaiting_pickup: Date.parse("2026-11-02T03:00Z"),
    in_transit: Date.parse("2026-11-02T12:00Z"),
  };
  const html = trackingPage({ ...TRACKED, reachedMs }, inEnglish, { link: "link" });
  const times = [...html.matchAll(/<time[^>]*>(.*?)<\/time>/g)].map(([, text]) => text!.replaceAll("\u202f", " "));
  expect(times).toEqual(["Sunday, November 1 at 3:00 PM", "10:00 PM", "Monday, November 2 at 7:00 AM"]);
});
