import type { MessageInitShape } from "@bufbuild/protobuf";
import { BookingBlocker, type WorkspaceSchema } from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { MAX_BATCH_ROUTES, MAX_METADATA_KEYS, MAX_PAGE_SIZE, MAX_REQUEST_BYTES } from "../../domain/limits.ts";
import type { Call } from "../../pipeline/call.ts";
import { PaymentConnection } from "./payment-connection.entity.ts";
import { findLive, Workspace } from "./workspace.entity.ts";

export interface BookingDeps {
  readonly em: EntityManager;
  readonly hasTariffInForce: (em: EntityManager) => Promise<boolean>;
}

export interface WorkspaceDeps extends BookingDeps {
  readonly hasGeocoder: boolean;
}

export async function getWorkspace(_request: unknown, call: Call, { em, ...deps }: WorkspaceDeps) {
  return { data: await loadWorkspace(em.fork(), call, deps) };
}

export async function loadWorkspace(
  em: EntityManager,
  { caller: { workspaceId, limits, test } }: Call,
  { hasTariffInForce, hasGeocoder }: Omit<WorkspaceDeps, "em">,
): Promise<MessageInitShape<typeof WorkspaceSchema>> {
  const workspace = await em.findOneOrFail(Workspace, workspaceId);
  const live = await findLive(em, workspace);
  await em.populate(live, ["trackingLogo"]);
  const connection = await em.findOne(PaymentConnection, { workspace: workspaceId });
  const bookingBlockers = await loadBookingBlockers(em, workspaceId, hasTariffInForce);
  return {
    id: BigInt(workspaceId),
    name: live.name,
    paymentProvider: connection?.provider,
    limits: { ...LIMITS, ...limits },
    bookingBlockers,
    test,
    timeZone: live.timeZone,
    addressSearch: hasGeocoder,
    trackingEnabled: live.trackingEnabled,
    trackingShowsCourier: live.trackingShowsCourier,
    trackingContact: live.trackingContact ?? undefined,
    notifiesRecipients: live.notifiesRecipients,
    trackingLogo: live.trackingLogo ?? undefined,
    lateAfterMinutes: live.lateAfterMinutes,
    couriersReorderStops: live.couriersReorderStops,
    couriersShareLocation: live.couriersShareLocation,
  };
}

/** Returns the problems that currently prevent any booking in a workspace. */
export async function loadBookingBlockers(
  em: EntityManager,
  workspace: number,
  hasTariffInForce: BookingDeps["hasTariffInForce"],
): Promise<BookingBlocker[]> {
  const connection = await em.findOne(PaymentConnection, { workspace });
  const blockers: BookingBlocker[] = [];
  if (connection?.state !== "ready") blockers.push(BookingBlocker.PAYMENT_PROVIDER);
  if (!(await hasTariffInForce(em))) blockers.push(BookingBlocker.TARIFF);
  return blockers;
}

const LIMITS = {
  requestBytes: MAX_REQUEST_BYTES,
  pageSize: MAX_PAGE_SIZE,
  batchRoutes: MAX_BATCH_ROUTES,
  metadataKeys: MAX_METADATA_KEYS,
};
