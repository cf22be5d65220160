import type { TariffFault } from "../../../domain/faults.ts";
import { checkDraft } from "./check-draft.ts";
import { readDraftDocument, type Queryable } from "./load-document.ts";
import type { TariffTask } from "./tariff-tasks.ts";

/** What was found when a draft was checked. */
export interface CheckedDraft {
  /** The revision of the draft that was checked. */
  readonly revision: number;
  /** In the order of the document; none when it can be published. */
  readonly faults: readonly TariffFault[];
  /** How many zones and tiers it has; 0 when it has faults. */
  readonly zones: number;
  readonly tiers: number;
  /**
   * SHA-256 of the document's canonical text, in base64url, as stored with versions; undefined when it
   * has faults.
   */
  readonly digest: string | undefined;
}

/** Reads and checks a draft; undefined when there is no such draft. */
export async function readAndCheckDraft(
  client: Queryable,
  draftId: number,
): Promise<CheckedDraft | undefined> {
  const read = await readDraftDocument(client, draftId);
  if (read === undefined) return undefined;
  const { revision } = read;
  const { tariff, digest, faults } = checkDraft(read);
  if (faults !== undefined) return { revision, faults, zones: 0, tiers: 0, digest };
  return { revision, faults: [], zones: tariff.zones.length, tiers: tariff.tiers.length, digest };
}

/** Checks a draft in a thread of its own. */
export const checkTask: TariffTask<"check"> = (client, { draft }) =>
  readAndCheckDraft(client, draft);
