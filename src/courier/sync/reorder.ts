import { isOpen } from "../run/shipment.ts";
import { call } from "./call.ts";
import { transact } from "./database.ts";

/** Maximum number of shipments in a call. */
const MAX_SHIPMENTS = 100;

/** Moves shipments to the start of the run. Returns whether the service has done so. */
export async function moveFirst(shipments: readonly string[]): Promise<boolean> {
  const [session, run] = await transact("readonly", (tx) => Promise.all([tx.get("session"), tx.get("run")]));
  const others = (run?.data.shipments ?? [])
    .filter((it) => isOpen(it) && !shipments.includes(it.reference))
    .map((it) => it.reference);
  const ordered = [...shipments, ...others].map((shipment, index) => ({ shipment, sequence: index + 1 }));
  for (let first = 0; first < ordered.length; first += MAX_SHIPMENTS) {
    const answer = await call("/v1/shipments/courier/batch", {
      courier: session?.courier.id,
      shipments: ordered.slice(first, first + MAX_SHIPMENTS),
    });
    if (answer?.status !== 200 || answer.body === undefined) return false;
  }
  return true;
}
