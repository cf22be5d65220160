import {
  PaymentConnectionState,
  type PaymentConnection,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { Badge, type Label } from "../ui/badge.tsx";
import { Id } from "../ui/copy-button.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { Time } from "../ui/values.tsx";
import { missingWords } from "./missing-words.ts";

const { ONBOARDING, READY, RESTRICTED, REVOKED, NONE, UNSPECIFIED } = PaymentConnectionState;

export const CONNECTION_STATES: Readonly<Record<PaymentConnectionState, Label>> = {
  [UNSPECIFIED]: ["Unknown", "neutral"],
  [ONBOARDING]: ["Not finished", "attention"],
  [READY]: ["Connected", "good"],
  [RESTRICTED]: ["Restricted", "bad"],
  [REVOKED]: ["Access ended", "bad"],
  [NONE]: ["Not connected", "bad"],
};

export function ConnectionBadge({ state }: { readonly state: PaymentConnectionState }) {
  const [text, tone] = CONNECTION_STATES[state] ?? CONNECTION_STATES[UNSPECIFIED];
  return <Badge tone={tone}>{text}</Badge>;
}

export function StripeConnection({ connection }: { readonly connection: PaymentConnection }) {
  const { state, account, live, ownKey, missing, connectedAt, checkedAt } = connection;
  return (
    <>
      <p>{meaningOf(connection)}</p>
      {missing.length > 0 && (
        <div>
          <p>
            {state === READY
              ? "Stripe wants to know this soon, or it stops taking payments:"
              : "Stripe still wants to know:"}
          </p>
          <ul class="links">
            {missingWords(missing).map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        </div>
      )}
      <DescriptionList
        items={[
          ["Account", account && <Id id={account} />],
          ["Mode", live === undefined ? undefined : live ? "Live" : "Test: no real money moves"],
          ["Access", ownKey ? "By a key of the workspace’s own" : "Through the platform"],
          ["Connected", <Time at={connectedAt} exact />],
          ["Last checked", checkedAt && <Time at={checkedAt} />],
        ]}
      />
    </>
  );
}

function meaningOf({ state, live, ownKey, missing }: PaymentConnection): string {
  switch (state) {
    case READY:
      if (live === false) {
        return "Shipments are paid at a link, with Stripe’s test cards. What was paid is recorded by itself, and what is cancelled is refunded.";
      }
      return "Customers pay by card at a link. What was paid is recorded by itself, and what is cancelled is refunded.";
    case ONBOARDING:
      return "Stripe does not know enough yet to take payments. Nothing can be booked before that.";
    case REVOKED:
      return ownKey
        ? "Stripe does not accept the key any more. Nothing can be booked before it is replaced."
        : "Whoever owns the account has ended the access to it. Nothing can be booked before it is connected again.";
    default:
      return missing.length > 0
        ? "Stripe takes no payments for the account. Nothing can be booked before it knows what is missing."
        : "Stripe takes no payments for the account, and asks for nothing: it may still be checking what it was told. Nothing can be booked meanwhile.";
  }
}
