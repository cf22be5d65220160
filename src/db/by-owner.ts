/**
 * Groups items by owner, such as a workspace. Each statement can then name one workspace, which a distributed
 * database routes to one node. Owners are sorted by id, so that transactions acquire locks in the same order.
 */
export function byOwner<Item>(
  items: readonly Item[],
  ownerOf: (item: Item) => number,
): [owner: number, items: Item[]][] {
  return [...Map.groupBy(items, ownerOf)].toSorted(([a], [b]) => a - b);
}

/**
 * Loads data for the items of each owner, in parallel.
 *
 * @param load returns a result for each item, in order
 * @returns the results in the order of `items`
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
