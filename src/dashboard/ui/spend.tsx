import { Fragment } from "preact";
import type { Revenue } from "../../../gen/shipments/v1/report_pb.js";
import { Money } from "./values.tsx";

export function Spend({ revenue, orElse = "—" }: { readonly revenue: readonly Revenue[]; readonly orElse?: string }) {
  return <Amounts of={revenue.map(({ currency, paid }) => [paid, currency])} orElse={orElse} />;
}

export function Awaited({ revenue }: { readonly revenue: readonly Revenue[] }) {
  const awaited = revenue.filter(({ awaitingPayment }) => awaitingPayment > 0);
  if (awaited.length === 0) return null;
  return (
    <>
      <Amounts of={awaited.map(({ currency, awaitingPayment }) => [awaitingPayment, currency])} /> to pay
    </>
  );
}

function Amounts(props: {
  readonly of: readonly (readonly [amount: number, currency: string])[];
  readonly orElse?: string;
}) {
  const spent = props.of.filter(([amount]) => amount > 0);
  if (spent.length === 0) return <>{props.orElse}</>;
  return (
    <>
      {spent.map(([amount, currency], i) => (
        <Fragment key={currency}>
          {i > 0 && ", "}
          <Money amount={amount} currency={currency} />
        </Fragment>
      ))}
    </>
  );
}
