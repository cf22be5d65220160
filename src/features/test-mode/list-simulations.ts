import { RunningSimulationSchema } from "../../../gen/shipments/v1/test_service_pb.js";
import { runStatement } from "../../db/statement.ts";
import { isInstant } from "../../domain/instant.ts";
import { isReference } from "../../domain/shipment/shipment-reference.ts";
import { nextStep } from "../../domain/shipment/simulation.ts";
import { compileToMessage } from "../../json/records.ts";
import { endPage, readPage } from "../../pipeline/page.ts";
import type { Simulation } from "../shipments/simulation.entity.ts";
import type { TestModeFunctions } from "./test-clocks.ts";

const LIST = `
  select shipment_reference as shipment, scenario, step_seconds as "stepSeconds", taken as "stepsTaken",
    (extract(epoch from due_at) * 1000)::float8 as "dueAt"
  from simulation
  where workspace_id = $1 and (due_at, shipment_reference) > ($2::timestamptz, $3)
  order by due_at, shipment_reference limit $4`;

interface Row extends Pick<Simulation, "scenario" | "stepSeconds"> {
  readonly shipment: string;
  readonly stepsTaken: number;
  /** Time in milliseconds since the epoch. */
  readonly dueAt: number;
}

const START = ["-infinity", ""] as const;

const toMessage = compileToMessage(RunningSimulationSchema);

export const listSimulations: TestModeFunctions["listSimulations"] = async (
  request,
  { caller: { workspaceId: workspace } },
  { em },
) => {
  const page = readPage(request, { list: "simulations", workspace }, toPosition);
  const values = [workspace, ...(page.after ?? START), page.limit];
  const found = await runStatement<Row>(em, LIST, values);
  const { rows, nextPageToken } = endPage(found, page, (row) => [row.dueAt, row.shipment]);
  const data = rows.map((row) => {
    const { step } = nextStep(row, row.stepsTaken, new Date(0))!;
    return toMessage({ ...row, nextStep: step });
  });
  return { data, nextPageToken };
};

function toPosition([dueAt, shipment]: readonly unknown[]): readonly [string, string] | undefined {
  return isInstant(dueAt) && isReference(shipment) ? [new Date(dueAt).toISOString(), shipment] : undefined;
}
