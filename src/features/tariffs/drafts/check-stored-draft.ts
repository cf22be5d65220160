import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import type { TariffFault } from "../../../domain/faults.ts";
import { Refusal, type Violation } from "../../../domain/refusal.ts";
import { loadAndCheckDraft } from "../tasks/tariff-tasks.ts";
import { TOO_MUCH_MEMORY } from "../tasks/json-scan.ts";
import { TaskTooLargeError, type CheckedDraft, type TariffTasks } from "../tasks/run-tariff-task.ts";
import { draftEtag } from "./tariff-drafts.ts";
import type { TariffDraft } from "./tariff-draft.entity.ts";

export interface DraftDeps {
  readonly em: EntityManager;
  readonly tasks: TariffTasks;
  readonly now: () => Date;
}

/**
 * Maximum size of a draft that is checked in this thread, in bytes. The check then takes a few
 * milliseconds, less than starting a worker.
 */
const MAX_BYTES_HERE = 32 * 1024;

/**
 * Checks a stored draft. A large draft is checked in a worker thread, once for all concurrent
 * callers. Returns `undefined` if the draft was removed.
 *
 * @throws Refusal UNAVAILABLE if too many tariff tasks are waiting
 */
export async function checkStoredDraft(
  { em, tasks }: DraftDeps,
  draft: TariffDraft,
): Promise<CheckedDraft | undefined> {
  const { id, zonesBytes, fees } = draft;
  const isSmall = zonesBytes + JSON.stringify(fees).length <= MAX_BYTES_HERE;
  if (!isSmall) return checkLarge(tasks, draft);
  const reading = em.fork();
  const query = async <Row extends object>(sql: string, values: readonly unknown[]) => ({
    rows: await runStatement<Row>(reading, sql, values),
  });
  return loadAndCheckDraft({ query }, id);
}

async function checkLarge(tasks: TariffTasks, draft: TariffDraft): Promise<CheckedDraft | undefined> {
  const etag = draftEtag(draft);
  const checking = tasks.checks.get(etag) ?? checkInThread(tasks, draft);
  tasks.checks.set(etag, checking);
  try {
    const checked = await checking;
    // Removes the cached check if the draft was changed or removed before it was read.
    if (checked?.revision !== draft.revision) tasks.checks.delete(etag);
    return checked;
  } catch (error) {
    tasks.checks.delete(etag);
    throw error;
  }
}

/**
 * Checks a draft in a worker thread. Running out of memory counts as a result, because another check would need as much
 * memory.
 */
async function checkInThread(tasks: TariffTasks, { id, revision }: TariffDraft): Promise<CheckedDraft | undefined> {
  try {
    return await tasks.run("check", { draft: id });
  } catch (error) {
    if (!(error instanceof TaskTooLargeError)) throw error;
    return { revision, faults: [TOO_LARGE], warnings: [], zones: 0, tiers: 0, digest: undefined };
  }
}

/** Error for a draft that needs too much memory to be checked. */
export const TOO_LARGE: TariffFault = { path: "zones", text: TOO_MUCH_MEMORY };

export function faultyTariffError(faults: readonly TariffFault[]): Refusal {
  const violations = faults.map(({ path, text }): Violation => ({
    reason: "TARIFF_FAULTY",
    subject: path,
    text: `${path} ${text}`,
  }));
  return new Refusal(violations);
}
