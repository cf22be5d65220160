import { useLayoutEffect, useState } from "preact/hooks";
import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { CreateShipmentRequestSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Problem } from "../api/problem.ts";
import { type Query, useDebounced, useRpc } from "../api/use-query.ts";
import { Button } from "../ui/button.tsx";
import { ComboboxField } from "../ui/combobox.tsx";
import { useRestoredRows } from "../ui/form.tsx";
import { optionalTextOf, textOf } from "../ui/form-data.ts";
import { RequestFields } from "../ui/request-fields.tsx";
import "./shipments.css";

/** The customer for a booking: an existing customer, `undefined` until chosen, or a new one. */
export type CustomerChoice =
  | { readonly kind: "existing"; readonly customer: Customer | undefined }
  | { readonly kind: "new"; readonly typed: string };

const NO_CUSTOMER: CustomerChoice = { kind: "existing", customer: undefined };

export function CustomerName({ value }: { readonly value: string }) {
  const customer = BigInt(value);
  return useRpc(CustomerService.method.getCustomer, { customer }).data?.data?.name ?? "…";
}

/** Fields that search customers by name or email during typing, or create a new customer. */
export function CustomerFields(props: {
  readonly choice: CustomerChoice;
  readonly choose: (choice: CustomerChoice) => void;
}) {
  const { choice, choose } = props;
  const isRestored = useRestoredRows(/^customer_name$/) > 0;
  useLayoutEffect(() => {
    if (isRestored) choose({ kind: "new", typed: "" });
  }, []);
  if (choice.kind === "existing") {
    return (
      <ExistingCustomer
        chosen={choice.customer}
        choose={(customer) => choose({ kind: "existing", customer })}
        make={(typed) => choose({ kind: "new", typed })}
      />
    );
  }
  const [name, email] = choice.typed.includes("@") ? ["", choice.typed] : [choice.typed, ""];
  return (
    <>
      <div class="field-row">
        <RequestFields
          of={CreateShipmentRequestSchema}
          fields={{
            customerName: { label: "Name", value: name },
            customerEmail: { label: "Email", value: email },
          }}
        />
      </div>
      <RequestFields of={CreateShipmentRequestSchema} fields={{ customerIdNumber: "ID number" }} />
      <div>
        <Button onClick={() => choose(NO_CUSTOMER)}>Find a customer instead</Button>
      </div>
    </>
  );
}

/**
 * Returns the customer fields of a booking request. They are empty until a customer is chosen,
 * which the service refuses.
 */
export function customerOf(choice: CustomerChoice, form: FormData) {
  if (choice.kind === "new") {
    return {
      customerName: textOf(form, "customer_name"),
      customerEmail: textOf(form, "customer_email"),
      customerIdNumber: optionalTextOf(form, "customer_id_number"),
    };
  }
  if (choice.customer === undefined) return {};
  const { id, name, email } = choice.customer;
  return { customerId: id, customerName: name, customerEmail: email };
}

/** Moves errors about a missing customer to the field that chooses one. */
export function withChoiceOfCustomer(problem: Problem, choice: CustomerChoice): Problem {
  if (choice.kind === "new" || choice.customer !== undefined) return problem;
  const fields = Object.entries(problem.fields);
  const others = fields.filter(([name]) => !/^customer_(name|email|id_number)$/.test(name));
  if (others.length === fields.length) return problem;
  const customer = ["customer_id", ["Choose a customer."]] as const;
  return { ...problem, fields: Object.fromEntries([...others, customer]) };
}

const SHOWN = 8;
/** Maximum length of an email, in characters. */
const MAX_LENGTH = 254;

export function ExistingCustomer(props: {
  /** Name of the request field. Defaults to `customer_id`. */
  readonly name?: string;
  readonly except?: bigint;
  readonly chosen: Customer | undefined;
  readonly choose: (customer: Customer | undefined) => void;
  /** Called to create a customer from the typed text. If omitted, only existing customers can be chosen. */
  readonly make?: (typed: string) => void;
}) {
  const { name = "customer_id", except, chosen, choose, make } = props;
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
  const options = (found.data ?? []).map((customer) => ({
    key: String(customer.id),
    label: customer.name,
    note: customer.email,
    take: () => choose(customer),
  }));
  const typed = text.trim();
  const created =
    make && typed !== "" ? [{ key: "new", label: `New customer “${typed}”`, note: "", take: () => make(typed) }] : [];
  return (
    <ComboboxField
      name={name}
      label="Find customer"
      value={text}
      maxLength={MAX_LENGTH}
      onInput={setText}
      options={[...options, ...created]}
      choose={({ take }) => take()}
      onToggle={() => {}}
      status={found.problem?.message ?? (found.data?.length === 0 ? "No customer matches." : "")}
      hint="Type the start of the first or last name, or the full email."
    />
  );
}

function useCustomers(text: string, except: bigint | undefined): Query<readonly Customer[]> {
  const debounced = useDebounced(text.trim(), 200);
  const filter = debounced.includes("@") ? { email: debounced } : { name: debounced };
  const pageSize = SHOWN + (except === undefined ? 0 : 1);
  const query = useRpc(CustomerService.method.listCustomers, { ...filter, pageSize });
  const found = query.data?.data.filter(({ id }) => id !== except).slice(0, SHOWN);
  return { ...query, data: found };
}
