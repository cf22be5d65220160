import { Code, ConnectError } from "@connectrpc/connect";
import type { TariffVersion } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useClient } from "../api/clients.ts";
import { type Query, useQuery } from "../api/use-query.ts";

/** The tariff in force; null while there is none. */
export function useTariffInForce(): Query<TariffVersion | null> {
  const tariffs = useClient(TariffService);
  return useQuery(
    async (signal) => {
      try {
        return (await tariffs.getTariffInForce({}, { signal })).data ?? null;
      } catch (error) {
        if (ConnectError.from(error).code === Code.NotFound) return null;
        throw error;
      }
    },
    [tariffs],
  );
}
