import { hash } from "node:crypto";
import { announceChange } from "../../db/announce-change.ts";
import type { EntityManager } from "../../db/orm.ts";
import { canonicalText } from "../../domain/canonical-text.ts";
import type { Fault } from "../../domain/faults.ts";
import { readTariff } from "../../domain/pricing/tariff.ts";
import { TariffVersion } from "./tariff.entity.ts";

/**
 * What became of a document that was to be published: a version in force, or everything wrong with
 * it.
 */
export type Publication =
  | {
      readonly faults?: undefined;
      readonly version: number;
      readonly zones: number;
      readonly tiers: number;
    }
  | { readonly faults: readonly Fault[] };

/** Publishers take turns on this advisory lock. */
const PUBLISH_LOCK = 0x5348_5002;

/**
 * Checks a tariff document (contract, section 7) and puts it in force as the next version, for
 * every process within a second. The document that is already in force is not published again. A
 * `version` in it, as `showTariff` adds, is not part of it.
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
    });
    await announceChange(tx);
    return next;
  });
  return { version, zones: tariff.zones.length, tiers: tariff.tiers.length };
}
