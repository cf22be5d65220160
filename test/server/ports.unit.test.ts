import { Server } from "node:net";
import { expect, test, vi } from "vitest";
import { assertPortsFree } from "../../src/server/ports.ts";
import { freePort } from "../support/free-port.ts";

test("whether ports are free is found out without listening at them, which a proxy would notice", async () => {
  const [port, grpcPort] = [await freePort(), await freePort()];
  const listen = vi.spyOn(Server.prototype, "listen");
  await assertPortsFree({ host: "127.0.0.1", port, grpcPort, operationsPort: undefined });
  expect(listen.mock.calls.map(([first]) => first)).toEqual([0]);
});
