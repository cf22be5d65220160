import type { DescService } from "@bufbuild/protobuf";
import { PlatformReportService } from "../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { getHealth, type HealthDeps } from "../features/reports/get-health.ts";
import {
  getPlatformOverview,
  type PlatformOverviewDeps,
} from "../features/reports/get-platform-overview.ts";
import type { EntityManager } from "../db/orm.ts";
import type { OperatorCall } from "../pipeline/call.ts";
import { listRpcs, type Rpc } from "../pipeline/rpc.ts";

/** The services that callers with an operator's key can call. */
export const ADMIN_SERVICES: readonly DescService[] = [PlatformReportService];

/** What the RPCs of operators work with. */
export interface AdminDeps extends PlatformOverviewDeps, HealthDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
}

/** Pairs every RPC of `ADMIN_SERVICES` with the function that performs it. */
export function implementAdminServices(deps: AdminDeps): readonly Rpc[] {
  return listRpcs<typeof PlatformReportService, OperatorCall>(PlatformReportService, {
    getPlatformOverview: (request) => getPlatformOverview(request, deps),
    getHealth: () => getHealth(deps),
  });
}
