import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { END_MS } from "../../src/commands/serve.ts";
import { readGuides } from "../docs/guide-blocks.ts";
import { startProcess } from "../support/command.ts";
import { createDatabase } from "../support/database.ts";
import { FREE_PORTS, untilListening } from "../support/service-process.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const INSTALLED = "/opt/shipment-booking";
const { blocks } = readGuides().find(({ name }) => name === "deployment.md")!;
/** The guide's unit, for the program of this repository. */
const unit = blocks
  .find(({ text }) => text.startsWith("[Unit]"))!
  .text.replaceAll(INSTALLED, resolve("."));
const settingOf = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(unit)![1]!;

test.runIf(spawnSync("systemd-analyze", ["--version"]).status === 0)(
  "systemd finds no fault with the unit",
  () => {
    const folder = makeTemporaryFolder("systemd");
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "shipment-booking.service");
    writeFileSync(file, unit);
    const verified = spawnSync("systemd-analyze", ["verify", "--man=no", file], {
      encoding: "utf8",
    });
    // Of units of this machine it may say more.
    const said = verified.stderr.split("\n").filter((line) => line.includes("shipment-booking"));
    expect({ status: verified.status, said }).toEqual({ status: 0, said: [] });
  },
);

test("the unit's command starts the service, and SIGTERM ends it well within the unit's time", async () => {
  const database = await createDatabase();
  onTestFinished(database.drop);
  const [file = "", ...args] = settingOf("ExecStart").split(" ");
  const environment = { ...FREE_PORTS, DATABASE_URL: database.url };
  const running = startProcess(file, args, environment, settingOf("WorkingDirectory"));
  const served = await untilListening(running);
  expect((await served.request("/healthz")).status).toBe(200);
  served.process.kill("SIGTERM");
  expect(await served.ended).toMatchObject({ code: 0, stderr: "" });
  expect(Number(settingOf("TimeoutStopSec"))).toBeGreaterThan(5 + END_MS / 1_000);
});
