import { useState } from "preact/hooks";
import {
  type CourierProfile,
  CourierService,
  UpdateCourierRequestSchema,
  CourierEmailStatus,
  type CourierLink,
} from "../../../gen/shipments/v1/courier_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { useRole, useWorkspace } from "../api/session.ts";
import { useQuery, useRepeat, useRpc } from "../api/use-query.ts";
import { type ParametersOf, paths, UNASSIGNED } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { ShipmentList } from "../shipments/shipment-list.tsx";
import { loadRun } from "../shipments/courier-run.ts";
import { Button } from "../ui/button.tsx";
import { Id, Phone, Time } from "../ui/values.tsx";
import { Badge, DescriptionList, Figures } from "../ui/description-list.tsx";
import { Dialog, RpcButton, SecretDialog } from "../ui/dialog.tsx";
import { Edit, EditForm, type EditFormProps } from "../ui/edit-form.tsx";
import { requestOf } from "../ui/form-data.ts";
import { More } from "../ui/menu.tsx";
import { numberText } from "../ui/format.ts";
import { DetailPage, Empty, Section } from "../ui/page.tsx";
import { RequestFields } from "../ui/request-fields.tsx";
import { COURIER_FIELDS, LateCount } from "./courier-fields.tsx";
import { SelectField } from "../ui/fields.tsx";
import { lazily } from "../ui/lazily.tsx";
import { type Column, ListView, rowActions } from "../ui/table.tsx";
import "./couriers.css";

const RUN = { columns: ["stop", "nextStop", "shipment", "state"] } as const;

interface CourierProps {
  readonly courier: CourierProfile;
}

const POLL_MS = 10_000;

export function CourierPage({ courier: id }: ParametersOf<"courier">) {
  const query = useRpc(CourierService.method.getCourier, { courier: id });
  const run = useRun(id);
  useLive(query.reload);
  useLive(run.reload);
  // Locations cause no events, nor do repeated assignments, which change the order of the run.
  useRepeat(query.reload, POLL_MS);
  useRepeat(run.reload, POLL_MS);
  return (
    <DetailPage
      query={query}
      up={{ label: "Couriers", href: paths.couriers() }}
      what="courier"
      title={({ name }) => name}
      fallbackTitle="Courier"
      missing="No courier of this workspace has this ID."
      note={(courier) => <Note courier={courier} />}
      actions={(courier) => courier.archivedAt === undefined && <Actions courier={courier} />}
    >
      {(courier) => (
        <div class="stack">
          <CourierFigures courier={courier} />
          <section class="page-part courier-run list-first" aria-label="Run">
            <h2>Run</h2>
            <ShipmentList
              query={run}
              view={RUN}
              mapOf={id}
              isRun
              courier={courier.figures?.place}
              empty={
                <Empty title="No stops left" link={{ label: "Show unassigned shipments", href: unassignedHref() }}>
                  Select shipments in the list to assign them to a courier.
                </Empty>
              }
            />
          </section>
          {courier.archivedAt === undefined && <CourierLinks courier={courier} />}
          <Details courier={courier} />
        </div>
      )}
    </DetailPage>
  );
}

const unassignedHref = () => paths.shipments({}, { courier: UNASSIGNED });

function useRun(courier: string) {
  const client = useClient(CourierService);
  return useQuery(async (signal) => ({ data: await loadRun(client, courier, signal) }), [client, courier]);
}

function CourierFigures({ courier: { id, figures } }: CourierProps) {
  const { left = 0, late = 0, done = 0 } = figures ?? {};
  return (
    <div class="three-counts">
      <Figures
        items={[
          { term: "Left", value: numberText(left), href: paths.shipments({}, { courier: id }) },
          { term: "Late", value: <LateCount count={late} /> },
          { term: "Done today", value: numberText(done) },
        ]}
      />
    </div>
  );
}

function Note({ courier: { archivedAt, phone, vehicle, figures } }: CourierProps) {
  return (
    <>
      {archivedAt && <Badge>Archived</Badge>}
      <p class="own-line minor contacts">
        <Phone number={phone} />
        {vehicle && <span>{vehicle}</span>}
        <span>
          {figures?.lastSeenAt ? (
            <>
              Seen <Time at={figures.lastSeenAt} />
            </>
          ) : (
            "No recent contact"
          )}
        </span>
      </p>
    </>
  );
}

function Details({ courier }: CourierProps) {
  const { id, email, externalId, locale, note, createdAt, archivedAt } = courier;
  return (
    <Section title="Details">
      <DescriptionList
        items={[
          ["Email", email && <a href={`mailto:${email}`}>{email}</a>],
          ["Language", locale],
          ["External ID", externalId],
          ["Note", note],
          ["Added", <Time at={createdAt} exact />],
          ["Archived", archivedAt && <Time at={archivedAt} exact />],
          ["ID", <Id id={id} />],
        ]}
      />
    </Section>
  );
}

function Actions({ courier }: CourierProps) {
  const { id, name } = courier;
  const { id: workspace } = useWorkspace();
  const [isEdited, setEdited] = useState(false);
  const close = () => setEdited(false);
  const manifest = (
    <a class="button" href={paths.manifest({}, { courier: id })}>
      Today’s manifest
    </a>
  );
  if (!useRole("member")) return manifest;
  return (
    <>
      {manifest}
      <More>
        <Button onClick={() => setEdited(true)}>Edit</Button>
        <RpcButton
          destructive
          button="Archive"
          method={CourierService.method.archiveCourier}
          title={`Archive ${name}`}
          submit="Archive courier"
          tone="danger"
          request={{ courier: id }}
          done="Courier archived."
          then={(_, isShown) => {
            if (isShown) navigate(paths.couriers({ workspace }));
          }}
        >
          <p>
            {name} can no longer be assigned to shipments. Assigned shipments keep the courier.{" "}
            <strong>This cannot be undone.</strong>
          </p>
        </RpcButton>
      </More>
      {isEdited && (
        <Dialog title="Edit courier" close={close}>
          <Edit record={courier} form={CourierForm} close={close} />
        </Dialog>
      )}
    </>
  );
}

function CourierForm(props: EditFormProps<CourierProfile>) {
  const { from } = props;
  const couriers = useClient(CourierService);
  return (
    <EditForm
      {...props}
      what="courier"
      save={(form, options) =>
        couriers.updateCourier(
          { ...requestOf(UpdateCourierRequestSchema, form), courier: from.id, etag: from.etag },
          options,
        )
      }
    >
      <RequestFields of={UpdateCourierRequestSchema} fields={COURIER_FIELDS} values={from} />
    </EditForm>
  );
}

const QrCode = lazily(() => import("../ui/qr-code.tsx"), "QrCode");

const { createCourierLink, listCourierLinks, revokeCourierLink } = CourierService.method;

const EMAIL_STATUSES: Readonly<Partial<Record<CourierEmailStatus, string>>> = {
  [CourierEmailStatus.WAITING]: "Queued",
  [CourierEmailStatus.SENT]: "Sent",
  [CourierEmailStatus.FAILED]: "Failed",
};

const COLUMNS: readonly Column<CourierLink>[] = [
  { header: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    header: "By",
    clips: true,
    spare: true,
    cell: ({ createdBy }) => createdBy.replace(/^person /, "").replace(/^api key/, "API key"),
  },
  { header: "Email", cell: ({ emailStatus }) => emailStatus && EMAIL_STATUSES[emailStatus] },
  { header: "Devices", align: "end", cell: ({ devices }) => numberText(devices) },
  { header: "Last used", align: "end", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  { header: "Expires", align: "end", cell: ({ expiresAt }) => <Time at={expiresAt} /> },
];

const REVOKE = rowActions<CourierLink>(({ id, courier }) => (
  <RpcButton
    button="Revoke"
    label="Revoke link"
    method={revokeCourierLink}
    tone="danger"
    request={{ courier, link: id }}
    done="Link revoked."
  >
    <p>Devices that opened the link are signed out at once.</p>
  </RpcButton>
));

/** The active links to a courier's page, which members can create and revoke. */
function CourierLinks({ courier }: { readonly courier: CourierProfile }) {
  const mayChange = useRole("member");
  const links = useRpc(listCourierLinks, { courier: courier.id });
  return (
    <Section title="Links" actions={mayChange && <LinkButtons courier={courier} />}>
      <ListView
        query={links}
        label="Links"
        isList
        columns={mayChange ? [...COLUMNS, REVOKE] : COLUMNS}
        empty={
          <Empty title="No active links">A link opens the courier’s run on any phone, without an account or app.</Empty>
        }
      />
    </Section>
  );
}

const DAYS = [
  ["1", "1 day"],
  ["7", "7 days"],
  ["14", "14 days"],
  ["30", "30 days"],
] as const;

function LinkButtons({ courier: { id, name, email } }: { readonly courier: CourierProfile }) {
  const expiry = <SelectField name="expires_in_days" label="Expires after" value="14" choices={DAYS} />;
  return (
    <>
      {email !== undefined && (
        <RpcButton
          button="Email link"
          method={createCourierLink}
          title={`Email link to ${email}`}
          submit="Email link"
          request={{ courier: id, sendEmail: true }}
          done="Email queued."
        >
          <p>Anyone with the link can act as the courier.</p>
          {expiry}
        </RpcButton>
      )}
      <RpcButton
        primary
        button="Create link"
        method={createCourierLink}
        title={`Create link for ${name}`}
        submit="Create link"
        request={{ courier: id }}
        then={({ path }) => <LinkDialog url={new URL(path, location.origin).href} />}
      >
        {expiry}
      </RpcButton>
    </>
  );
}

function LinkDialog({ url }: { readonly url: string }) {
  return (
    <SecretDialog title="The courier’s link" what="link" secret={url}>
      <p>Send it to the courier, or let the courier scan it. Anyone with the link can act as the courier.</p>
      <div class="courier-qr">
        <QrCode text={url} label="QR code for the link" />
      </div>
    </SecretDialog>
  );
}
