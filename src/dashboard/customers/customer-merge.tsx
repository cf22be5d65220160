import { useState } from "preact/hooks";
import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { fieldError } from "../api/problem.ts";
import { ExistingCustomer } from "../shipments/customer-fields.tsx";
import { numberText } from "../ui/format.ts";
import type { CustomerDialogProps } from "./customer-edit.tsx";
import { Spend } from "./spend.tsx";
import { useRpc } from "../api/use-query.ts";
import { RpcDialog } from "../ui/dialog.tsx";

export function MergeCustomersDialog({ customer, close }: CustomerDialogProps) {
  const [chosen, setChosen] = useState<Customer>();
  return (
    <RpcDialog
      method={CustomerService.method.mergeCustomers}
      title={`Merge another customer into ${customer.name}`}
      submit={chosen === undefined ? "Merge" : `Merge ${chosen.name} into ${customer.name}`}
      tone="danger"
      close={close}
      request={() => {
        if (chosen === undefined) throw fieldError("from", "Choose a customer.");
        return { customer: customer.id, from: chosen.id };
      }}
      done={() => `${chosen!.name} was merged into ${customer.name}.`}
    >
      <p>
        The other customer’s shipments become those of {customer.name}, and bookings for the other
        customer’s name and email are booked for {customer.name} from then on. A phone, id number or
        usual address that {customer.name} lacks is taken over; notes are joined.{" "}
        <strong>This cannot be undone.</strong>
      </p>
      <ExistingCustomer name="from" except={customer.id} chosen={chosen} choose={setChosen} />
      {chosen !== undefined && (
        <div class="merged">
          <Side title="Goes" customer={chosen} goes />
          <Side title="Stays" customer={customer} />
        </div>
      )}
    </RpcDialog>
  );
}

function Side(props: {
  readonly title: string;
  readonly customer: Customer;
  readonly goes?: boolean;
}) {
  const { title, customer, goes } = props;
  const { data } = useRpc(CustomerService.method.getCustomer, { customer: customer.id });
  const { figures, phone } = data?.data ?? customer;
  const shipments = Number(figures?.shipments ?? 0);
  return (
    <div class={goes ? "goes" : undefined}>
      <p class="minor">{title}</p>
      <p>
        <strong>{customer.name}</strong>
      </p>
      <p>{customer.email}</p>
      {phone && <p>{phone}</p>}
      <p class="minor">
        Number {String(customer.id)} · {numberText(shipments)}{" "}
        {shipments === 1 ? "shipment" : "shipments"}
      </p>
      {figures !== undefined && figures.revenue.some(({ paid }) => paid > 0) && (
        <p class="minor">
          Spend <Spend revenue={figures.revenue} />
        </p>
      )}
    </div>
  );
}
