import { readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { ANY_TIME } from "../support/bookings.ts";
import { runCommand, runJson, type Environment } from "../support/command.ts";
import { connectTo, createDatabase, type TestDatabase } from "../support/database.ts";
import { ring, SAMPLE_TARIFF } from "../support/tariffs.ts";
import { ownFolder } from "../support/when-over.ts";

let database: TestDatabase;
let environment: Environment;
let folder: string;

beforeEach(async () => {
  database = await createDatabase();
  environment = { DATABASE_URL: database.url };
  folder = ownFolder("tariff");
});

/** Writes a document to a file. Text is written unchanged, other values as JSON. */
function fileOf(document: unknown): string {
  const file = join(folder, "tariff.json");
  writeFileSync(file, typeof document === "string" ? document : JSON.stringify(document));
  return file;
}

const publish = (document: unknown) => runJson(["tariff", "publish", fileOf(document)], environment);

const query = async (sql: string): Promise<unknown[]> => (await (await connectTo(database.url)).query(sql)).rows;

const show = () => runJson(["tariff", "show"], environment);

test("tariff publish prints the version and its contents, and tariff show prints the published document", async () => {
  const args = ["tariff", "publish", fileOf(SAMPLE_TARIFF), "--note", "spring"];
  expect(await runJson(args, environment)).toEqual({ version: 1, zones: 5, tiers: 3 });
  expect(await show()).toEqual({ ...SAMPLE_TARIFF, version: 1 });
  expect(await query("select version, note from tariff_version")).toEqual([{ version: 1, note: "spring" }]);
});

test("the output of tariff show can be published again, unchanged or edited", async () => {
  await publish(SAMPLE_TARIFF);
  const shown = await show();
  expect(await publish(shown)).toMatchObject({ version: 1 });

  expect(await publish({ ...shown, base_fee: "6.00" })).toMatchObject({ version: 2 });
  expect(await show()).toEqual({ ...SAMPLE_TARIFF, base_fee: "6.00", version: 2 });
});

test("tariff publish names the path of a duplicate member", async () => {
  const text = JSON.stringify(SAMPLE_TARIFF).replace("{", '{"base_fee":"1.00",');
  const file = fileOf(text);
  expect(await runCommand(["tariff", "publish", file], environment)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `${file} cannot be read: it has base_fee twice; remove one\n`,
  });
});

test("tariff publish reports every error with its path and publishes nothing", async () => {
  const openRing = { type: "Polygon", coordinates: [ring("0 0, 1 0, 1 1, 0 1")] };
  const faulty = {
    currency: "USD",
    base_fee: "5.001",
    rate_per_km: "-1",
    tiers: [
      { min_kg: 0, max_kg: 5, flat_fee: "0.00", rate_per_kg: "0.50" },
      { min_kg: 4, max_kg: 3, flat_fee: "0.00", rate_per_kg: "0.50" },
    ],
    zones: {
      type: "FeatureCollection",
      features: [{ type: "Feature", properties: { name: "Kings" }, geometry: openRing }],
    },
  };
  const args = ["tariff", "publish", fileOf(faulty), "--json"];
  const { code, stdout, stderr } = await runCommand(args, environment);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  const paths = stderr
    .trim()
    .split("\n")
    .map((line) => line.split(": ")[0]);
  expect(paths).toEqual([
    "base_fee",
    "rate_per_km",
    "tiers[1].min_kg",
    "tiers[1].max_kg",
    expect.stringMatching(/^zones\[0\]\.geometry/),
  ]);
  expect(await query("select from tariff_version")).toEqual([]);
});

test.each([
  ["that does not exist", () => join(folder, "none.json")],
  ["that is a folder", () => folder],
  ["that is not JSON", () => fileOf('{ "currency": ')],
])("tariff publish names a file %s in the error", async (_, fileToPublish) => {
  const file = fileToPublish();
  const { code, stdout, stderr } = await runCommand(["tariff", "publish", file, "--json"], environment);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^\S+ cannot be read: .+\n$/);
  expect(stderr.startsWith(file)).toBe(true);
});

test("tariff show fails before the first publication", async () => {
  expect(await runCommand(["tariff", "show", "--json"], environment)).toEqual({
    code: 1,
    stdout: "",
    stderr: "No tariff has been published yet.\n",
  });
});

test("without --json the tariff commands print text", async () => {
  const published = await runCommand(["tariff", "publish", fileOf(SAMPLE_TARIFF)], environment);
  expect(published.stdout).toBe("Version 1 is in force: 5 zones, 3 tiers.\n");
  const shown = await runCommand(["tariff", "show"], environment);
  expect(JSON.parse(shown.stdout)).toEqual({ ...SAMPLE_TARIFF, version: 1 });
});

test("tariff list prints the versions with their states, and tariff roll-back republishes one", async () => {
  const empty = await runCommand(["tariff", "list"], environment);
  expect(empty).toEqual({ code: 0, stdout: "No versions yet.\n", stderr: "" });
  await publish(SAMPLE_TARIFF);
  await publish({ ...SAMPLE_TARIFF, base_fee: "6.00" });
  const args = ["tariff", "roll-back", "--version", "1", "--note", "too dear"];
  expect(await runJson(args, environment)).toEqual({ version: 3, zones: 5, tiers: 3 });

  const { versions } = await runJson(["tariff", "list"], environment);
  const common = { zones: 5, tiers: 3, author: userInfo().username, effective_at: ANY_TIME };
  expect(versions).toEqual([
    { ...common, version: 3, state: "in_force", note: "too dear", repeats: 1 },
    { ...common, version: 2, state: "replaced", note: null, repeats: null },
    { ...common, version: 1, state: "replaced", note: null, repeats: null },
  ]);
  const lines = (await runCommand(["tariff", "list"], environment)).stdout.split("\n");
  expect(lines[0]).toMatch(/^3 {2}in_force {2}\S+Z {2}5 zones {2}.+ {2}too dear$/);
  expect(await query("select distinct actor, actor_name from audit_entry")).toEqual([
    { actor: "command_line", actor_name: userInfo().username },
  ]);
});

test("tariff roll-back refuses an unknown version, and a faulty tariff leaves no draft", async () => {
  await publish(SAMPLE_TARIFF);
  const unknown = ["tariff", "roll-back", "--version", "9", "--json"];
  const stderr = "There is no tariff version 9.\n";
  expect(await runCommand(unknown, environment)).toEqual({ code: 1, stdout: "", stderr });
  const faulty = ["tariff", "publish", fileOf({ currency: "USD" })];
  expect((await runCommand(faulty, environment)).code).toBe(1);
  expect(await query("select from tariff_draft")).toEqual([]);
});

test("tariff holidays adds missing public holidays to a schedule and refuses unknown countries, states and schedules", async () => {
  const listed = [{ date: "2027-12-25", hours: [{ opens: "08:00", closes: "10:00" }] }];
  const city = { name: "city", time_zone: "Europe/Berlin", hours: [], exceptions: listed };
  const document = { ...SAMPLE_TARIFF, schedules: [city] };
  const file = fileOf(document);
  const holidays = (...args: string[]) => ["tariff", "holidays", file, "--year", "2027", ...args];
  const berlin = ["--schedule", "city", "--country", "DE", "--state", "BE"];
  const { added } = await runJson(holidays(...berlin), {});
  expect(added).toHaveLength(9);
  expect(added).toContainEqual({ date: "2027-03-08", note: "Internationaler Frauentag" });
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    ...document,
    schedules: [{ ...city, exceptions: [...listed, ...added] }],
  });
  expect(await runJson(holidays(...berlin), {})).toEqual({ schedule: "city", added: [] });
  expect(await runJson(["tariff", "publish", file], environment)).toMatchObject({ version: 1 });

  const refused = async (...args: string[]) => {
    const { code, stderr } = await runCommand(holidays(...args), {});
    return [code, stderr.trim()];
  };
  expect(await refused("--schedule", "city", "--country", "XX")).toEqual([
    1,
    "No holidays are known for the country XX.",
  ]);
  expect(await refused("--schedule", "city", "--country", "DE", "--state", "XX")).toEqual([
    1,
    "No holidays are known for XX in DE.",
  ]);
  expect(await refused("--schedule", "night", "--country", "DE")).toEqual([1, "The document has no schedule night."]);
});
