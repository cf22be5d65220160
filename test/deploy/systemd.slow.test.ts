import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { END_MS } from "../../src/commands/serve.ts";
import { startProcess } from "../support/command.ts";
import { createDatabase } from "../support/database.ts";
import { endpointsAt } from "../support/endpoints.ts";
import { freePort } from "../support/free-port.ts";
import { untilListening } from "../support/service-process.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const INSTALLED = "/opt/shipment-booking";
const FILE = "shipment-booking@.service";
/** The systemd unit, changed to run this repository's program. */
const unit = readFileSync(join("src/deploy", FILE), "utf8").replaceAll(INSTALLED, resolve("."));
const settingOf = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(unit)![1]!;

test.runIf(spawnSync("systemd-analyze", ["--version"]).status === 0)("systemd accepts the unit", () => {
  const folder = makeTemporaryFolder("systemd");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, FILE);
  writeFileSync(file, unit);
  const verified = spawnSync("systemd-analyze", ["verify", "--man=no", file], {
    encoding: "utf8",
  });
  // Ignores problems that systemd reports for other units on this machine.
  const warnings = verified.stderr.split("\n").filter((line) => line.includes("shipment-booking"));
  expect({ status: verified.status, warnings }).toEqual({ status: 0, warnings: [] });
});

test("the unit's command starts a process that shares its ports and has its own probe port, and SIGTERM stops it well within the unit's timeout", async () => {
  const database = await createDatabase();
  onTestFinished(database.drop);
  const [file = "", ...args] = settingOf("ExecStart").split(" ");
  const name = `${await freePort()}`;
  const own = settingOf("Environment").replaceAll("%i", name).split(" ");
  const environment = {
    DATABASE_URL: database.url,
    HOST: "127.0.0.1",
    PORT: `${await freePort()}`,
    GRPC_PORT: `${await freePort()}`,
    ...Object.fromEntries(own.map((variable) => variable.split("="))),
  };
  expect(environment).toMatchObject({ REUSE_PORT: "true" });
  const running = startProcess(file, args, environment, { cwd: settingOf("WorkingDirectory") });
  const served = await untilListening(running);
  const { request } = endpointsAt(`http://127.0.0.1:${name}`, "");
  expect((await request("/healthz")).status).toBe(200);
  served.process.kill("SIGTERM");
  expect(await served.ended).toMatchObject({ code: 0, stderr: "" });
  expect(Number(settingOf("TimeoutStopSec"))).toBeGreaterThan(5 + END_MS / 1_000);
});
