import { BookingBlocker } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { settingsHref } from "../routes/paths.ts";

export const BLOCKED: Readonly<Record<BookingBlocker, readonly [what: string, next: string]>> = {
  [BookingBlocker.UNSPECIFIED]: ["Bookings are blocked.", "Ask the operators of the platform."],
  [BookingBlocker.PAYMENT_PROVIDER]: [
    "No payment provider accepts payments for this workspace.",
    "Routes can still be quoted.",
  ],
  [BookingBlocker.TARIFF]: [
    "No tariff is in force.",
    "Quotes and bookings are blocked until the operators of the platform publish one.",
  ],
};

/** Lists the reasons that block all bookings, with remedies. Hidden if there are none. */
export function BookingBlockers({ blockers }: { readonly blockers: readonly BookingBlocker[] }) {
  if (blockers.length === 0) return null;
  return (
    <div class="problem attention">
      <p>
        <strong>Bookings are currently blocked.</strong>
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
