import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import type { TariffFault } from "../../../domain/faults.ts";
import { Refusal, type Violation } from "../../../domain/refusal.ts";
import { loadAndCheckDraft } from "../tasks/tariff-tasks.ts";
import { TOO_MUCH_MEMORY } from "../tasks/json-scan.ts";
import {
  TaskTooLargeError,
  type CheckedDraft,
  type TariffTasks,
} from "../tasks/run-tariff-task.ts";
import { draftEtag } from "./tariff-drafts.ts";
import type { TariffDraft } from "./tariff-draft.entity.ts";

export interface DraftDeps {
  readonly em: EntityManager;
  readonly tasks: TariffTasks;
  readonly now: () => Date;
}

/**
 * How large a draft may be, in bytes, to be checked in this thread. It takes some milliseconds; a
 * worker takes longer to start.
 */
const MAX_BYTES_HERE = 32 * 1024;

/**
 * Checks a draft as it is stored now, a large one in a thread of its own, and once however often it is asked for.
 *
 * @returns undefined when the draft has been removed
 * @throws Refusal UNAVAILABLE when too much work on tariffs waits
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

async function checkLarge(
  tasks: TariffTasks,
  draft: TariffDraft,
): Promise<CheckedDraft | undefined> {
  const etag = draftEtag(draft);
  const checking = tasks.checks.get(etag) ?? checkInThread(tasks, draft);
  tasks.checks.set(etag, checking);
  try {
    const checked = await checking;
    // It was changed, or removed, before it was read.
    if (checked?.revision !== draft.revision) tasks.checks.delete(etag);
    return checked;
  } catch (error) {
    tasks.checks.delete(etag);
    throw error;
  }
}

/** That it takes too much memory is what was found, too: it would take as much the next time. */
async function checkInThread(
  tasks: TariffTasks,
  { id, revision }: TariffDraft,
): Promise<CheckedDraft | undefined> {
  try {
    return await tasks.run("check", { draft: id });
  } catch (error) {
    if (!(error instanceof TaskTooLargeError)) throw error;
    return { revision, faults: [TOO_LARGE], warnings: [], zones: 0, tiers: 0, digest: undefined };
  }
}

/** Of a draft that took too much memory to be checked. */
export const TOO_LARGE: TariffFault = { path: "zones", text: TOO_MUCH_MEMORY };

export function faultyTariffError(faults: readonly TariffFault[]): Refusal {
  const violations = faults.map(({ path, text }): Violation => ({
    reason: "TARIFF_FAULTY",
    subject: path,
    text: `${path} ${text}`,
  }));
  return new Refusal(violations);
}
