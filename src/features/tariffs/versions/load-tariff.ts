import type { EntityManager } from "../../../db/orm.ts";
import { coverageOf } from "../../../domain/coverage/coverage.ts";
import { pricingOf, type Pricing } from "../../../domain/pricing/pricing.ts";
import { indexTariff } from "../tasks/version-tasks.ts";
import type { TariffTasks } from "../tasks/run-tariff-task.ts";

/**
 * How large a document may be, in bytes as PostgreSQL stores it, to be read in this thread. It takes
 * some milliseconds; a worker takes longer to start.
 */
const MAX_BYTES_HERE = 32 * 1024;

/**
 * Loads a published version for quoting. A large one is read, parsed and indexed in a worker thread,
 * on a connection of its own, so that calls go on meanwhile; the worker then ends, and returns its
 * memory. Nothing is checked again but the fees.
 *
 * @throws when there is no such version or the database does not give it
 */
export async function loadTariff(
  em: EntityManager,
  tasks: TariffTasks,
  version: number,
): Promise<Pricing> {
  const document = await readSmall(em, version);
  const { fees, indexed } =
    document === undefined ? await tasks.runAtOnce("load", { version }) : indexTariff(document);
  return pricingOf(fees, coverageOf(indexed));
}

/** The document of a version; undefined when it is large. */
async function readSmall(em: EntityManager, version: number): Promise<object | undefined> {
  // Loads are asked for within transactions, and are not part of them.
  const outside = em.fork({ disableContextResolution: true });
  const [row] = await outside.execute<{ document: object | null }[]>(
    "select case when pg_column_size(document) <= ? then document end as document from tariff_version where version = ?",
    [MAX_BYTES_HERE, version],
  );
  if (row === undefined) throw new Error(`there is no tariff version ${version}`);
  return row.document ?? undefined;
}
