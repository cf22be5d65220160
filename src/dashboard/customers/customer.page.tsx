import { useState } from "preact/hooks";
import { useList } from "../ui/table.tsx";
import type { Customer, CustomerAddress } from "../../../gen/shipments/v1/customer_pb.js";
import {
  CustomerService,
  CustomerAddressChangeSchema,
  UpdateCustomerRequestSchema,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import { PaymentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { fieldError } from "../api/problem.ts";
import { useLive } from "../api/live.ts";
import { useRole } from "../api/session.ts";
import { type ParametersOf, paths } from "../routes/paths.ts";
import { Button } from "../ui/button.tsx";
import { DescriptionList, Figures } from "../ui/description-list.tsx";
import { DetailPage, Empty, Section } from "../ui/page.tsx";
import { ExistingCustomer } from "../shipments/customer-fields.tsx";
import { Dialog, DialogButton, RpcDialog } from "../ui/dialog.tsx";
import { Edit, EditForm, type EditFormProps } from "../ui/edit-form.tsx";
import { requestOf } from "../ui/form-data.ts";
import { RequestFields } from "../ui/request-fields.tsx";
import { lazily } from "../ui/lazily.tsx";
import { More } from "../ui/menu.tsx";
import { numberText, recordIdOf } from "../ui/format.ts";
import { Time } from "../ui/values.tsx";
import { Awaited, Spend } from "../ui/spend.tsx";
import { useRpc } from "../api/use-query.ts";
import "./customers.css";

const OF_CUSTOMER = {
  label: "Customer",
  columns: ["shipment", "state", "route", "bookedTotal"],
} as const;

interface CustomerProps {
  readonly customer: Customer;
}

export function CustomerPage({ customer: number }: ParametersOf<"customer">) {
  // No customer has the ID 0, so an invalid URL is treated like an unknown customer.
  const id = recordIdOf(number) ?? 0n;
  const query = useRpc(CustomerService.method.getCustomer, { customer: id });
  const list = useList(ShipmentService.method.listShipments, { customerId: id }, 25);
  const reload = () => {
    query.reload();
    list.reload();
  };
  const shownId = query.data?.data?.id ?? id;
  useLive(reload, ({ data }) => data?.customer?.id === shownId);
  return (
    <DetailPage
      query={query}
      up={{ label: "Customers", href: paths.customers() }}
      what="customer"
      title={({ name }) => name}
      fallbackTitle={`Customer ${number}`}
      missing={`No customer of this workspace has the number ${number}.`}
      note={({ email, phone }) => (
        <p class="own-line minor contacts">
          <a href={`mailto:${email}`}>{email}</a>
          {phone && <PhoneLink phone={phone} />}
        </p>
      )}
      actions={(customer) => <Actions customer={customer} />}
    >
      {(customer) => (
        <div class="stack">
          {customer.id !== id && <p class="filter-note">Customer {number} was merged into this one.</p>}
          <CustomerFigures customer={customer} />
          <Details customer={customer} />
          <section class="page-part" aria-label="Shipments">
            <h2>Shipments</h2>
            <ShipmentList
              query={list}
              view={OF_CUSTOMER}
              empty={<Empty title="No shipments">This customer has no shipments.</Empty>}
            />
          </section>
        </div>
      )}
    </DetailPage>
  );
}

const ShipmentList = lazily(() => import("../shipments/shipment-list.tsx"), "ShipmentList");
function Actions({ customer }: CustomerProps) {
  const [isEdited, setEdited] = useState(false);
  const close = () => setEdited(false);
  if (!useRole("member")) return null;
  return (
    <>
      <a class="button primary" href={paths.book({}, { customer: String(customer.id) })}>
        Book for this customer
      </a>
      <More>
        <Button onClick={() => setEdited(true)}>Edit</Button>
        <DialogButton destructive dialog={<MergeCustomersDialog customer={customer} />}>
          Merge another customer
        </DialogButton>
      </More>
      {isEdited && (
        <Dialog title="Edit customer" close={close}>
          <Edit record={customer} form={CustomerForm} close={close} />
        </Dialog>
      )}
    </>
  );
}

function CustomerFigures({ customer: { id, figures } }: CustomerProps) {
  const { shipments = 0n, lastBookedAt, revenue = [] } = figures ?? {};
  return (
    <Figures
      items={[
        { term: "Shipments", value: numberText(Number(shipments)) },
        { term: "Last booking", value: <Time at={lastBookedAt} /> },
        {
          term: "Spend",
          value: <Spend revenue={revenue} />,
          href: paths.shipments({}, { customer: String(id), payment_status: String(PaymentStatus.PAID) }),
          note: <Awaited revenue={revenue} />,
        },
      ]}
    />
  );
}

/** Shows the known details that are not in the header. Empty if there are none. */
function Details({ customer: { idNumber, notes, defaultPickup, defaultDropoff } }: CustomerProps) {
  if (!(idNumber || notes || defaultPickup || defaultDropoff)) return undefined;
  return (
    <Section title="Details">
      <DescriptionList
        items={[
          ["ID number", idNumber],
          ["Usual pickup", defaultPickup && <AddressText at={defaultPickup} />],
          ["Usual dropoff", defaultDropoff && <AddressText at={defaultDropoff} />],
          ["Notes", notes && <p class="customer-notes">{notes}</p>],
        ]}
      />
    </Section>
  );
}

/** Shows a phone number. It is a link only without additional digits, because phones would dial them. */
function PhoneLink({ phone }: { readonly phone: string }) {
  const digits = phone.replaceAll(/[\s().-]/g, "");
  if (!/^\+?\d{3,15}$/.test(digits)) return <>{phone}</>;
  return <a href={`tel:${digits}`}>{phone}</a>;
}

function AddressText({ at: { address, lat, lng } }: { readonly at: CustomerAddress }) {
  return (
    <>
      {address}
      {lat !== undefined && lng !== undefined && (
        <span class="minor">
          {" "}
          ({lat}, {lng})
        </span>
      )}
    </>
  );
}

function MergeCustomersDialog({ customer }: CustomerProps) {
  const [chosen, setChosen] = useState<Customer>();
  return (
    <RpcDialog
      method={CustomerService.method.mergeCustomers}
      title={`Merge another customer into ${customer.name}`}
      submit={chosen === undefined ? "Merge" : `Merge ${chosen.name} into ${customer.name}`}
      tone="danger"
      request={() => {
        if (chosen === undefined) throw fieldError("from", "Choose a customer.");
        return { customer: customer.id, from: chosen.id };
      }}
      done={() => `${chosen!.name} was merged into ${customer.name}.`}
    >
      <p>
        The other customer’s shipments become those of {customer.name}, and bookings for the other customer’s name and
        email are booked for {customer.name} from then on. A phone, id number or usual address that {customer.name}{" "}
        lacks is copied, and notes are combined. <strong>This cannot be undone.</strong>
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

function Side(props: CustomerProps & { readonly title: string; readonly goes?: boolean }) {
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
        Number {String(customer.id)} · {numberText(shipments)} {shipments === 1 ? "shipment" : "shipments"}
      </p>
      {figures !== undefined && figures.revenue.some(({ paid }) => paid > 0) && (
        <p class="minor">
          Spend <Spend revenue={figures.revenue} />
        </p>
      )}
    </div>
  );
}

const ADDRESSES = [
  ["default_pickup", "defaultPickup", "Pickup"],
  ["default_dropoff", "defaultDropoff", "Dropoff"],
] as const;

function CustomerForm(props: EditFormProps<Customer>) {
  const { from } = props;
  const customers = useClient(CustomerService);
  return (
    <EditForm
      {...props}
      what="customer"
      save={(form, options) =>
        customers.updateCustomer({ ...changesOf(form), customer: from.id, etag: from.etag ?? "" }, options)
      }
    >
      <RequestFields
        of={UpdateCustomerRequestSchema}
        fields={{ name: "Name", email: "Email", phone: "Phone", idNumber: "ID number" }}
        values={from}
      />
      {ADDRESSES.map(([name, property, label]) => (
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
            hint: "Visible only to workspace members, not in shipments or webhooks.",
          },
        }}
        values={from}
      />
    </EditForm>
  );
}

/** Returns the edited fields. An empty default address is removed. */
function changesOf(form: FormData) {
  const changes = requestOf(UpdateCustomerRequestSchema, form);
  const cleared = ADDRESSES.filter(([, property]) => {
    const { address, lat, lng } = changes[property]!;
    return address === "" && lat === undefined && lng === undefined;
  });
  return {
    ...changes,
    ...Object.fromEntries(cleared.map(([, property]) => [property, undefined])),
    clear: cleared.map(([name]) => name),
  };
}
