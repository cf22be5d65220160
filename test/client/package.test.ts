import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Rolldown } from "vite";
import { expect, expectTypeOf, test } from "vitest";
import type { Reason } from "../../src/client/client.ts";
import * as definitions from "../../gen/client/definitions.js";
import type { RefusalReason } from "../../src/domain/refusal.ts";
import { readGuides } from "../docs/guide-blocks.ts";
import { runProgram } from "../support/run-program.ts";
import { ownFolder } from "../support/when-over.ts";

const REPOSITORY = join(import.meta.dirname, "../..");

/** Returns the gzipped size of a program's bundle in bytes. Excludes dependencies that match `external`. */
async function bundleBytes(program: string, external?: RegExp): Promise<number> {
  const folder = consumerFolder(program);
  const built = await build({
    configFile: false,
    logLevel: "error",
    root: folder,
    build: {
      write: false,
      target: "esnext",
      minify: true,
      rolldownOptions: {
        input: join(folder, "program.ts"),
        preserveEntrySignatures: "strict",
        ...(external && { external }),
        output: { codeSplitting: false },
      },
    },
  });
  const { output } = built as Rolldown.RolldownOutput;
  expect(output.map(({ type }) => type)).toEqual(["chunk"]);
  return gzipSync((output[0] as Rolldown.OutputChunk).code).byteLength;
}

/** Creates a folder that contains a program and has the package installed. */
function consumerFolder(program: string): string {
  const folder = ownFolder("consumer");
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(REPOSITORY, join(folder, "node_modules/shipment-booking"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "program.ts"), program);
  return folder;
}

const QUOTE_AND_BOOK = `
  import { createServiceClient, QuoteService, ShipmentService } from "shipment-booking/client";
  const options = { url: "https://shipments.example.org", key: "shp_test_1" };
  export const quotes = createServiceClient(QuoteService, options);
  export const shipments = createServiceClient(ShipmentService, options);
`;

test("the whole library is at most 45 kB, including Connect and Protobuf", async () => {
  expect(await bundleBytes('export * from "shipment-booking/client";')).toBeLessThan(45_000);
});

test("a page that quotes and books loads no more than the guide states", async () => {
  const guide = readFileSync(join(REPOSITORY, "src/docs/client-library.md"), "utf8");
  const stated = /at most (\d+) kB, or (\d+) kB including\s+Connect and Protobuf/.exec(guide);
  const [own, all] = stated!.slice(1).map(Number);
  expect({ own, all }).toEqual({ own: 15, all: 33 });
  const external = /^@(bufbuild|connectrpc)\//;
  expect(await bundleBytes(QUOTE_AND_BOOK, external)).toBeLessThanOrEqual(own! * 1_000);
  expect(await bundleBytes(QUOTE_AND_BOOK)).toBeLessThanOrEqual(all! * 1_000);
});

test("examples of a feed reader and a webhook receiver are short", () => {
  const texts = readGuides().flatMap(({ blocks }) => blocks.map(({ text }) => text));
  for (const call of ["client.events.follow(", "createServer("]) {
    const examples = texts.filter((text) => text.includes(call));
    expect(examples.length).toBeGreaterThan(0);
    const lengths = examples.map((text) => text.trimEnd().split("\n").length);
    expect(Math.min(...lengths)).toBeLessThanOrEqual(25);
  }
});

test("compiles with strict TypeScript, for Node and for browsers", async () => {
  const folder = consumerFolder(`
    import { createClient, ShipmentsError, ShipmentStatus, verifyWebhook } from "shipment-booking/client";
    const client = createClient({ url: "https://shipments.example.org", key: "shp_test_1" });
    export const status: Promise<ShipmentStatus | undefined> = client.shipments
      .getShipment({ shipment: "SHP-1" })
      .then(({ data }) => data?.status);
    export async function* references(): AsyncGenerator<string> {
      for await (const { reference } of client.shipments.listShipments({ pageSize: 10 })) yield reference;
      for await (const { position, shipment } of client.events.follow({ after: 1n })) yield shipment ?? String(position);
    }
    export const totalOf = (error: ShipmentsError): string | undefined =>
      error.is("PRICE_CHANGED") ? error.facts.total : undefined;
    export const verify = (request: Request) =>
      request.text().then((body) => verifyWebhook(["a", "b"], request.headers, body));
    // @ts-expect-error there is no such field
    void client.quotes.createQuote({ pickupLatitude: 1 });
    // @ts-expect-error there is no such fact
    export const wrong = (error: ShipmentsError) => error.is("QUOTE_USED") && error.facts.total;
    // @ts-expect-error there is no such reason
    export const never = (error: ShipmentsError) => error.is("PRICES_CHANGED");
  `);
  const strict = { strict: true, noEmit: true, target: "es2022", exactOptionalPropertyTypes: true };
  for (const [name, options] of Object.entries({
    node: { module: "nodenext", types: ["node"], lib: ["es2023"], skipLibCheck: true },
    browser: { module: "esnext", moduleResolution: "bundler", types: [], lib: ["es2023", "dom"] },
  })) {
    const typeRoots = [join(REPOSITORY, "node_modules/@types")];
    const compilerOptions = { ...strict, ...options, typeRoots };
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ compilerOptions, include: ["program.ts"] }));
    const tsc = join(REPOSITORY, "node_modules/.bin/tsc");
    const ended = await runProgram(tsc, ["-p", `${name}.json`], { cwd: folder });
    expect({ name, ...ended }).toEqual({ name, code: 0, stdout: "", stderr: "" });
  }
});

test("exports every definition of the workspace API", async () => {
  const folder = join(REPOSITORY, "gen/shipments/v1");
  const files = readdirSync(folder).filter((name) => name.endsWith(".js"));
  const expected = files.filter((name) => name !== "options_pb.js");
  const modules = await Promise.all(expected.map((name) => import(join(folder, name))));
  expect(new Set(Object.keys(definitions))).toEqual(new Set(modules.flatMap(Object.keys)));
});

test("its reasons are a subset of the service's reasons", () => {
  expectTypeOf<Reason>().toExtend<RefusalReason>();
});
