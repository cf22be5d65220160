import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { DueDelivery, WebhookTarget } from "../../../src/features/webhooks/load-due-deliveries.ts";
import {
  MAX_CONCURRENCY,
  createWebhookQueue,
  type WebhookQueue,
} from "../../../src/features/webhooks/webhook-queue.ts";

const KEY = { workspace: 1, webhook: "wh_1" };
const TARGET: WebhookTarget = {
  url: "https://example.org/",
  secrets: [],
  isDisabled: false,
  isFailing: false,
  isTest: false,
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function due(id: number, subject = `SHP-${id}`): DueDelivery {
  return { ...KEY, id, subject, attempts: 0, simulatedFailures: null, event: undefined };
}

function leased(ms = 60_000): WebhookQueue {
  return createWebhookQueue(KEY, performance.now() + ms);
}

function load(queue: WebhookQueue, deliveries: readonly DueDelivery[], target = TARGET): void {
  queue.endLoad(queue.beginLoad(), { target, deliveries });
}

function takeAll(queue: WebhookQueue): number[] {
  const ids: number[] = [];
  for (let it = queue.dequeue(); it !== undefined; it = queue.dequeue()) ids.push(it.delivery.id);
  return ids;
}

test("dequeues deliveries of one subject one after the other", () => {
  const queue = leased();
  const first = due(1, "SHP-A");
  load(queue, [first, due(2, "SHP-A"), due(3, "SHP-B")]);
  expect(takeAll(queue)).toEqual([1, 3]);
  queue.complete(first, { isSuccess: true, changed: false });
  expect(takeAll(queue)).toEqual([2]);
});

test("a healthy webhook starts with four concurrent attempts, and a failing one with one", () => {
  const deliveries = Array.from({ length: 10 }, (_, i) => due(i));
  const healthy = leased();
  load(healthy, deliveries);
  expect(takeAll(healthy)).toHaveLength(4);
  const failing = leased();
  load(failing, deliveries, { ...TARGET, isFailing: true });
  expect(takeAll(failing)).toHaveLength(1);
});

test("a load excludes queued deliveries, and its limit grows with the concurrency", () => {
  const queue = leased();
  load(queue, [due(1), due(2)]);
  expect(queue.dequeue()?.delivery.id).toBe(1);
  expect(queue.beginLoad()).toEqual({ ...KEY, loaded: [1, 2], limit: 15 });
  for (let i = 0; i < 100; i++) queue.complete(due(i), { isSuccess: true, changed: false });
  expect(queue.beginLoad()).toEqual({ ...KEY, loaded: [2], limit: 2 * MAX_CONCURRENCY - 1 });
});

test("dequeues nothing after the lease may have expired, until it is renewed", () => {
  const queue = leased(1_000);
  load(queue, [due(1)]);
  vi.advanceTimersByTime(1_000);
  expect(queue.dequeue()).toBeUndefined();
  queue.leasedUntilMs = performance.now() + 1_000;
  load(queue, [due(1)]);
  expect(takeAll(queue)).toEqual([1]);
});

test("reloads deliveries after half a second, because the webhook may have changed", () => {
  const queue = leased();
  load(queue, [due(1)]);
  expect(queue.isLoadWanted()).toBe(false);
  vi.advanceTimersByTime(501);
  expect(queue.dequeue()).toBeUndefined();
  expect(queue.isLoadWanted()).toBe(true);
});

test("discards a load that began before the webhook was changed", () => {
  const queue = leased();
  const first = due(1);
  load(queue, [first]);
  queue.dequeue();
  const stale = queue.beginLoad();
  queue.complete(first, { isSuccess: false, changed: true });
  queue.endLoad(stale, { target: TARGET, deliveries: [due(2)] });
  expect(queue.dequeue()).toBeUndefined();
  expect(queue.isLoadWanted()).toBe(true);
});

test("repeats a failed load", () => {
  const queue = leased();
  const begun = queue.beginLoad();
  expect(queue.isLoadWanted()).toBe(false);
  queue.endLoad(begun, undefined);
  expect(queue.isLoadWanted()).toBe(true);
});
