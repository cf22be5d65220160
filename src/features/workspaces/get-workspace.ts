import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  GetWorkspaceResponseSchema,
  type GetWorkspaceResponse,
  type WorkspaceSchema,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import {
  MAX_BATCH_ROUTES,
  MAX_METADATA_KEYS,
  MAX_PAGE_SIZE,
  MAX_REQUEST_BYTES,
} from "../../domain/limits.ts";
import type { Call } from "../../pipeline/call.ts";
import { type BookingDeps, loadBookingBlockers } from "./booking-blockers.ts";
import { PaymentConnection } from "./payment-connection.entity.ts";
import { findLive, Workspace } from "./workspace.entity.ts";

/** What tells of a workspace. */
export interface WorkspaceDeps extends BookingDeps {
  /** Whether the platform has a geocoder. */
  readonly hasGeocoder: boolean;
}

/** Gives the workspace of the caller, with its limits and what blocks its bookings. */
export async function getWorkspace(
  _request: unknown,
  call: Call,
  { em, ...deps }: WorkspaceDeps,
): Promise<GetWorkspaceResponse> {
  const data = await loadWorkspace(em.fork(), call, deps);
  return create(GetWorkspaceResponseSchema, { data });
}

/** The workspace of a call's caller as it sees itself. */
export async function loadWorkspace(
  em: EntityManager,
  { caller: { workspaceId, limits, test } }: Call,
  { hasTariffInForce, hasGeocoder }: Omit<WorkspaceDeps, "em">,
): Promise<MessageInitShape<typeof WorkspaceSchema>> {
  const workspace = await em.findOneOrFail(Workspace, workspaceId);
  const { name, timeZone } = await findLive(em, workspace);
  const connection = await em.findOne(PaymentConnection, { workspace: workspaceId });
  const bookingBlockers = await loadBookingBlockers(em, workspaceId, hasTariffInForce);
  return {
    id: BigInt(workspaceId),
    name,
    paymentProvider: connection?.provider,
    limits: { ...LIMITS, ...limits },
    bookingBlockers,
    test,
    timeZone,
    addressSearch: hasGeocoder,
  };
}

const LIMITS = {
  requestBytes: MAX_REQUEST_BYTES,
  pageSize: MAX_PAGE_SIZE,
  batchRoutes: MAX_BATCH_ROUTES,
  metadataKeys: MAX_METADATA_KEYS,
};
