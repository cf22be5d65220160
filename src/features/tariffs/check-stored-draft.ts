import { runStatement } from "../../db/statement.ts";
import { readAndCheckDraft, type CheckedDraft } from "./check-task.ts";
import type { TariffDeps } from "./tariff-deps.ts";
import type { TariffDraft } from "./tariff-draft.entity.ts";

/**
 * How large a draft may be, in bytes, to be checked in this thread. It takes some milliseconds; a
 * worker takes longer to start.
 */
const MAX_BYTES_HERE = 32 * 1024;

/**
 * Checks a draft as it is stored now, a large one in a thread of its own.
 *
 * @returns undefined when the draft has been removed
 * @throws Refusal UNAVAILABLE when too much work on tariffs waits
 */
export function checkStoredDraft(
  { em, tasks }: TariffDeps,
  { id, zonesBytes, fees }: TariffDraft,
): Promise<CheckedDraft | undefined> {
  const isSmall = zonesBytes + JSON.stringify(fees).length <= MAX_BYTES_HERE;
  if (!isSmall) return tasks.run("check", { draft: id });
  const reading = em.fork();
  const query = async <Row extends object>(sql: string, values: readonly unknown[]) => ({
    rows: await runStatement<Row>(reading, sql, values),
  });
  return readAndCheckDraft({ query }, id);
}
