import type { EntityManager } from "../db/orm.ts";
import { runStatement } from "../db/statement.ts";

/** A shipment's name as its workspace gave it; undefined when it gave none. */
export interface NamedShipment {
  readonly workspace: number;
  readonly externalReference: string | undefined;
}

/**
 * The references of the shipments that have these external references already, where there are such
 * shipments, in the order of what was asked.
 */
export async function findTakenReferences(
  em: EntityManager,
  named: readonly NamedShipment[],
): Promise<(string | undefined)[]> {
  const taken: (string | undefined)[] = named.map(() => undefined);
  if (named.every(({ externalReference }) => externalReference === undefined)) return taken;
  const rows = await runStatement<{ place: number; reference: string }>(
    em,
    `select place::int, reference
     from unnest($1::bigint[], $2::text[]) with ordinality as wanted (workspace, external, place)
     join shipment on workspace_id = workspace and external_reference = external`,
    [
      named.map(({ workspace }) => workspace),
      named.map(({ externalReference }) => externalReference ?? null),
    ],
  );
  for (const { place, reference } of rows) taken[place - 1] = reference;
  return taken;
}
