import { createContext } from "preact";
import type { PlatformAttention } from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import type { Attention } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { clientFor } from "../api/clients.ts";
import { paths } from "../routes/paths.ts";
import { type Query, useFrameQuery } from "../api/use-query.ts";
import { numberText } from "../ui/format.ts";

/** Scope of the request: a workspace, by ID, or the platform. */
export type AttentionScope = { readonly workspace: string } | "platform";

export interface AttentionAt {
  readonly scope: string;
  /** Whether the details of the attention page are included, besides the counts. */
  readonly isWhole: boolean;
  readonly ofWorkspace: readonly Attention[];
  readonly ofPlatform: readonly PlatformAttention[];
}

/** Query that the layout loads once for the navigation and the attention page. */
export const AttentionQuery = createContext<Query<AttentionAt | undefined> | undefined>(undefined);

/**
 * Loads the items that need attention in a scope. The service's descriptor is loaded lazily, so
 * that no page waits for the number in the navigation.
 */
export function useAttention(scope: AttentionScope | undefined, pathname: string): Query<AttentionAt | undefined> {
  const name = typeof scope === "object" ? scope.workspace : scope;
  const isWhole = scope === "platform" || pathname === paths.attention({ workspace: name ?? "" });
  const query = useFrameQuery(
    async (signal) => scope && { scope: name!, isWhole, ...EMPTY, ...(await loadAt(scope, isWhole, signal)) },
    [name, pathname],
  );
  // Hide the previous scope's data until the new scope has loaded.
  return query.data?.scope === name ? query : { ...query, data: undefined };
}

const EMPTY = { ofWorkspace: [], ofPlatform: [] };

async function loadAt(scope: AttentionScope, shipments: boolean, signal: AbortSignal): Promise<Partial<AttentionAt>> {
  if (scope === "platform") {
    const { PlatformReportService } = await import("../../../gen/shipments/admin/v1/platform_report_service_pb.js");
    const client = clientFor(PlatformReportService, undefined);
    return { ofPlatform: (await client.getPlatformAttention({}, { signal })).data };
  }
  const { WorkspaceService } = await import("../../../gen/shipments/v1/workspace_service_pb.js");
  const client = clientFor(WorkspaceService, scope.workspace);
  return { ofWorkspace: (await client.getAttention({ shipments }, { signal })).data };
}

/** Maximum count of a kind in responses, which means that many or more. */
const MAX_COUNTED = 100;

/** Formats the total of counts of kinds, as `100+` if one of them is capped. */
export function cappedText(...counts: readonly number[]): string {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return numberText(total) + (counts.includes(MAX_COUNTED) ? "+" : "");
}

/** Formats the number of items for the navigation, as `99+` above 99. */
export function countText(attention: AttentionAt | undefined): string | undefined {
  const { ofWorkspace, ofPlatform } = attention ?? EMPTY;
  const counts = [...ofWorkspace, ...ofPlatform].map((item) => item.count);
  const count = counts.reduce((sum, each) => sum + each, 0);
  return count === 0 ? undefined : count > 99 ? "99+" : String(count);
}
