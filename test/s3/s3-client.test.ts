import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { isTransientDatabaseError } from "../../src/db/database-error.ts";
import { createS3Client } from "../../src/s3/s3-client.ts";

test.each([
  ["refuses the connection", (socket: Socket) => socket.resetAndDestroy()],
  [
    "closes the connection within an object",
    (socket: Socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart");
      socket.once("data", () => setImmediate(() => socket.resetAndDestroy()));
    },
  ],
])("an error of a bucket that %s is not mistaken for an error of the database", async (_, serve) => {
  const server = createServer((socket) => serve(socket.on("error", () => undefined))).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pictures`;
  const client = createS3Client({ url, region: "us-east-1", accessKeyId: "id", secretAccessKey: "secret" });
  const error = await client.get("picture").catch((thrown: unknown) => thrown);
  expect(String(error)).toMatch(/^Error: The bucket did not respond \(\w+\)\.$/);
  expect(isTransientDatabaseError(error)).toBe(false);
});
