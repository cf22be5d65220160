import { BookingBlocker } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { settingsHref } from "../routes/paths.ts";

export const BLOCKED: Readonly<Record<BookingBlocker, readonly [what: string, next: string]>> = {
  [BookingBlocker.UNSPECIFIED]: ["Nothing can be booked.", "Ask the operators of the platform."],
  [BookingBlocker.PAYMENT_PROVIDER]: [
    "No payment provider takes payments for this workspace.",
    "Routes can be quoted meanwhile.",
  ],
  [BookingBlocker.TARIFF]: [
    "No tariff is in force.",
    "The operators of the platform publish one. Until then nothing can be quoted or booked.",
  ],
};

/** Reasons that block all bookings, with remedies. Hidden without blockers. */
export function BookingBlockers({ blockers }: { readonly blockers: readonly BookingBlocker[] }) {
  if (blockers.length === 0) return null;
  return (
    <div class="problem attention">
      <p>
        <strong>Nothing can be booked at present.</strong>
      </p>
      <ul>
        {blockers.map((blocker) => {
          const [what, next] = BLOCKED[blocker];
          return (
            <li key={blocker}>
              {what} {next}
              {blocker === BookingBlocker.PAYMENT_PROVIDER && (
                <>
                  {" "}
                  <a href={settingsHref("payments")}>Set up payments</a>
                </>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
