import { ApiKeyScope, type ApiKey } from "../../../gen/shipments/v1/api_key_pb.js";
import { Badge } from "../ui/badge.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";

/** What every table of keys says of their use. */
export const KEY_USE_COLUMNS: readonly Column<Pick<ApiKey, "createdAt" | "lastUsedAt">>[] = [
  { header: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    header: "Last used",
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : "Never"),
  },
];

/** What a table says of the keys of a workspace. */
export const KEY_COLUMNS: readonly Column<ApiKey>[] = [
  {
    header: "Name",
    selfEvident: true,
    cell: ({ name, scope, endsAt }) => (
      <>
        <strong>{name ?? "Unnamed"}</strong>{" "}
        {scope === ApiKeyScope.READ_ONLY && <Badge>Read-only</Badge>}{" "}
        {endsAt && (
          <Badge tone="attention">
            Ends <Time at={endsAt} />
          </Badge>
        )}
      </>
    ),
  },
  { header: "Key", selfEvident: true, cell: ({ last4 }) => <code>shp_…{last4}</code> },
  ...KEY_USE_COLUMNS,
];

/**
 * The column of what can be done with a key: a button for each act.
 *
 * @param labelOf what a button is called for those who do not see its row
 */
export function keyActionsColumn<Key, Act extends string>(
  acts: Readonly<Record<Act, string>>,
  labelOf: (act: string, key: Key) => string,
  ask: (asked: { readonly what: NoInfer<Act>; readonly key: Key }) => void,
): Column<Key> {
  return {
    header: "Actions",
    selfEvident: true,
    align: "end",
    cell: (key) => (
      <span class="row-actions">
        {(Object.keys(acts) as Act[]).map((what) => (
          <button
            key={what}
            type="button"
            class="button"
            aria-label={labelOf(acts[what], key)}
            onClick={() => ask({ what, key })}
          >
            {acts[what]}
          </button>
        ))}
      </span>
    ),
  };
}

/** What a key is called in a sentence. */
export function keyTitle({ name, last4 }: Pick<ApiKey, "name" | "last4">): string {
  return name ?? `…${last4}`;
}
