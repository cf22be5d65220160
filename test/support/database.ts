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
export function createDatabase(): Promise<TestDatabase> {
  // Through the log: copying files instead would force two checkpoints of the whole server.
  return create(`template ${inject("templateDatabase")} strategy wal_log`);
}

/** Makes a database in which there is no table yet. */
export function createUnmigratedDatabase(): Promise<TestDatabase> {
  return create("strategy wal_log");
}

async function create(how: string): Promise<TestDatabase> {
  const name = `${inject("templateDatabase")}_${randomBytes(6).toString("hex")}`;
  await administer(`create database ${name} ${how}`);
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
