import { expect, test } from "vitest";
import { createStalledSockets } from "../../../src/transport/connections/unread-responses.ts";

test("a socket stalls if none of its pending bytes are read in time, however many are added", () => {
  const handle = { bytesWritten: 0, writeQueueSize: 0 };
  const socket = { _handle: handle };
  const cut: unknown[] = [];
  const inspect = createStalledSockets(30_000, (stalled) => cut.push(stalled));
  const inspectAt = (nowMs: number, bytesWritten: number, writeQueueSize: number) => {
    Object.assign(handle, { bytesWritten, writeQueueSize });
    inspect(socket, nowMs);
    return cut.length;
  };
  expect(inspectAt(0, 100, 90)).toBe(0);
  expect(inspectAt(29_000, 100, 89)).toBe(0);
  expect(inspectAt(58_999, 200, 189)).toBe(0);
  expect(inspectAt(59_000, 200, 0)).toBe(0);
  expect(inspectAt(90_000, 300, 100)).toBe(0);
  expect(inspectAt(119_999, 300, 100)).toBe(0);
  expect(inspectAt(120_000, 400, 200)).toBe(1);
  expect(cut).toEqual([socket]);
});
