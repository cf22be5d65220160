import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type EntityManager } from "../../../src/db/orm.ts";
import { addVersion } from "../../../src/features/tariffs/versions/add-version.ts";
import { createDatabase, openOrm } from "../../support/database.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { worldTariff } from "../../support/tariffs.ts";

const database = await createDatabase();
const orm = openOrm(database.url);
await publishDocument(orm.em, worldTariff());

/** Wraps a transaction so that it pauses after each statement. A scheduled version takes effect during the pause. */
function slowed(tx: EntityManager): EntityManager {
  return new Proxy(tx, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "getKysely") return value.bind(target);
      return () => ({
        async executeQuery(query: Parameters<ReturnType<typeof tx.getKysely>["executeQuery"]>[0]) {
          const result = await tx.getKysely().executeQuery(query);
          await sleep(500);
          return result;
        },
      });
    },
  });
}

test("a version that takes effect while another is published is not replaced unnoticed", async () => {
  const adding = orm.em.fork().transactional(async (tx) => {
    await tx.execute(
      `insert into tariff_version (version, document, digest, published_at, effective_at)
       select 2, document, 'digest', now(), clock_timestamp() + interval '300 milliseconds'
       from tariff_version`,
    );
    const insert = () => Promise.reject(new Error("version 2 was replaced"));
    await addVersion(slowed(tx), { replaces: 1, digest: "other", insert });
  });
  await expect(adding).rejects.toThrow("Version 2 is now in force, not 1.");
});
