import { createContext } from "preact";
import type { PlatformAttention } from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import type { Attention } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { clientFor } from "../api/clients.ts";
import { type Query, useFrameQuery } from "../api/use-query.ts";

/** Whose attention is asked for: a workspace by its id, or all of the platform. */
export type AttentionPlace = { readonly workspace: string } | "platform";

export interface AttentionAt {
  readonly place: string;
  readonly ofWorkspace: readonly Attention[];
  readonly ofPlatform: readonly PlatformAttention[];
}

/** Asked for once by the layout, for the navigation and the page that lists it. */
export const AttentionQuery = createContext<Query<AttentionAt | undefined> | undefined>(undefined);

/**
 * What needs attention at a place; nothing without one. The service's description is loaded late: no page waits for
 * a number in the navigation.
 */
export function useAttention(
  place: AttentionPlace | undefined,
  pathname: string,
): Query<AttentionAt | undefined> {
  const name = typeof place === "object" ? place.workspace : place;
  const query = useFrameQuery(
    async (signal) => place && { place: name!, ...EMPTY, ...(await loadAt(place, signal)) },
    [name, pathname],
  );
  // Of the place before, as long as that of this one is not there.
  return query.data?.place === name ? query : { ...query, data: undefined };
}

const EMPTY = { ofWorkspace: [], ofPlatform: [] };

async function loadAt(place: AttentionPlace, signal: AbortSignal): Promise<Partial<AttentionAt>> {
  if (place === "platform") {
    const { PlatformReportService } =
      await import("../../../gen/shipments/admin/v1/platform_report_service_pb.js");
    const client = clientFor(PlatformReportService, undefined);
    return { ofPlatform: (await client.getPlatformAttention({}, { signal })).data };
  }
  const { WorkspaceService } = await import("../../../gen/shipments/v1/workspace_service_pb.js");
  const client = clientFor(WorkspaceService, place.workspace);
  return { ofWorkspace: (await client.getAttention({}, { signal })).data };
}

/** How many things need attention, as the navigation says it: `99+` for more. */
export function countText(attention: AttentionAt | undefined): string | undefined {
  const { ofWorkspace, ofPlatform } = attention ?? EMPTY;
  const counts = [...ofWorkspace, ...ofPlatform].map((item) => item.count);
  const count = counts.reduce((sum, each) => sum + each, 0);
  return count === 0 ? undefined : count > 99 ? "99+" : String(count);
}
