import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import {
  CustomerAddressChangeSchema,
  CustomerService,
  UpdateCustomerRequestSchema,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import { useClient } from "../api/clients.ts";
import { EditForm, type EditFormProps } from "../ui/edit-dialog.tsx";
import { requestOf } from "../ui/form-data.ts";
import { RequestFields } from "../ui/request-fields.tsx";

const ENDS = [
  ["default_pickup", "defaultPickup", "Pickup"],
  ["default_dropoff", "defaultDropoff", "Dropoff"],
] as const;

export function CustomerForm(props: EditFormProps<Customer>) {
  const { from } = props;
  const customers = useClient(CustomerService);
  return (
    <EditForm
      {...props}
      what="customer"
      save={(form, options) =>
        customers.updateCustomer(
          { ...changesOf(form), customer: from.id, etag: from.etag ?? "" },
          options,
        )
      }
    >
      <RequestFields
        of={UpdateCustomerRequestSchema}
        fields={{ name: "Name", email: "Email", phone: "Phone", idNumber: "Id number" }}
        values={from}
      />
      {ENDS.map(([name, property, label]) => (
        <div class="form" key={name}>
          <RequestFields
            of={CustomerAddressChangeSchema}
            path={name}
            fields={{ address: { label: `Usual ${label.toLowerCase()}`, optional: true } }}
            values={from[property]}
          />
          <div class="field-row">
            <RequestFields
              of={CustomerAddressChangeSchema}
              path={name}
              fields={{ lat: `${label} latitude`, lng: `${label} longitude` }}
              values={from[property]}
            />
          </div>
        </div>
      ))}
      <RequestFields
        of={UpdateCustomerRequestSchema}
        fields={{
          notes: {
            label: "Notes",
            isLong: true,
            hint: "For members of the workspace alone: shipments and webhooks do not show them.",
          },
        }}
        values={from}
      />
    </EditForm>
  );
}

/** What was typed; a usual address of which nothing is left is cleared. */
function changesOf(form: FormData) {
  const changes = requestOf(UpdateCustomerRequestSchema, form);
  const cleared = ENDS.filter(([, property]) => {
    const { address, lat, lng } = changes[property]!;
    return address === "" && lat === undefined && lng === undefined;
  });
  return {
    ...changes,
    ...Object.fromEntries(cleared.map(([, property]) => [property, undefined])),
    clear: cleared.map(([name]) => name),
  };
}
