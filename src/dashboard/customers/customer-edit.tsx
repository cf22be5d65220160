import { useState } from "preact/hooks";
import type { Customer, CustomerAddress } from "../../../gen/shipments/v1/customer_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { Dialog } from "../ui/dialog.tsx";
import { TextAreaField, TextField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";
import { Form } from "../ui/form.tsx";
import { degreesFrom } from "../ui/format.ts";
import { StaleNote } from "../ui/stale-note.tsx";
import { toast } from "../ui/toast.tsx";

export interface CustomerDialogProps {
  readonly customer: Customer;
  readonly close: () => void;
}

/**
 * Changes a customer from what they were when the dialog opened; when they were changed by others meanwhile, says
 * so and offers to begin anew from what they are.
 */
export function EditCustomerDialog(props: CustomerDialogProps) {
  const { customer } = props;
  const [from, setFrom] = useState(customer);
  return <EditForm key={from.etag} {...props} from={from} restart={() => setFrom(customer)} />;
}

const ENDS = [
  ["default_pickup", "defaultPickup", "Pickup"],
  ["default_dropoff", "defaultDropoff", "Dropoff"],
] as const;

function EditForm(
  props: CustomerDialogProps & { readonly from: Customer; readonly restart: () => void },
) {
  const { customer, from, restart, close } = props;
  const customers = useClient(CustomerService);
  const once = useIdempotencyOptions();
  const edit = useAction(async (form: FormData) => {
    const request = {
      customer: from.id,
      etag: from.etag ?? "",
      name: textOf(form, "name"),
      email: textOf(form, "email"),
      idNumber: textOf(form, "id_number"),
      phone: textOf(form, "phone"),
      notes: textOf(form, "notes"),
      ...addressesOf(form),
    };
    await customers.updateCustomer(request, once);
    toast("The changes are saved.");
    close();
  });
  const isKnown = customer.etag !== from.etag && !edit.isRunning;
  const isStale = isKnown || edit.problem?.reason === "ETAG_STALE";
  return (
    <Dialog title="Edit the customer" close={close}>
      <Form
        name="Edit the customer"
        action={{ ...edit, problem: isStale ? undefined : edit.problem }}
        submit="Save the changes"
        cancel={close}
      >
        {isStale && <StaleNote what="customer" isLoaded={isKnown} restart={restart} />}
        <TextField name="name" label="Name" value={from.name} />
        <TextField name="email" label="Email" type="email" value={from.email} />
        <TextField name="phone" label="Phone" optional value={from.phone} />
        <TextField name="id_number" label="Id number" optional value={from.idNumber} />
        {ENDS.map(([name, property, label]) => (
          <AddressFields key={name} name={name} label={label} at={from[property]} />
        ))}
        <TextAreaField
          name="notes"
          label="Notes"
          optional
          value={from.notes}
          hint="For members of the workspace alone: shipments and webhooks do not show them."
        />
      </Form>
    </Dialog>
  );
}

function AddressFields(props: {
  readonly name: string;
  readonly label: string;
  readonly at: CustomerAddress | undefined;
}) {
  const { name, label, at } = props;
  return (
    <>
      <TextField
        name={`${name}.address`}
        label={`Usual ${label.toLowerCase()}`}
        optional
        value={at?.address}
      />
      <div class="field-row">
        <TextField
          name={`${name}.lat`}
          label={`${label} latitude`}
          optional
          numeric
          value={at?.lat}
        />
        <TextField
          name={`${name}.lng`}
          label={`${label} longitude`}
          optional
          numeric
          value={at?.lng}
        />
      </div>
    </>
  );
}

/** The usual addresses as they were typed; one of which nothing is left is cleared. */
function addressesOf(form: FormData) {
  const typed = ENDS.map(([name, property]) => ({
    name,
    property,
    address: textOf(form, `${name}.address`),
    lat: degreesFrom(textOf(form, `${name}.lat`)),
    lng: degreesFrom(textOf(form, `${name}.lng`)),
  }));
  const isEmpty = ({ address, lat, lng }: (typeof typed)[number]) =>
    address === "" && lat === undefined && lng === undefined;
  return {
    ...Object.fromEntries(
      typed
        .filter((each) => !isEmpty(each))
        .map(({ property, address, lat, lng }) => [property, { address, lat, lng }]),
    ),
    clear: typed.filter(isEmpty).map(({ name }) => name),
  };
}
