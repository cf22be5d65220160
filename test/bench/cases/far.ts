import { measureRound, startSide, type Bench, type Contestant } from "../contest.ts";
import { restore } from "../database.ts";
import { ratios, spread, table } from "../figures.ts";
import * as operation from "../operations.ts";
import { proveSameWork } from "../same-work.ts";
import { SETTINGS } from "../settings.ts";
import { atDistance, chooseSides, FASTIFY, OURS } from "../sides.ts";

/** How long the way to the database and back takes. */
const ROUND_TRIP_MS = 10;
/** Calls take so long that these are as many as are needed. */
const ONE_BY_ONE = { clients: 1, seconds: SETTINGS.seconds / 2 };
const { get, create, pay } = operation;
/** The first asks the database once. */
const OPERATIONS = [
  get,
  operation.quoteJson,
  operation.list,
  operation.events,
  create,
  operation.withKey(create),
  operation.update,
  operation.advance,
  operation.cancel,
  pay,
  operation.withKey(pay),
];

/** What calls cost whose database is far away, one at a time, in round trips to it. */
export async function far(bench: Bench): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const contestants: Contestant[] = [];
  for (const side of chooseSides([OURS, FASTIFY])) {
    contestants.push(await startSide(owned, bench, atDistance(side, ROUND_TRIP_MS)));
  }
  await proveSameWork(contestants, OPERATIONS);
  const medians = contestants.map(() => OPERATIONS.map((): number[] => []));
  for (let round = -1; round < SETTINGS.rounds; round++) {
    for (const [i, call] of OPERATIONS.entries()) {
      for (const [side, contestant] of contestants.entries()) {
        if (call.isOurs === true && contestant.isPeer) continue;
        if (call.from !== undefined) await restore(contestant.database, call.from);
        const { medianMs } = await measureRound(bench, contestant, call, ONE_BY_ONE);
        // The first round is to warm up.
        if (round >= 0) medians[side]![i]!.push(medianMs);
      }
    }
  }
  const rows = OPERATIONS.map(({ name }, i) => [
    name,
    ...medians.flatMap((of) => [spread(ratios(of[i]!, of[0]!), 1), spread(of[i]!, 1)]),
  ]);
  const columns = contestants.flatMap(({ name }) => [`${name}: round trips`, "median, ms"]);
  return `The database is ${ROUND_TRIP_MS} ms away; a get asks it once, and is the unit of round trips.

${table(["one at a time", ...columns], rows)}`;
}
