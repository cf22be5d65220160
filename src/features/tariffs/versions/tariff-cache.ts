import type { Reader } from "../../../db/change-feed.ts";
import type { Logger } from "pino";
import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { unavailable, type Refusal } from "../../../domain/refusal.ts";
import type { TariffTasks } from "../tasks/run-tariff-task.ts";
import { AFTER_IN_FORCE, VERSION_IN_FORCE } from "./load-version.ts";
import { createLoadedTariffs, loadTariff, type PricedTariff } from "./loaded-tariffs.ts";

export type TariffCache = ReturnType<typeof createTariffCache>;

/** How long before its effective time a scheduled version is loaded, as a PostgreSQL interval. */
const LOAD_AHEAD = "60 seconds";

/** State of the versions in the database. */
interface VersionsNow {
  readonly inForce: number | null;
  /** The version that takes effect within `LOAD_AHEAD`. */
  readonly upcoming: number | null;
  /** Whether the current version was cancelled. null if it does not exist. */
  readonly calledOff: boolean | null;
}

const SELECT_NOW = `
  select ${VERSION_IN_FORCE} as "inForce",
    (
      select min(version) from tariff_version
      where effective_at > statement_timestamp() and called_off_at is null
        and effective_at <= statement_timestamp() + interval '${LOAD_AHEAD}'
        and ${AFTER_IN_FORCE}
    ) as upcoming,
    (select called_off_at is not null from tariff_version where version = $1) as "calledOff"`;

/**
 * Creates the cache. Versions are immutable, so a loaded version never becomes stale. Each version
 * is loaded once for all concurrent callers.
 */
export function createTariffCache(options: {
  readonly em: EntityManager;
  readonly tasks: TariffTasks;
  readonly log: Pick<Logger, "warn">;
}) {
  const { em, tasks, log } = options;
  const loaded = createLoadedTariffs((version) => loadTariff(em, tasks, version));
  const currentVersion = () => loaded.newest()?.version;
  const lag = createLag();

  async function byVersion(version: number | null): Promise<PricedTariff> {
    if (version === null) throw noTariffError();
    const tariff = await loaded.load(version);
    if (version > (currentVersion() ?? 0)) loaded.setCurrent(tariff);
    return tariff;
  }

  /** Loads a version in the background. After a failure, the next `refresh` retries. */
  async function attempt(version: number, then: (tariff: PricedTariff) => void): Promise<void> {
    try {
      then(await loaded.load(version));
    } catch (error) {
      log.warn({ err: error, version }, LOAD_FAILED);
    }
  }

  /** Makes the version in force current. It is a newer version, or an earlier version if the newest was cancelled. */
  async function follow({ inForce, calledOff }: VersionsNow): Promise<void> {
    const current = currentVersion();
    if (inForce === null || inForce === current || loaded.isLoading(inForce)) return;
    if (current === undefined) loaded.setCurrent(await loaded.load(inForce));
    else if (inForce > current || calledOff === true) {
      void attempt(inForce, (tariff) => {
        // Skipped if a booking has made this version, or a later one, current in the meantime.
        if (currentVersion() === current) loaded.setCurrent(tariff);
      });
    }
  }

  /** Loads the version that takes effect soon. Drops a loaded version that will not take effect any more. */
  function prepare({ upcoming }: VersionsNow): void {
    if (upcoming === null) loaded.keepUpcoming(undefined);
    else if (upcoming !== loaded.upcoming() && !loaded.isLoading(upcoming)) {
      void attempt(upcoming, loaded.keepUpcoming);
    }
  }

  return {
    /**
     * Returns the version that this process uses, at most a second old while the database is reachable.
     *
     * @throws Refusal UNAVAILABLE if no tariff has been published
     */
    current(): PricedTariff {
      const newest = loaded.newest();
      if (newest === undefined) throw noTariffError();
      return newest;
    },
    currentVersion,
    /** Returns for how many seconds `current` has differed from the version in force, as of the last `refresh`. */
    lagSeconds: lag.seconds,
    /**
     * Reads which version is in force, in the caller's transaction, and returns it.
     *
     * @throws Refusal UNAVAILABLE if no tariff has been published
     */
    async inForce(tx: EntityManager): Promise<PricedTariff> {
      const [row] = await runStatement<{ version: number | null }>(tx, SELECT_IN_FORCE, []);
      return byVersion(row!.version);
    },
    /**
     * Returns a version that the caller's transaction has read as in force.
     *
     * @param version null if no tariff has been published
     * @throws Refusal UNAVAILABLE if no tariff has been published
     */
    byVersion,
    /**
     * Starts loading the version in force if it is not `current`. Waits only for the first version,
     * so that loads do not delay changes to keys. Later versions become current once they are loaded.
     * A scheduled version is loaded before it takes effect.
     */
    async refresh(reader: Reader): Promise<void> {
      const { rows } = await reader.query<VersionsNow>(SELECT_NOW, [currentVersion() ?? null]);
      const [now] = rows as [VersionsNow];
      // Must run before `prepare` drops a version that has just taken effect.
      await follow(now);
      prepare(now);
      lag.note(now.inForce !== null && now.inForce !== currentVersion());
    },
  };
}

function noTariffError(): Refusal {
  return unavailable("No tariff has been published yet. An operator must publish one.");
}

/** Measures for how long a condition has been true. */
function createLag() {
  let sinceMs: number | undefined;
  return {
    note(isBehind: boolean): void {
      sinceMs = isBehind ? (sinceMs ?? performance.now()) : undefined;
    },
    seconds: () => (sinceMs === undefined ? 0 : (performance.now() - sinceMs) / 1_000),
  };
}

const SELECT_IN_FORCE = `select ${VERSION_IN_FORCE} as version`;

const LOAD_FAILED = "tariff not loaded; the previous version stays in use";
