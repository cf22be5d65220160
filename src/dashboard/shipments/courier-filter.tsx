import { CourierService } from "../../../gen/shipments/v1/courier_service_pb.js";
import { useRpc } from "../api/use-query.ts";
import { UNASSIGNED } from "../routes/paths.ts";
import { SelectField } from "../ui/fields.tsx";
import { QueryView } from "../ui/page.tsx";
import { useCouriers } from "./courier-run.ts";

/** Shows the name of the courier that the list filters by. */
export function CourierName({ value }: { readonly value: string }) {
  const request = value === UNASSIGNED ? undefined : { courier: value };
  const { data, problem } = useRpc(CourierService.method.getCourier, request);
  if (request === undefined) return <>Unassigned</>;
  return <>{data?.data?.name ?? (problem ? "Unknown" : "…")}</>;
}

/** Selects a courier, or shipments without one, for the list. */
export function CourierFinder({ choose }: { readonly choose: (value: string) => void }) {
  return (
    <QueryView query={useCouriers()}>
      {(couriers) => (
        <SelectField
          name="courier"
          label="Courier"
          value=""
          onInput={choose}
          choices={[
            ["", "Choose a courier"],
            [UNASSIGNED, "Unassigned"],
            ...couriers.map(({ id, name }) => [id, name] as const),
          ]}
        />
      )}
    </QueryView>
  );
}
