import { createHmac, hash } from "node:crypto";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createSecretSeal } from "../../../src/domain/secret-seal.ts";
import { hasOptedOut, insertOptOut } from "../../../src/features/recipients/recipient-opt-out.entity.ts";
import { createSealSecrets } from "../../../src/server/upkeep.ts";
import { connectTo } from "../../support/database.ts";
import { startService } from "../../support/service.ts";

const service = await startService();
const { em } = service.app;
const sql = await connectTo(service.databaseUrl);

async function optOutsOf(workspace: number) {
  const { rows } = await sql.query(
    "select email_hash, created_at::text from recipient_opt_out where workspace_id = $1",
    [workspace],
  );
  return rows;
}

test("opt-outs are stored as keyed hashes, and those stored without a key stay in effect", async () => {
  const [{ id }, { id: other }] = [await service.addWorkspace(), await service.addWorkspace()];
  const unkeyed = hash("sha256", "ada@example.org", "base64url");
  const createdAt = "2026-11-26 08:00:00+00";
  await sql.query("insert into recipient_opt_out values ($1, $2, $3)", [id, unkeyed, createdAt]);
  const sealSecrets = createSealSecrets(em, createSecretSeal([]), pino({ enabled: false }));
  // The first run keeps the plain hash, because replicas of an earlier commit may still read it.
  await sealSecrets();
  expect(await optOutsOf(id)).toEqual([{ email_hash: unkeyed, created_at: createdAt }]);
  expect(await hasOptedOut(em, id, "ada@example.org")).toBe(true);

  await sealSecrets();
  const { rows } = await sql.query("select opt_out_secret as secret from installation");
  const keyed = createHmac("sha256", rows[0].secret).update(unkeyed).digest("base64url");
  const converted = [{ email_hash: `hmac:${keyed}`, created_at: createdAt }];
  expect(await optOutsOf(id)).toEqual(converted);
  expect(await hasOptedOut(em, id, "ada@example.org")).toBe(true);
  await insertOptOut(em, id, "ada@example.org");
  expect(await optOutsOf(id)).toEqual(converted);

  expect(await hasOptedOut(em, other, "ada@example.org")).toBe(false);
  await insertOptOut(em, other, "ada@example.org");
  expect(await optOutsOf(other)).toEqual([{ email_hash: `hmac:${keyed}`, created_at: expect.any(String) }]);
  expect(await hasOptedOut(em, other, "grace@example.org")).toBe(false);
});
