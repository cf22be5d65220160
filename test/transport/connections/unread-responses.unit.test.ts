import { expect, test } from "vitest";
import { createStalledSockets } from "../../../src/transport/connections/unread-responses.ts";

test("a socket stalls if none of its pending bytes are read in time, however many are added", () => {
  const handle = { bytesWritten: 0, writeQueueSize: 0 };
  const socket = { _handle: handle };
  const cut: unknown[] = [];
  const lookAt = createStalledSockets(30_000, (stalled) => cut.push(stalled));
  const look = (nowMs: number, bytesWritten: number, writeQueueSize: number) => {
    Object.assign(handle, { bytesWritten, writeQueueSize });
    lookAt(socket, nowMs);
    return cut.length;
  };
  expect(look(0, 100, 90)).toBe(0);
  expect(look(29_000, 100, 89)).toBe(0);
  expect(look(58_999, 200, 189)).toBe(0);
  expect(look(59_000, 200, 0)).toBe(0);
  expect(look(90_000, 300, 100)).toBe(0);
  expect(look(119_999, 300, 100)).toBe(0);
  expect(look(120_000, 400, 200)).toBe(1);
  expect(cut).toEqual([socket]);
});
