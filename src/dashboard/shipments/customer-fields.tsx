import { useState } from "preact/hooks";
import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { CreateShipmentRequestSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { fieldError } from "../api/problem.ts";
import { type Query, useDebounced, useRpc } from "../api/use-query.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/fields.tsx";
import { optionalTextOf, textOf } from "../ui/form-data.ts";
import { QueryView } from "../ui/query-view.tsx";
import { RequestFields } from "../ui/request-fields.tsx";
import { Segments } from "./route-fields.tsx";
import "./shipments.css";

/** For whom something is booked: somebody new, or a customer; undefined until one is chosen. */
export type CustomerChoice =
  | { readonly kind: "new" }
  | { readonly kind: "existing"; readonly customer: Customer | undefined };

const KINDS = [
  ["new", "New customer"],
  ["existing", "Existing customer"],
] as const;

export function CustomerFields(props: {
  readonly choice: CustomerChoice;
  readonly choose: (choice: CustomerChoice) => void;
}) {
  const { choice, choose } = props;
  return (
    <>
      <Segments
        name="kind"
        legend={<legend class="visually-hidden">For whom</legend>}
        choices={KINDS}
        chosen={choice.kind}
        choose={(kind) => choose(kind === "new" ? { kind } : { kind, customer: undefined })}
      />
      {choice.kind === "new" ? (
        <RequestFields
          of={CreateShipmentRequestSchema}
          fields={{
            customerName: "Name",
            customerEmail: {
              label: "Email",
              hint: "If a customer has this name and email already, the booking is theirs.",
            },
            customerIdNumber: "Id number",
          }}
        />
      ) : (
        <ExistingCustomer
          chosen={choice.customer}
          choose={(customer) => choose({ kind: "existing", customer })}
        />
      )}
    </>
  );
}

/**
 * The customer as a booking names them.
 *
 * @throws ConnectError about `customer_id` when no existing one was chosen
 */
export function customerOf(choice: CustomerChoice, form: FormData) {
  if (choice.kind === "new") {
    return {
      customerName: textOf(form, "customer_name"),
      customerEmail: textOf(form, "customer_email"),
      customerIdNumber: optionalTextOf(form, "customer_id_number"),
    };
  }
  if (choice.customer === undefined) throw fieldError("customer_id", "Choose a customer.");
  const { id, name, email } = choice.customer;
  return { customerId: id, customerName: name, customerEmail: email };
}

const SHOWN = 8;

export function ExistingCustomer(props: {
  /** The name of the request's field; `customer_id` when not given. */
  readonly name?: string;
  readonly except?: bigint;
  readonly chosen: Customer | undefined;
  readonly choose: (customer: Customer | undefined) => void;
}) {
  const { name = "customer_id", except, chosen, choose } = props;
  const [text, setText] = useState("");
  const found = useCustomers(text, except);
  if (chosen !== undefined) {
    return (
      <div class="chosen">
        <p>
          {chosen.name}
          <br />
          <span class="minor">{chosen.email}</span>
        </p>
        <Button onClick={() => choose(undefined)}>Change</Button>
      </div>
    );
  }
  return (
    <>
      <Field
        name={name}
        label="Find a customer"
        hint="By the beginning of the first or last name, or by the whole email."
      >
        {(input) => (
          <input
            {...input}
            type="search"
            autoComplete="off"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            // Enter would book.
            onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
          />
        )}
      </Field>
      <QueryView query={found}>
        {(customers) => (
          <ul class="found" aria-label="Customers found" aria-live="polite">
            {customers.length === 0 && <li class="minor">No customer matches.</li>}
            {customers.map((customer) => (
              <li key={String(customer.id)}>
                <Button quiet onClick={() => choose(customer)}>
                  <span>{customer.name}</span> <span class="minor">{customer.email}</span>
                </Button>
              </li>
            ))}
          </ul>
        )}
      </QueryView>
    </>
  );
}

function useCustomers(text: string, except: bigint | undefined): Query<readonly Customer[]> {
  const sought = useDebounced(text.trim(), 200);
  const filter = sought.includes("@") ? { email: sought } : { name: sought };
  const pageSize = SHOWN + (except === undefined ? 0 : 1);
  const query = useRpc(CustomerService.method.listCustomers, { ...filter, pageSize });
  const found = query.data?.data.filter(({ id }) => id !== except).slice(0, SHOWN);
  return { ...query, data: found };
}
