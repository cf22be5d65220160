import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";

/** A database of a test's own. */
export interface TestDatabase {
  url: string;
  /** Drops it, whoever is connected. */
  drop(): Promise<void>;
}

/**
 * Makes a migrated, empty database, in some tens of milliseconds, by cloning the run's template.
 * Any number may be made at once.
 */
export async function createDatabase(): Promise<TestDatabase> {
  const template = inject("templateDatabase");
  const name = `${template}_${randomBytes(6).toString("hex")}`;
  // Through the log: copying files instead would force two checkpoints of the whole server.
  await administer(`create database ${name} template ${template} strategy wal_log`);
  const url = new URL(inject("adminDatabaseUrl"));
  url.pathname = name;
  return { url: url.href, drop: () => administer(`drop database ${name} with (force)`) };
}

/** Connects to a database, and ignores that it is dropped meanwhile; end it when done. */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function administer(sql: string): Promise<void> {
  const admin = new pg.Client(inject("adminDatabaseUrl"));
  await admin.connect();
  try {
    await admin.query(sql);
  } finally {
    await admin.end();
  }
}
