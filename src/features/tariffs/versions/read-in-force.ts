import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { VERSION_IN_FORCE } from "./version-in-force.ts";

/** The version in force, and the digest of its document. */
export interface InForce {
  readonly version: number;
  readonly digest: string;
}

/** Reads which version is in force now; undefined while there is none. */
export async function readInForce(em: EntityManager): Promise<InForce | undefined> {
  const [row] = await runStatement<InForce>(em, READ, []);
  return row;
}

const READ = `select version, digest from tariff_version where version = ${VERSION_IN_FORCE}`;
