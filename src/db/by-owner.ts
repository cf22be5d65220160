/**
 * The items of each owner, such as a workspace: a statement on a workspace's data names that workspace
 * alone, so that a database that is distributed by workspace sends it to one node. Owners come in the
 * order of their ids, so that transactions that lock do not wait for each other in a circle.
 */
export function byOwner<Item>(
  items: readonly Item[],
  ownerOf: (item: Item) => number,
): [owner: number, items: Item[]][] {
  return [...Map.groupBy(items, ownerOf)].toSorted(([a], [b]) => a - b);
}

/**
 * Loads something for the items of each owner, all at once.
 *
 * @param load gives a result for each item, in their order
 * @returns the results, in the order of all items
 */
export async function loadByOwner<Item, Result>(
  items: readonly Item[],
  ownerOf: (item: Item) => number,
  load: (owner: number, items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const owned = byOwner(items, ownerOf);
  const found = await Promise.all(owned.map(([owner, own]) => load(owner, own)));
  const results = new Map(owned.map(([owner], i) => [owner, found[i]!.values()]));
  return items.map((item) => results.get(ownerOf(item))!.next().value!);
}
