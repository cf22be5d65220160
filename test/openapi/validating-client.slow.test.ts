import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { BOOKED_SHIPMENT, BOOKING } from "../support/bookings.ts";
import { runProgram } from "../support/run-program.ts";
import { startService } from "../support/service.ts";
import { ownFolder } from "../support/when-over.ts";

const REPOSITORY = join(import.meta.dirname, "../..");
const BIN = join(REPOSITORY, "node_modules/.bin");

/** An integrator's program that validates each response with the OpenAPI document. */
const PROGRAM = `
import type { z } from "zod";
import { cancelShipment, createQuote, createShipment, getShipment, listShipments } from "./api";
import * as schemas from "./schemas";

const { API_KEY, BOOKING } = process.env as Record<string, string>;
const options = { headers: { authorization: \`Bearer \${API_KEY}\` } };
const booking = JSON.parse(BOOKING!);

/** Validates a response and returns its body. */
async function valid<S extends z.ZodType>(schema: S, call: Promise<{ data: unknown }>) {
  return schema.parse((await call).data);
}

const quote = await valid(schemas.CreateQuoteResponse, createQuote(booking, options));
const create = createShipment({ ...booking, quote_id: quote.id }, options);
const booked = await valid(schemas.CreateShipmentResponse, create);
const { reference } = booked.data;
const found = await valid(schemas.GetShipmentResponse, getShipment(reference, options));
const list = listShipments({ page_size: 10 }, options);
const listed = await valid(schemas.ListShipmentsResponse, list);
const cancel = cancelShipment(reference, { reason: "customer_request" }, options);
const cancelled = await valid(schemas.CancelShipmentResponse, cancel);
const missing = await getShipment("SHP-000000000000", options);
console.log(
  JSON.stringify({
    booked: booked.data,
    found: found.data.reference === reference,
    listed: listed.data.map((it) => it.reference === reference),
    cancelled: cancelled.data.status,
    missing: missing.status,
    isShipment: schemas.GetShipmentResponse.safeParse(missing.data).success,
  }),
);
`;

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: "esnext",
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["esnext", "dom", "dom.iterable"],
    types: ["node"],
  },
  include: ["*.ts"],
};

const DOCUMENT = join(REPOSITORY, "gen/openapi/openapi.json");

const service = await startService();
const folder = ownFolder("validating-client");
symlinkSync(join(REPOSITORY, "node_modules"), join(folder, "node_modules"));
const input = { target: DOCUMENT };
const config = {
  calls: { input, output: { target: "api.ts", client: "fetch", baseUrl: service.httpUrl } },
  schemas: { input, output: { target: "schemas.ts", client: "zod" } },
};
writeFileSync(join(folder, "orval.config.mjs"), `export default ${JSON.stringify(config)};`);
writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
writeFileSync(join(folder, "program.ts"), PROGRAM);
const generated = await runProgram(join(BIN, "orval"), ["--config", "orval.config.mjs"], {
  cwd: folder,
});

test("orval generates a client and zod schemas that compile", async () => {
  expect(generated).toMatchObject({ code: 0, stderr: "" });
  expect(await runProgram(join(BIN, "tsc"), ["-p", "."], { cwd: folder })).toEqual({
    code: 0,
    stdout: "",
    stderr: "",
  });
});

test("the client quotes, books, gets, lists and cancels, and validates each response", async () => {
  const { apiKey } = await service.addWorkspace();
  const bundle = await rolldown({ input: join(folder, "program.ts"), platform: "node" });
  await bundle.write({ file: join(folder, "program.js") });
  const env = { API_KEY: apiKey, BOOKING: JSON.stringify(BOOKING) };
  const ended = await runProgram(process.execPath, ["program.js"], { cwd: folder, env });
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(ended.stdout)).toEqual({
    booked: { ...BOOKED_SHIPMENT, quote_id: expect.stringMatching(/^quo_/) },
    found: true,
    listed: [true],
    cancelled: "cancelled",
    missing: 404,
    isShipment: false,
  });
});
