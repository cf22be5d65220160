import { expect, test } from "vitest";
import { data } from "../../support/answers.ts";
import { createDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { scheduleOf } from "../../support/schedules.ts";
import { addOperator, startService, startUnprepared } from "../../support/service.ts";
import { worldTariff } from "../../support/tariffs.ts";
import { addWebhook } from "../../support/webhooks.ts";

const NOW = new Date("2026-11-22T12:00:00.000Z");
const service = await startService({ now: () => NOW });
const { em } = service.app;
const as = service.as((await service.addOperator("viewer")).key);

const attention = () => data(as.getPlatformAttention());

const NO_SLOT = { unit: null, taken: null, capacity: null };
const NOTHING = { workspace: null, operator: null, owner: null, id: null, name: null, at: null, ...NO_SLOT };
/** Returns a group in the report, whose subjects have only the given fields set. */
const need = (kind: string, ...subjects: object[]) => ({
  kind,
  count: subjects.length,
  subjects: subjects.map((subject) => ({ ...NOTHING, ...subject })),
});

const before = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000).toISOString();

test("lists nothing without problems, and only the tariff if there is none", async () => {
  expect(await attention()).toEqual([]);
  const bare = await startUnprepared((await createDatabase()).url);
  await bare.app.prepare();
  const { key } = await addOperator(bare.app.em, "viewer");
  const found = await data(bare.as(key).getPlatformAttention());
  expect(found).toEqual([{ kind: "tariff", count: 1, subjects: [] }]);
});

test("lists webhooks that have failed for 1 to 14 days, unless their owner disabled them", async () => {
  const { id: workspace, apiKey } = await service.addWorkspace();
  const failing = async (hours: number, disabled: string | null = null) => {
    const name = `https://example.org/${hours}`;
    const { id } = (await addWebhook(service, apiKey, { url: name })).data;
    await em.execute("update webhook set failing_since = ?, disabled_reason = ? where workspace_id = ? and id = ?", [
      before(hours),
      disabled,
      workspace,
      id,
    ]);
    return { workspace, owner: "Test", id, name, at: before(hours) };
  };
  await failing(23);
  const day = await failing(25);
  const givenUp = await failing(13 * 24, "failing");
  await failing(48, "request");
  await failing(15 * 24, "failing");
  expect(await attention()).toEqual([need("webhook_failing", givenUp, day)]);
  await em.execute("update webhook set failing_since = null");
});

test("lists a workspace whose provider stopped, but not its test twin or one that is still onboarding", async () => {
  const [stopped, begun] = [await service.addWorkspace(), await service.addWorkspace()];
  const become = ({ id }: { id: number }, state: string) =>
    em.execute("update payment_connection set provider = 'stripe', state = ? where workspace_id = ?", [state, id]);
  await become(stopped, "restricted");
  await become(stopped.twin, "revoked");
  await become(begun, "onboarding");
  const expected = need("payment_provider", { workspace: stopped.id, owner: "Test" });
  expect(await attention()).toEqual([expected]);
  await become(stopped, "ready");
  expect(await attention()).toEqual([]);
});

test("counts emails that have waited for five minutes, with the time of the oldest", async () => {
  await em.execute(
    `insert into mail (kind, state, email, created_at, next_attempt_at, attempts)
     values ('sign_in', 'waiting', 'a@example.org', ?, ?, 2), ('sign_in', 'waiting', 'b@example.org', ?, ?, 1),
       ('sign_in', 'sent', 'c@example.org', ?, ?, 1)`,
    [before(0.1), before(-9), before(0), before(-9), before(1), before(-9)],
  );
  const expected = { ...need("mail_waiting", { at: before(0.1) }), count: 2 };
  expect(await attention()).toEqual([expected]);
  await em.execute("update mail set created_at = ?", [before(0.05)]);
  expect(await attention()).toEqual([]);
});

test("lists operators' expiring keys, the next to expire first", async () => {
  const [ann, bob] = [await service.addOperator(), await service.addOperator()];
  const until = async ({ id: operator }: { id: number }, hours: number, name: string | null) => {
    const at = before(-hours);
    const change = "update operator_key set ends_at = ?, name = ? where operator_id = ?";
    await em.execute(change, [at, name, operator]);
    return { operator, owner: "Test owner", id: expect.stringMatching(/^key_/), name, at };
  };
  const late = await until(ann, 13 * 24, "CI");
  const soon = await until(bob, 2, null);
  expect(await attention()).toEqual([need("operator_key_ending", soon, late)]);
  await until(ann, 15 * 24, "CI");
  await until(bob, -1, null);
  expect(await attention()).toEqual([]);
});

test("lists slots of the next 24 hours that are nearly full or exceed the alert of their schedule, and the overview sums them up", async () => {
  const { twin } = await service.addWorkspace();
  const schedules = [
    scheduleOf({ slot_minutes: 60, capacity: 10 }),
    scheduleOf({ name: "open", slot_minutes: 60, attention_above: 5 }),
    scheduleOf({ name: "heavy", slot_minutes: 60, capacity: 10, capacity_unit: "kilograms" }),
  ];
  await publishDocument(em, worldTariff({ schedules, default_schedule: "day" }));
  /** Adds the counter of a slot that starts some hours from now, and returns its subject. */
  const addSlot = async (
    hours: number,
    shipments: number,
    {
      name = "day",
      capacity = null,
      twinId = null,
      milligrams = 0,
    }: { name?: string; capacity?: number | null; twinId?: number | null; milligrams?: number },
  ) => {
    const [at, end] = [before(-hours), before(-hours - 1)];
    await em.execute(
      `insert into slot (id, twin_id, schedule, starts_at, ends_at, shipments, milligrams, capacity)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      [`${twinId} ${at} ${name}`, twinId, name, at, end, shipments, milligrams, capacity],
    );
    return { name, at, unit: "shipments", taken: shipments, capacity };
  };
  await addSlot(-1, 10, {});
  const late = { ...(await addSlot(23, 10, {})), capacity: 10 };
  await addSlot(43, 10, {});
  await addSlot(20, 9, {});
  await addSlot(1, 10, { capacity: 20 });
  await addSlot(2, 10, { capacity: 0 });
  await addSlot(3, 10, { twinId: twin.id });
  await addSlot(19, 10, { name: "gone" });
  await addSlot(19, 5, { name: "open" });
  const open = await addSlot(22, 6, { name: "open" });
  const set = await addSlot(21, 2, { name: "open", capacity: 2 });
  for (const hours of [20, 21]) await addSlot(hours, 1, { name: "heavy", milligrams: (hours - 19) * 100_000 });
  const report = await eventually("the tariff to take effect", async () => (await attention())[0] && attention());
  expect(report).toEqual([need("busy_slot", set, open, late)]);
  expect((await as.getPlatformOverview()).body.slots).toEqual([
    { schedule: "day", unit: "shipments", capacity: 100, taken: 39 },
    { schedule: "open", unit: "shipments", capacity: 2, taken: 2 },
    { schedule: "heavy", unit: "kilograms", capacity: 100, taken: 0.3 },
  ]);
});
