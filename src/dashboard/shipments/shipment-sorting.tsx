import { changeQuery, usePlace } from "../routes/router.ts";
import { FIRST_PAGE } from "../ui/pager.tsx";

const USUAL = "created_at desc";

/** For any list, then for one queue without other filters. */
const OF_ANY = [
  [USUAL, "Newest first"],
  ["created_at", "Oldest first"],
] as const;
const OF_QUEUE = [
  ["pickup_window", "Earliest pickup first"],
  ["pickup_window desc", "Latest pickup first"],
  ["total desc", "Largest total first"],
  ["total", "Smallest total first"],
] as const;

const ORDER_BY = "order_by";

/** How the list is sorted that the address asks for; undefined for the usual way, and where it cannot be so. */
export function orderOf(query: URLSearchParams, isQueue: boolean): string | undefined {
  const choices = [...OF_ANY, ...(isQueue ? OF_QUEUE : [])];
  const asked = query.get(ORDER_BY);
  return choices.find(([order]) => order === asked && order !== USUAL)?.[0];
}

export function Sorting({ isQueue }: { readonly isQueue: boolean }) {
  const { query } = usePlace();
  const order = orderOf(query, isQueue) ?? USUAL;
  const choose = (chosen: string) =>
    changeQuery({ [ORDER_BY]: chosen === USUAL ? undefined : chosen, ...FIRST_PAGE });
  return (
    <label>
      Sort
      <select onChange={(event) => choose(event.currentTarget.value)}>
        {[...OF_ANY, ...OF_QUEUE].map(([value, label]) => (
          <option
            key={value}
            value={value}
            selected={value === order}
            disabled={!isQueue && OF_QUEUE.some(([it]) => it === value)}
          >
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
