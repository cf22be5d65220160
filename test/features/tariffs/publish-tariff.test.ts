import type { MikroORM } from "@mikro-orm/postgresql";
import { beforeEach, expect, test } from "vitest";
import type { Refusal } from "../../../src/domain/refusal.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { loadPublishedTariff } from "../../../src/features/tariffs/versions/load-version.ts";
import { createDatabase, openOrm } from "../../support/database.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";

let orm: MikroORM;

beforeEach(async () => {
  orm = openOrm((await createDatabase()).url);
});

const publish = async (document: unknown) => (await publishDocument(orm.em, document)).version;
const withBaseFee = (fee: string) => ({ ...SAMPLE_TARIFF, base_fee: fee });

test("publishing the same tariff twice in a row creates one version, regardless of the key order", async () => {
  expect(await publish(SAMPLE_TARIFF)).toBe(1);
  expect(await publish(Object.fromEntries(Object.entries(SAMPLE_TARIFF).reverse()))).toBe(1);
});

test("publishing an earlier tariff again creates a new version", async () => {
  expect(await publish(withBaseFee("5.00"))).toBe(1);
  expect(await publish(withBaseFee("6.00"))).toBe(2);
  expect(await publish(withBaseFee("5.00"))).toBe(3);
});

test("concurrent publications create one version each, without gaps", async () => {
  const fees = ["1.00", "2.00", "3.00", "4.00", "5.00", "6.00", "7.00", "8.00"];
  const versions = await Promise.all(fees.map((fee) => publish(withBaseFee(fee))));
  expect(versions.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  const last = fees[versions.indexOf(8)];
  expect(await loadPublishedTariff(orm.em)).toEqual({
    ...SAMPLE_TARIFF,
    base_fee: last,
    version: 8,
  });
});

test("concurrent publications of the same tariff create one version", async () => {
  expect(await Promise.all([1, 2, 3, 4].map(() => publish(SAMPLE_TARIFF)))).toEqual([1, 1, 1, 1]);
});

test("publishing a tariff with faults changes nothing", async () => {
  const refusal = (await publish(withBaseFee("-1")).catch((error: unknown) => error)) as Refusal;
  expect(refusal.violations).toMatchObject([{ reason: "TARIFF_FAULTY", subject: "base_fee" }]);
  expect(await loadPublishedTariff(orm.em)).toBeUndefined();
});
