import { createGroupQueue, type ObserveGroup, type Waiting } from "./group-queue.ts";
import type { EntityManager } from "./orm.ts";
import { createSemaphores, type WorkspaceNode } from "./servers.ts";

const MAX_KEYS = 100;
const MAX_IN_FLIGHT = 6;

/**
 * Combines concurrent reads into shared database round trips. Keys are collected until the end of the tick, and longer
 * while two reads are in flight. On a distributed database each node is read separately, so that the loss of a node
 * affects only its workspaces.
 *
 * @param read returns a result for each key, in order
 * @returns a function that reads one key, and rejects with OverloadedError if the key is not sent within 2 seconds
 */
export function batchReads<Key extends { readonly workspace: number }, Result>(
  em: EntityManager,
  read: (keys: readonly Key[], node: WorkspaceNode) => Promise<readonly Result[]>,
  observe: ObserveGroup,
): (key: Key) => Promise<Result> {
  const add = createGroupQueue<Key, Result>({
    em,
    maxMembers: MAX_KEYS,
    workspaceOf: ({ workspace }) => workspace,
    serializeBy: () => undefined,
    observe,
    semaphoreOf: createSemaphores(MAX_IN_FLIGHT),
    send: readBatch,
  });

  async function readBatch(batch: readonly Waiting<Key, Result>[], node: WorkspaceNode): Promise<void> {
    if (batch.length === 0) return;
    try {
      const results = await read(
        batch.map(({ member }) => member),
        node,
      );
      batch.forEach(({ resolve }, i) => resolve(results[i] as Result));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (key) => add(key, Infinity);
}
