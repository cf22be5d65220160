import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Server } from "node:net";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { assertPortsFree, sharedPortsWarning } from "../../src/server/ports.ts";
import { freePort } from "../support/free-port.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const ADDRESSES = { host: "127.0.0.1", operationsPort: undefined, reusePort: false };

afterEach(() => void vi.restoreAllMocks());

test("checks whether ports are free without listening on them, which a proxy would notice", async () => {
  const [port, grpcPort] = [await freePort(), await freePort()];
  const listen = vi.spyOn(Server.prototype, "listen");
  await assertPortsFree({ ...ADDRESSES, port, grpcPort });
  expect(listen.mock.calls).toEqual([[{ host: "127.0.0.1", port: 0, reusePort: false }]]);
});

test("reports a system that cannot share ports among processes, with the fix", async () => {
  vi.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server) {
    const error = Object.assign(new Error("not supported"), { code: "ENOTSUP" });
    process.nextTick(() => this.emit("error", error));
    return this;
  });
  await expect(assertPortsFree({ ...ADDRESSES, port: 8080, grpcPort: 9090, reusePort: true })).rejects.toThrow(
    "REUSE_PORT: this system cannot share a port among processes; give each process its own ports, behind a proxy",
  );
});

test("warns if the system resets waiting connections when a process that shares ports exits", async () => {
  const folder = makeTemporaryFolder("setting");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const warningWith = async (text: string) => {
    writeFileSync(join(folder, "setting"), text);
    return sharedPortsWarning({ reusePort: true }, join(folder, "setting"));
  };
  const warning =
    "pending connections may be reset when a process exits: run `sysctl -w net.ipv4.tcp_migrate_req=1`, so that other processes accept them";
  expect(await warningWith("0\n")).toBe(warning);
  expect(await warningWith("1\n")).toBeUndefined();
  expect(await sharedPortsWarning({ reusePort: true }, join(folder, "none"))).toBe(warning);
  expect(await sharedPortsWarning({ reusePort: false }, join(folder, "none"))).toBeUndefined();
});
