import pg from "pg";
import { createPricing, type Pricing } from "../../../src/domain/pricing/pricing.ts";
import { readTariff } from "../../../src/domain/pricing/tariff.ts";

// Ids and amounts are safe integers.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** As many connections as the product has. */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL!, max: 20 });

/** A statement that is prepared once on each connection, under its name. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

/** Runs a prepared statement outside a transaction. */
export async function query<R extends pg.QueryResultRow>(
  statement: Prepared,
  values: unknown[],
): Promise<R[]> {
  const { rows } = await pool.query<R>({ ...statement, values });
  return rows;
}

/** Runs a prepared statement in a transaction. */
export type Run = <R extends pg.QueryResultRow>(
  statement: Prepared,
  values: unknown[],
) => Promise<R[]>;

/** Does something in one transaction, which is undone if it throws. */
export async function transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const done = await work(
      async <R extends pg.QueryResultRow>(statement: Prepared, values: unknown[]) =>
        (await client.query<R>({ ...statement, values })).rows,
    );
    await client.query("commit");
    return done;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

const known = new Map<number, Pricing>();

/** The prices of a tariff version, kept in memory once they were read. */
export async function pricingOf(version: number): Promise<Pricing> {
  const inMemory = known.get(version);
  if (inMemory !== undefined) return inMemory;
  const text = "select document from tariff_version where version = $1";
  const { rows } = await pool.query<{ document: unknown }>(text, [version]);
  const pricing = createPricing(readTariff(rows[0]!.document).tariff!);
  known.set(version, pricing);
  return pricing;
}
