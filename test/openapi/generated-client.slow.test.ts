import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  ANY_TIME,
  BOOKED_SHIPMENT,
  BOOKING,
  BOOKING_PRICE,
  NO_REFERENCE,
  WITHOUT_WINDOWS,
} from "../support/bookings.ts";
import { runProgram } from "../support/run-program.ts";
import { startService } from "../support/service.ts";

const REPOSITORY = join(import.meta.dirname, "../..");

/** An integrator's program that uses the generated client. */
const PROGRAM = `
import {
  Api,
  type CreateShipmentRequest,
  type QuoteShipmentRequest,
  type Refusal,
  type Shipment,
} from "./api.ts";

const { BASE_URL, API_KEY, BOOKING, NO_REFERENCE } = process.env as Record<string, string>;
const baseApiParams = { headers: { authorization: \`Bearer \${API_KEY}\` } };
const { v1 } = new Api({ baseUrl: BASE_URL!, baseApiParams });
const booking: CreateShipmentRequest & QuoteShipmentRequest = JSON.parse(BOOKING!);

const quote = await v1.quoteShipment(booking);
const key = { headers: { ...baseApiParams.headers, "idempotency-key": "order-4711" } };
const booked = await v1.createShipment(booking, key);
const again = await v1.createShipment(booking, key);
const { reference } = booked.data.data;
const found = await v1.getShipment(reference);
const listed = await v1.listShipments({ payment_status: "awaiting_payment", page_size: 10 });
const cancelled = await v1.cancelShipment(reference, { reason: "customer_request", note: "Moved" });

async function refusalOf(call: Promise<{ error: Refusal; status: number }>) {
  const { status, error } = await call.then(
    () => Promise.reject(new Error("the call was not refused")),
    (thrown: Awaited<typeof call>) => thrown,
  );
  const { message, errors, code } = error;
  return { status, message, errors, code };
}

console.log(
  JSON.stringify({
    quote: quote.data,
    booked: [booked.status, booked.data],
    again: [again.headers.get("idempotency-replayed"), again.data.data.reference === reference],
    found: found.data.data.customer.email,
    listed: listed.data.data.map((it) => it.reference === reference),
    cancelled: cancelled.data.data satisfies Shipment,
    missing: await refusalOf(v1.getShipment(NO_REFERENCE!)),
    faulty: await refusalOf(v1.quoteShipment({ ...booking, weight_kg: 0 })),
    anonymous: await refusalOf(new Api({ baseUrl: BASE_URL! }).v1.getWorkspace()),
  }),
);

/** Statements that must each be a type error. Never called. */
export async function mistakes() {
  // @ts-expect-error a required field is missing
  await v1.quoteShipment({ pickup_lat: 40 });
  // @ts-expect-error text instead of a number
  await v1.quoteShipment({ ...booking, weight_kg: "2" });
  // @ts-expect-error no field of a quote
  void quote.data.sum;
  // @ts-expect-error no status of a shipment
  void (found.data.data.status === "lost");
  // @ts-expect-error no filter of the list
  await v1.listShipments({ state: "pending" });
  // @ts-expect-error may be null
  void quote.data.message.length;
  // @ts-expect-error no reason of a cancellation
  await v1.cancelShipment(reference, { reason: "rain" });
  // @ts-expect-error no field of a refusal
  void quote.error.reason;
  // @ts-expect-error no field of a zone
  void (await v1.getCoverage()).data.features[0]!.properties.title;
}
`;

/** TypeScript settings of the project, adapted to a client's project. */
const TSCONFIG = {
  extends: join(REPOSITORY, "tsconfig.json"),
  compilerOptions: {
    lib: ["esnext", "dom", "dom.iterable"],
    typeRoots: [join(REPOSITORY, "node_modules/@types")],
    noEmit: false,
    outDir: "built",
    rootDir: ".",
    rewriteRelativeImportExtensions: true,
    // The generated code violates these rules.
    erasableSyntaxOnly: false,
    noUnusedLocals: false,
    verbatimModuleSyntax: false,
  },
  include: ["*.ts"],
};

/** Returns the guide's command for generating a client, without `npx`. */
function readRecipe(): readonly [program: string, ...args: string[]] {
  const guide = readFileSync(join(REPOSITORY, "src/docs/generating.md"), "utf8");
  const [, command] = /^npx (swagger-typescript-api [^`]+)\n```/m.exec(guide)!;
  return command!.replaceAll("\\\n", " ").split(/\s+/) as [string, ...string[]];
}

const service = await startService();
const folder = mkdtempSync(join(tmpdir(), "generated-client-"));
const [program, ...args] = readRecipe();
const here = args.map((it) => it.replace("http://127.0.0.1:8080", service.httpUrl).replace("shipments.ts", "api.ts"));
const bin = join(REPOSITORY, "node_modules/.bin", program);
const generated = await runProgram(bin, here, { cwd: folder, env: { ...process.env, CI: "1" } });
const api = readFileSync(join(folder, "api.ts"), "utf8");
writeFileSync(join(folder, "api.ts"), api.replace("// @ts-nocheck", ""));
writeFileSync(join(folder, "program.ts"), PROGRAM);
writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));

afterAll(async () => {
  rmSync(folder, { recursive: true });
});

test("the command in the guide generates a client with short type names and without warnings", () => {
  expect(generated.code).toBe(0);
  expect(generated.stdout + generated.stderr).not.toMatch(/warn|deprecat|error/i);
  const api = readFileSync(join(folder, "api.ts"), "utf8");
  const names = [...api.matchAll(/^export (?:interface|type|enum) (\w+)/gm)].map(([, name]) => name!);
  expect(names).toContain("Shipment");
  expect(names.filter((name) => name.length >= 40)).toEqual([]);
  expect(api).toContain(`baseUrl: string = "${service.httpUrl}"`);
});

test("a client generated by swagger-typescript-api has strict types that detect mistakes", async () => {
  const tsc = join(REPOSITORY, "node_modules/.bin/tsc");
  expect(await runProgram(tsc, ["-p", "."], { cwd: folder })).toEqual({
    code: 0,
    stdout: "",
    stderr: "",
  });
});

test("only verbatim documents have no type in the generated client", () => {
  const api = readFileSync(join(folder, "api.ts"), "utf8");
  const described = api.slice(0, api.indexOf("export type QueryParamsType"));
  expect(described.match(/.*\b(any|unknown)\b[;[\]{>].*/g) ?? []).toEqual([]);
  const untyped = [...api.matchAll(/^ {4}(\w+): \([^]*?this\.request<([^]*?)>\(\{/gm)]
    .filter(([, , types]) => types!.startsWith("any"))
    .map(([, name]) => name);
  expect(untyped).toEqual(["adminGetTariffDraftZones", "adminGetTariffVersionZones"]);
});

test("the generated client quotes, books once, gets, lists and cancels, and reads errors", async () => {
  const { apiKey } = await service.addWorkspace();
  const env = {
    BASE_URL: service.httpUrl,
    API_KEY: apiKey,
    BOOKING: JSON.stringify(BOOKING),
    NO_REFERENCE,
  };
  const ended = await runProgram(process.execPath, ["built/program.js"], { cwd: folder, env });
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  const tooLight = "weight_kg must be greater than or equal to 0.01.";
  expect(JSON.parse(ended.stdout)).toEqual({
    quote: {
      covered: true,
      ...BOOKING_PRICE,
      ...WITHOUT_WINDOWS,
      message: null,
      failure_type: null,
    },
    booked: [201, { data: BOOKED_SHIPMENT }],
    again: ["true", true],
    found: BOOKING.customer_email,
    listed: [true],
    cancelled: {
      ...BOOKED_SHIPMENT,
      status: "cancelled",
      payment_status: "voided",
      etag: "2",
      cancelled_at: ANY_TIME,
      cancel_reason: "customer_request",
      cancel_note: "Moved",
    },
    missing: {
      status: 404,
      message: "Shipment not found.",
      errors: {},
      code: "SHIPMENT_NOT_FOUND",
    },
    faulty: {
      status: 422,
      message: tooLight,
      errors: { weight_kg: [tooLight] },
      code: "FIELD_INVALID",
    },
    anonymous: {
      status: 401,
      message:
        "The credential is missing. Send the workspace's API key as Authorization: Bearer shp_... or X-Api-Key: shp_....",
      errors: {},
      code: "CREDENTIAL_REFUSED",
    },
  });
});
