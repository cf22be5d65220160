import pg from "pg";
import { expect, test } from "vitest";
import { createDatabase } from "./database.ts";

test("databases created concurrently are migrated and separate", async () => {
  const databases = await Promise.all(Array.from({ length: 8 }, createDatabase));
  const clients = databases.map(({ url }) => new pg.Client(url));
  for (const client of clients) client.on("error", () => {});
  await Promise.all(clients.map((client) => client.connect()));

  await Promise.all(clients.map((client) => client.query("create table mine ()")));
  for (const client of clients) {
    const { rows } = await client.query("select count(*)::int as migrations from applied_migration");
    expect(rows[0].migrations).toBeGreaterThan(0);
  }

  await Promise.all(databases.map((database) => database.drop()));
  await expect(new pg.Client(databases[0]!.url).connect()).rejects.toThrow("does not exist");
});
