import { create } from "@bufbuild/protobuf";
import {
  BookingBlocker,
  GetWorkspaceResponseSchema,
  type GetWorkspaceResponse,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import {
  MAX_BATCH_ROUTES,
  MAX_METADATA_KEYS,
  MAX_PAGE_SIZE,
  MAX_REQUEST_BYTES,
} from "../../domain/limits.ts";
import type { Call } from "../../pipeline/call.ts";
import { PaymentConnection } from "./payment-connection.entity.ts";
import { Workspace } from "./workspace.entity.ts";

/** What the call works with. */
interface Deps {
  readonly em: EntityManager;
  /** Whether a tariff is in force now. */
  readonly hasTariffInForce: (em: EntityManager) => Promise<boolean>;
}

/** Gives the workspace of the caller, with its limits and what blocks its bookings. */
export async function getWorkspace(
  _request: unknown,
  { caller: { workspaceId, limits } }: Call,
  { em, hasTariffInForce }: Deps,
): Promise<GetWorkspaceResponse> {
  const reading = em.fork();
  const { id, name } = await reading.findOneOrFail(Workspace, workspaceId);
  const connection = await reading.findOne(PaymentConnection, { workspace: workspaceId });
  const bookingBlockers: BookingBlocker[] = [];
  if (connection === null) bookingBlockers.push(BookingBlocker.PAYMENT_PROVIDER);
  if (!(await hasTariffInForce(reading))) bookingBlockers.push(BookingBlocker.TARIFF);
  return create(GetWorkspaceResponseSchema, {
    data: {
      id: BigInt(id),
      name,
      paymentProvider: connection?.provider,
      limits: { ...LIMITS, ...limits },
      bookingBlockers,
    },
  });
}

const LIMITS = {
  requestBytes: MAX_REQUEST_BYTES,
  pageSize: MAX_PAGE_SIZE,
  batchRoutes: MAX_BATCH_ROUTES,
  metadataKeys: MAX_METADATA_KEYS,
};
