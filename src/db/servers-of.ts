import { openCluster } from "./citus/cluster.ts";
import { onBehalfOfAll } from "./connection-shares.ts";
import type { EntityManager } from "./orm.ts";
import { createSingleServer, type Servers } from "./servers.ts";

/** Servers by ORM configuration, which an ORM and its forks share. */
const known = new WeakMap<EntityManager["config"], Promise<Servers>>();

/** Returns the servers of a database. Finds out on first use whether it is distributed. */
export function serversOf(em: EntityManager): Promise<Servers> {
  return known.getOrInsertComputed(em.config, () => {
    const own = em.fork();
    const servers = onBehalfOfAll(async () => (await openCluster(own)) ?? createSingleServer(own));
    servers.catch(() => known.delete(em.config));
    return servers;
  });
}
