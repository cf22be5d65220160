import { useCall } from "../api/clients.ts";
import { useQuery } from "../api/use-query.ts";

/**
 * Whether the workspace has couriers. True until it is known. Loads nothing, not even the service's definitions, unless
 * `isWanted`.
 */
export function useHasCouriers(isWanted: boolean): boolean {
  const call = useCall();
  const { data: couriers } = useQuery(
    async (signal) => {
      if (!isWanted) return undefined;
      const { CourierService } = await import("../../../gen/shipments/v1/courier_service_pb.js");
      return (await call(CourierService.method.listCouriers, { pageSize: 1 }, { signal })).data;
    },
    [call, isWanted],
  );
  return couriers?.length !== 0;
}
