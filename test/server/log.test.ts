import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { OF_PROCESS } from "../support/service-process.ts";

const KEY = "shp_0123456789abcdefghijklmnopqrstuvwxyz";
const TIME = /^\[\d\d:\d\d:\d\d\.\d{3}\] /gm;

/** Returns four log lines that a separate process writes with these settings. */
function logged(environment: Record<string, string>, logFormat?: string): string {
  const program = `
    const { createLog } = await import("./src/server/log.ts");
    const { log, flush } = await createLog({ logLevel: "info", logFormat: ${JSON.stringify(logFormat)} });
    log.info({ http: "http://127.0.0.1:8080" }, "listening");
    log.info({ requestId: "r1", method: "m", address: "192.0.2.1", workspace: 7, key: "key_1", code: "ok", status: 201, durationMs: 5.25 }, "call");
    log.info({ requestId: "${KEY}", path: "/v2", code: "unimplemented", status: 404, durationMs: 0.04 }, "call");
    log.warn({ requestId: "r3" }, "database unavailable");
    await flush();
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    env: { PATH: process.env.PATH, ...environment },
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  return stdout;
}

test.runIf(process.platform === "linux")("a full disk stops neither the process nor its exit", () => {
  const full = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(full));
  const program = `
    const { createLog } = await import("./src/server/log.ts");
    const { log, flush } = await createLog({ logLevel: "info", logFormat: "json" });
    for (const line of ["first", "second"]) {
      log.info(line);
      await flush();
    }
    process.stdout.write("banner");
    await new Promise((resolve) => setTimeout(resolve, 300));
    log.info("last");
    process.exit(3);
  `;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", full, "pipe"],
    encoding: "utf8",
    timeout: 10_000,
    killSignal: "SIGKILL",
  });
  expect({ status, stderr }).toEqual({ status: 3, stderr: "" });
});

const AS_TEXT = `INFO: listening {"http":"http://127.0.0.1:8080"}
INFO: m 201 ok, 5.3 ms, workspace 7, key key_1, from 192.0.2.1, request r1
INFO: /v2 404 unimplemented, 0.0 ms, request shp_...wxyz
WARN: database unavailable, request r3
`;

test("a log that does not go to a terminal is JSON, one line per entry", () => {
  const lines = logged({}).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      ...OF_PROCESS,
      level: "info",
      time: expect.any(Number),
      http: "http://127.0.0.1:8080",
      msg: "listening",
    },
    {
      ...OF_PROCESS,
      level: "info",
      time: expect.any(Number),
      requestId: "r1",
      method: "m",
      address: "192.0.2.1",
      workspace: 7,
      key: "key_1",
      code: "ok",
      status: 201,
      durationMs: 5.25,
      msg: "call",
    },
    {
      ...OF_PROCESS,
      level: "info",
      time: expect.any(Number),
      requestId: "shp_...wxyz",
      path: "/v2",
      code: "unimplemented",
      status: 404,
      durationMs: 0.04,
      msg: "call",
    },
    {
      ...OF_PROCESS,
      level: "warn",
      time: expect.any(Number),
      requestId: "r3",
      msg: "database unavailable",
    },
  ]);
});

test("redacts an operator's key in the log like a workspace's", () => {
  const program = `
    const { createLog } = await import("./src/server/log.ts");
    const { log, flush } = await createLog({ logLevel: "info" });
    log.info({ requestId: "${KEY.replace("shp_", "sho_")}" }, "call");
    await flush();
  `;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    env: { PATH: process.env.PATH },
    encoding: "utf8",
  });
  expect(JSON.parse(stdout)).toMatchObject({ requestId: "sho_...wxyz" });
});

test("a text log has the time, level, method, status, duration and message on one line", () => {
  const text = logged({}, "text");
  expect(text.match(TIME)).toHaveLength(4);
  expect(text.replace(TIME, "")).toBe(AS_TEXT);
});

test("a text log has colors with FORCE_COLOR and none with NO_COLOR", () => {
  expect(logged({ FORCE_COLOR: "1" }, "text")).toContain("\u001B[32mINFO");
  expect(logged({ NO_COLOR: "1" }, "text")).not.toContain("\u001B");
});

test.runIf(process.platform === "linux" && spawnSync("script", ["--version"]).status === 0)(
  "a log on a terminal is text, unless LOG_FORMAT is JSON",
  () => {
    const program =
      'const { createLog } = await import("./src/server/log.ts"); (await createLog({ logLevel: "info", logFormat: process.env.LOG_FORMAT })).log.info("listening");';
    const onTerminal = (environment: Record<string, string>) =>
      spawnSync("script", ["-qec", `"${process.execPath}" --input-type=module -e '${program}'`, "/dev/null"], {
        env: { PATH: process.env.PATH, NO_COLOR: "1", ...environment },
        encoding: "utf8",
      }).stdout;
    expect(onTerminal({})).toMatch(/^\[[\d:.]+\] INFO: listening\r\n$/);
    expect(onTerminal({ LOG_FORMAT: "json" })).toMatch(/^\{"level":"info",.+\}\r\n$/);
  },
);
