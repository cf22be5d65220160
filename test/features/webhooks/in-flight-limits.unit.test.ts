import { expect, test } from "vitest";
import {
  createSendPlaces,
  type SendPlaces,
} from "../../../src/features/webhooks/in-flight-limits.ts";

const USUAL = 4;

/** Takes extra places until there are none. */
function takeExtra(places: SendPlaces, workspace: number): (() => void)[] {
  const releases: (() => void)[] = [];
  for (let it; (it = places.take(workspace, USUAL)) !== undefined;) releases.push(it);
  return releases;
}

test("beyond the usual window, a workspace gets half of the places that others leave", () => {
  const places = createSendPlaces();
  expect(takeExtra(places, 1)).toHaveLength(256);
  expect(takeExtra(places, 2)).toHaveLength(128);
  expect(takeExtra(places, 3)).toHaveLength(64);
});

test("the usual window of a webhook is free, whatever others hold", () => {
  const places = createSendPlaces();
  for (let workspace = 1; workspace <= 100; workspace++) takeExtra(places, workspace);
  expect(places.take(101, USUAL)).toBeUndefined();
  expect(places.take(101, USUAL - 1)).toBeDefined();
});

test("a place that is given back can be taken again", () => {
  const places = createSendPlaces();
  for (const release of takeExtra(places, 1)) release();
  expect(takeExtra(places, 2)).toHaveLength(256);
});
