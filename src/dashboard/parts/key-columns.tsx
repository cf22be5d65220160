import { ApiKeyScope, type ApiKey } from "../../../gen/shipments/v1/api_key_pb.js";
import { Badge } from "./badge.tsx";
import type { Column } from "./table.tsx";
import { Time } from "./time.tsx";

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
  { header: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    header: "Last used",
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : "Never"),
  },
];

/** What a key is called in a sentence. */
export function keyTitle({ name, last4 }: ApiKey): string {
  return name ?? `…${last4}`;
}
