import { create, toBinary } from "@bufbuild/protobuf";
import { spawnSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CreateShipmentResponseSchema } from "../../gen/shipments/v1/shipment_service_pb.js";
import { listenWith } from "../support/raw-http.ts";
import { runProgram } from "../support/run-program.ts";
import { ownFolder } from "../support/when-over.ts";
import { readGuides } from "./guide-blocks.ts";

const REPOSITORY = join(import.meta.dirname, "../..");
const REFERENCE = "SHP-4T8ZK2M0QWXE";

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

const BAD_GATEWAY = "<html><h1>502 Bad Gateway</h1></html>";

/** Failures of a proxy or a network, in the order in which the stub simulates them. */
const FAILURES: readonly Respond[] = [
  (_, response) => response.writeHead(502, { "content-type": "text/html" }).end(BAD_GATEWAY),
  (request, response) => cutBody(request, response, 200),
  (_, response) => response.writeHead(429, { "retry-after": "1" }).end("slow down"),
  (request) => request.socket.destroy(),
  (request, response) => cutBody(request, response, 503),
  (_, response) => response.writeHead(504).end(),
];

/** Announces a longer body than it sends, and closes the connection. */
function cutBody({ headers }: IncomingMessage, response: ServerResponse, status: number): void {
  const type = headers["content-type"]!;
  response.writeHead(status, { "content-type": type, "content-length": "100" });
  response.write('{"data": {', () => response.destroy());
}

function succeed({ headers, url }: IncomingMessage, response: ServerResponse): void {
  const data = { reference: REFERENCE };
  const body = url!.startsWith("/v1/")
    ? JSON.stringify({ data })
    : toBinary(CreateShipmentResponseSchema, create(CreateShipmentResponseSchema, { data }));
  response.writeHead(200, { "content-type": headers["content-type"]! }).end(body);
}

/** Starts a server that handles each request with the next function, and all later requests with the last one. */
async function startStub(responses: readonly Respond[]) {
  const keys: unknown[] = [];
  const url = await listenWith((request, response) => {
    const respond = responses[Math.min(keys.length, responses.length - 1)]!;
    keys.push(request.headers["idempotency-key"]);
    request.resume().on("end", () => respond(request, response));
  });
  return { keys, port: new URL(url).port };
}

/** Saves a guide's files as its reader would, with the stub's port. */
function saveFiles(name: string, port: string): string {
  const folder = ownFolder("helper");
  for (const it of ["package.json", "node_modules", "src", "gen"]) {
    symlinkSync(join(REPOSITORY, it), join(folder, it));
  }
  for (const { before, text } of readGuides().find((it) => it.name === name)!.blocks) {
    const file = /\b[Ss]ave this\s+as\s+`([^`]+)`/.exec(before)?.[1];
    if (file === undefined) continue;
    writeFileSync(join(folder, file), text.replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`));
  }
  return folder;
}

function runBooking(command: string, folder: string) {
  const program = command === "node" ? process.execPath : command;
  const file = command === "node" ? "book.ts" : "book.py";
  const env = { ...process.env, SHIPMENTS_KEY: "shp_test_1" };
  return runProgram(program, [file], { cwd: folder, env });
}

describe.each(["python3", "node"])("the helper of your first booking, run by %s", (command) => {
  const isInstalled = spawnSync(command, ["--version"]).status === 0;

  test.runIf(isInstalled)("retries after proxy errors with one idempotency key", async () => {
    const { keys, port } = await startStub([...FAILURES, succeed]);
    const { stdout, stderr } = await runBooking(command, saveFiles("first-booking.md", port));
    expect({ stdout, stderr }).toEqual({ stdout: `${REFERENCE}\n`, stderr: "" });
    expect(keys).toHaveLength(FAILURES.length + 1);
    expect(keys[0]).toMatch(/^order-/);
    expect(new Set(keys).size).toBe(1);
  });

  test.runIf(isInstalled)("does not retry a refused call, even if its body is unreadable", async () => {
    const { keys, port } = await startStub([
      (_, response) => response.writeHead(403, { "content-type": "text/html" }).end("<p>No</p>"),
    ]);
    const { code, stdout } = await runBooking(command, saveFiles("first-booking.md", port));
    expect(stdout).toMatch(/403/);
    expect(code).toBe(0);
    expect(keys).toHaveLength(1);
  });
});
