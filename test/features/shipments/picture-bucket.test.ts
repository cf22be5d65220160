import { hash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Client } from "pg";
import { expect, test } from "vitest";
import { SAMPLE_PICTURES } from "../../../src/features/test-mode/sample-pictures.ts";
import { createS3Client } from "../../../src/s3/s3-client.ts";
import { data } from "../../support/answers.ts";
import { bookAnd } from "../../support/bookings.ts";
import { bucketSettings, startBucket } from "../../support/bucket.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";
import { whenOver } from "../../support/when-over.ts";

const photo = SAMPLE_PICTURES.photo.toString("base64");
const signature = SAMPLE_PICTURES.signature.toString("base64");

/** The same picture, encoded as different bytes. */
const other = Buffer.concat([
  SAMPLE_PICTURES.photo.subarray(0, -3),
  Buffer.from([0]),
  SAMPLE_PICTURES.photo.subarray(-2),
]);

async function pictureOf({ httpUrl }: TestService, apiKey: string, shipment: string) {
  const read = await fetch(`${httpUrl}/v1/shipments/${shipment}/proof/photo`, {
    headers: { "x-api-key": apiKey },
  });
  return Buffer.from(await read.arrayBuffer());
}

const untilMoved = (sql: Client) =>
  eventually("all pictures to be moved", async () => {
    const { rows } = await sql.query("select from proof_picture where content is not null");
    return rows.length === 0;
  });

const keyOf = (workspace: number, shipment: string, kind: "photo" | "signature") =>
  `${workspace}/${shipment}/${kind}-${hash("sha256", SAMPLE_PICTURES[kind], "hex")}`;

test("pictures move into a bucket and can be read by any replica with access to it", async () => {
  const bucket = await startBucket();
  const service = await startService({ pictures: bucket.settings });
  const { apiKey, id } = await service.addWorkspace();
  const as = service.as(apiKey);
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay", "advance"]);
  await data(as.recordProof({ shipment, photo, signature }));
  const moved = (["photo", "signature"] as const).map((kind) => keyOf(id, shipment, kind));
  const sql = await connectTo(service.databaseUrl);
  await untilMoved(sql);
  expect(await bucket.keys()).toEqual(moved);
  expect(await pictureOf(service, apiKey, shipment)).toEqual(SAMPLE_PICTURES.photo);

  const without = await startReplica(service.databaseUrl);
  expect(await without.as(apiKey).getProofPhoto({ shipment })).toMatchObject({
    status: 503,
    body: { message: "The picture cannot be read at the moment. Try again in a moment." },
  });
  await data(without.as(apiKey).recordProof({ shipment, photo: other.toString("base64") }));
  expect(await pictureOf(without, apiKey, shipment)).toEqual(other);
  await untilMoved(sql);
  expect(await pictureOf(service, apiKey, shipment)).toEqual(other);
});

test("deliveries continue while the bucket is unavailable, and pictures move when it is back", async () => {
  const port = await freePort();
  const pictures = bucketSettings(port);
  const failed: string[] = [];
  const service = await startService({
    pictures,
    logged: ({ msg }) => failed.push(String(msg)),
  });
  const { apiKey, id } = await service.addWorkspace();
  const as = service.as(apiKey);
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay", "advance"], {
    dropoff_verification: "photo",
  });
  await data(as.recordProof({ shipment, photo }));
  await data(as.advanceShipment({ shipment }));
  await eventually("a failure", () => failed.includes("a picture was not moved into its bucket"));
  expect(await pictureOf(service, apiKey, shipment)).toEqual(SAMPLE_PICTURES.photo);

  const bucket = await startBucket(port);
  await startReplica(service.databaseUrl, { pictures });
  const sql = await connectTo(service.databaseUrl);
  await sql.query("update proof_picture set moves_at = now()");
  await untilMoved(sql);
  expect(await bucket.keys()).toEqual([keyOf(id, shipment, "photo")]);
  expect(await pictureOf(service, apiKey, shipment)).toEqual(SAMPLE_PICTURES.photo);
});

test("a bucket that does not respond neither hides the address from a recipient nor blocks other requests", async () => {
  const silent = createServer();
  const port = await freePort();
  await once(silent.listen(port, "127.0.0.1"), "listening");
  whenOver(() => silent.close());
  const publicUrl = "https://book.example.org";
  const pictures = bucketSettings(port);
  const service = await startService({ pictures, publicUrl });
  const { apiKey } = await service.addWorkspace();
  const { reference: shipment, tracking_url: url } = await bookAnd(service, apiKey, ["pay", "advance"], {
    recipient_phone: "+12025550123",
    dropoff_address: "95 Prospect Park West",
  });
  await data(service.as(apiKey).recordProof({ shipment, photo }));
  await data(service.as(apiKey).advanceShipment({ shipment }));
  const sql = await connectTo(service.databaseUrl);
  await sql.query("update proof_picture set content = null, object_key = 'somewhere'");
  const page = service.httpUrl + new URL(url).pathname;
  const body = new URLSearchParams({ digits: "0123" });
  const opened = Array.from({ length: 5 }, () => fetch(`${page}/open`, { method: "POST", body }));
  await once(silent, "request");
  expect((await fetch(page)).status).toBe(200);
  silent.closeAllConnections();
  for (const response of await Promise.all(opened)) {
    const html = await response.text();
    expect(html).toContain("95 Prospect Park West");
    expect(html).not.toContain("data:image/jpeg");
  }
});

test.each([
  ["with the wrong secret key", "/pictures", "wrong", "The bucket responded with status 403."],
  ["that does not exist", "/nothing", "S3RVER", "The bucket does not exist."],
])("a write fails in a bucket %s", async (_, path, secretAccessKey, message) => {
  const { settings } = await startBucket();
  const url = new URL(path, settings.url).href;
  const client = createS3Client({ ...settings, url, secretAccessKey });
  const written = client.put("a", SAMPLE_PICTURES.photo, "image/jpeg");
  await expect(written).rejects.toThrow(message);
  await expect(client.get("a")).rejects.toThrow(message);
});
