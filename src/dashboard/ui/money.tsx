import { moneyText } from "./format.ts";

/** An amount in major units, in the reader's locale, with its exact value and currency as title. */
export function Money(props: { readonly amount: number; readonly currency: string }) {
  const { amount, currency } = props;
  return (
    <data class="money" value={String(amount)} title={`${amount} ${currency}`}>
      {moneyText(amount, currency)}
    </data>
  );
}
