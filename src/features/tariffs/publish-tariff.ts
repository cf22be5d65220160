import { hash } from "node:crypto";
import { announceChange } from "../../db/announce-change.ts";
import type { EntityManager } from "../../db/orm.ts";
import { canonicalText } from "../../domain/canonical-text.ts";
import type { Fault } from "../../domain/faults.ts";
import { readTariff } from "../../domain/pricing/tariff.ts";
import { TariffVersion } from "./tariff.entity.ts";

/**
 * The result of publishing: the version in force with its number of zones and tiers, or every fault
 * of the document.
 */
export type Publication =
  | {
      readonly faults?: undefined;
      readonly version: number;
      readonly zones: number;
      readonly tiers: number;
    }
  | { readonly faults: readonly Fault[] };

/** The advisory lock that makes publishers run one at a time. */
const PUBLISH_LOCK = 0x5348_5002;

/**
 * Checks a tariff document and puts it in force as the next version; every process uses it within a
 * second. A document equal to the one in force gets no new version. A `version` field, as
 * `showTariff` adds, is ignored.
 */
export async function publishTariff(
  em: EntityManager,
  given: unknown,
  note: string | undefined,
): Promise<Publication> {
  const { tariff, faults } = readTariff(given);
  if (faults !== undefined) return { faults };
  const document: object = { ...(given as object), version: undefined };
  const digest = hash("sha256", canonicalText(document), "base64url");
  const version = await em.fork().transactional(async (tx) => {
    await tx.execute("select pg_advisory_xact_lock(?)", [PUBLISH_LOCK]);
    const [inForce] = await tx.findAll(TariffVersion, {
      orderBy: { version: "desc" },
      limit: 1,
      fields: ["version", "digest"],
    });
    if (inForce?.digest === digest) return inForce.version;
    const next = (inForce?.version ?? 0) + 1;
    tx.create(TariffVersion, {
      version: next,
      document,
      digest,
      note: note ?? null,
      publishedAt: new Date(),
      calledOffAt: null,
      author: null,
      replaces: inForce?.version ?? null,
      repeats: null,
    });
    await announceChange(tx);
    return next;
  });
  return { version, zones: tariff.zones.length, tiers: tariff.tiers.length };
}
