import { readFileSync, writeFileSync } from "node:fs";
import { LRUCache } from "lru-cache";
import { expect, test } from "vitest";
import { checkStoredDraft, type DraftDeps } from "../../../src/features/tariffs/drafts/check-stored-draft.ts";
import { TaskTooLargeError } from "../../../src/features/tariffs/tasks/run-tariff-task.ts";
import type { TariffDraft } from "../../../src/features/tariffs/drafts/tariff-draft.entity.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { connectTo } from "../../support/database.ts";
import { startServiceProcess } from "../../support/service-process.ts";
import { startReplica, startService } from "../../support/service.ts";
import { startStatementLog } from "../../support/statement-log.ts";
import { draftsOf } from "../../support/tariff-drafts.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";

const service = await startService();
const { key } = await service.addOperator("operator");

const MIB = 1024 * 1024;

/** Returns zones with one ring that consists of `mib` MiB of repeated items. */
const zonesOf = (item: string, mib: number) =>
  `{"type":"FeatureCollection","features":[{"type":"Feature","properties":null,"geometry":{` +
  `"type":"Polygon","coordinates":[[${item.repeat((mib * MIB) / item.length)}0]]}}]}`;

/** Returns a process's memory in MiB, as the kernel reports it. */
const memoryOf = (pid: number, field: "VmRSS" | "VmHWM") =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;

test("accepts zones of up to 64 MiB and stores them in chunks of up to 1 MiB", async () => {
  const max = 64 * MIB;
  const drafts = draftsOf(service, key);
  const { id } = await data(service.as(key).createTariffDraft({ name: "Spring" }));
  const whole = await data(drafts.upload(id, Buffer.alloc(max, " ")));
  expect(whole.zones_bytes).toBe(max);
  const database = await connectTo(service.databaseUrl);
  const { rows } = await database.query(
    `select octet_length(data) as size from tariff_draft_piece where draft_id = $1`,
    [id],
  );
  expect(rows).toEqual(Array.from({ length: 64 }, () => ({ size: MIB })));
  for (const [bytes, query] of [
    [Buffer.from(" "), `?offset=${max}`],
    [Buffer.alloc(max + 1, " "), ""],
  ] as const) {
    await expectRefused(drafts.upload(id, bytes, query), "FIELD_INVALID", {
      data: `data must be at most ${max} bytes in total, including earlier uploads.`,
    });
  }
  expect((await service.as(key).getTariffDraftZones({ draft: id })).text).toHaveLength(max);
});

test.for([
  ["[0,0],", "the zones have more than 5000000 positions; simplify them"],
  ["{},", "the zones need too much memory. Remove properties or simplify the outlines"],
  ['"a":0,', "the zones need too much memory. Remove properties or simplify the outlines"],
])("rejects a draft of 51 MiB of %s before parsing it", async ([item, text]) => {
  const { process, untilReady, ...endpoints } = await startServiceProcess({
    DATABASE_URL: service.databaseUrl,
  });
  await untilReady();
  const drafts = draftsOf(endpoints, key);
  const draft = await drafts.begin(SAMPLE_TARIFF);
  const put = await drafts.upload(draft.id, zonesOf(item!, 51));
  // Resets the kernel's record of the peak memory.
  writeFileSync(`/proc/${process.pid}/clear_refs`, "5");
  const before = memoryOf(process.pid!, "VmRSS");
  const checked = await endpoints.as(key).checkTariff({ draft: draft.id });
  expect(checked.body).toEqual({
    faults: [{ path: "zones", text }],
    zones: 0,
    tiers: 0,
    same_as_in_force: false,
    warnings: [],
    etag: put.body.data.etag,
  });
  expect(memoryOf(process.pid!, "VmHWM") - before).toBeLessThan(400);
});

test("reads a large draft once for any number of checks, and again after a change", async () => {
  const log = await startStatementLog(service.databaseUrl);
  const replica = await startReplica(log.url);
  const drafts = draftsOf(replica, key);
  const draft = await drafts.begin(SAMPLE_TARIFF);
  const broken = zonesOf("[0,0],", 1);
  const READ = "left join tariff_draft_piece";
  const reads = () => log.statements.filter((it) => it.includes(READ)).length;
  const check = async () => (await replica.as(key).checkTariff({ draft: draft.id })).body;

  await drafts.upload(draft.id, broken);
  const before = reads();
  const [first, second] = await Promise.all([check(), check()]);
  expect(first.faults).toEqual([{ path: "zones[0].geometry", text: expect.any(String) }]);
  expect([second, await check()]).toEqual([first, first]);
  expect(reads()).toBe(before + 1);

  await drafts.upload(draft.id, broken);
  const { etag, ...same } = await check();
  expect({ ...same, etag: first.etag }).toEqual(first);
  expect(etag).not.toBe(first.etag);
  expect(reads()).toBe(before + 2);
});

test("does not check a draft that exceeded the memory limit again until it is changed", async () => {
  const draft = { id: 1, revision: 1, zonesBytes: MIB, fees: {} } as TariffDraft;
  let runs = 0;
  const run = async () => {
    runs++;
    throw new TaskTooLargeError("check");
  };
  const tasks = { run, runAtOnce: run, checks: new LRUCache({ max: 1 }) };
  const check = (revision: number) => checkStoredDraft({ tasks } as unknown as DraftDeps, { ...draft, revision });
  const text = "the zones need too much memory. Remove properties or simplify the outlines";
  const found = {
    faults: [{ path: "zones", text }],
    warnings: [],
    zones: 0,
    tiers: 0,
    digest: undefined,
  };
  expect([await check(1), await check(1)]).toEqual(Array(2).fill({ ...found, revision: 1 }));
  expect(runs).toBe(1);
  expect(await check(2)).toEqual({ ...found, revision: 2 });
  expect(runs).toBe(2);
});
