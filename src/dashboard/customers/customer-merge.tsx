import { useState } from "preact/hooks";
import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { useClient } from "../api/clients.ts";
import { fieldError } from "../api/problem.ts";
import { useQuery } from "../api/use-query.ts";
import { ExistingCustomer } from "../shipments/customer-fields.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { numberText } from "../ui/format.ts";
import { toast } from "../ui/toast.tsx";
import type { CustomerDialogProps } from "./customer-edit.tsx";
import { Spend } from "./spend.tsx";

/** Merges another customer, who is looked for, into this one. */
export function MergeCustomersDialog({ customer, close, changed }: CustomerDialogProps) {
  const customers = useClient(CustomerService);
  const [chosen, setChosen] = useState<Customer>();
  return (
    <Dialog
      title={`Merge another customer into ${customer.name}`}
      submit={chosen === undefined ? "Merge" : `Merge ${chosen.name} into ${customer.name}`}
      tone="danger"
      close={close}
      run={async (_, idempotencyOptions) => {
        if (chosen === undefined) throw fieldError("from", "Choose a customer.");
        const request = { customer: customer.id, from: chosen.id };
        await customers.mergeCustomers(request, idempotencyOptions);
        toast(`${chosen.name} was merged into ${customer.name}.`);
        changed();
      }}
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
    </Dialog>
  );
}

/** One of the two, with what was booked. */
function Side(props: {
  readonly title: string;
  readonly customer: Customer;
  readonly goes?: boolean;
}) {
  const { title, customer, goes } = props;
  const customers = useClient(CustomerService);
  const { data } = useQuery(
    async (signal) => (await customers.getCustomer({ customer: customer.id }, { signal })).data,
    [customers, customer.id],
  );
  const { figures, phone } = data ?? customer;
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
