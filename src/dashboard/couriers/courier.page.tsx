import { useState } from "preact/hooks";
import {
  type CourierProfile,
  CourierService,
  UpdateCourierRequestSchema,
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
import { Id, Time } from "../ui/values.tsx";
import { Badge, DescriptionList, Figures } from "../ui/description-list.tsx";
import { Dialog, RpcButton } from "../ui/dialog.tsx";
import { Edit, EditForm, type EditFormProps } from "../ui/edit-form.tsx";
import { requestOf } from "../ui/form-data.ts";
import { More } from "../ui/menu.tsx";
import { numberText } from "../ui/format.ts";
import { DetailPage, Empty, Section } from "../ui/page.tsx";
import { RequestFields } from "../ui/request-fields.tsx";
import { COURIER_FIELDS, LateCount } from "./courier-fields.tsx";
import { CourierLinks } from "./courier-links.tsx";
import "./couriers.css";

const RUN = { columns: ["shipment", "stop", "state", "pickup", "dropoff", "route"] } as const;

interface CourierProps {
  readonly courier: CourierProfile;
}

const POLL_MS = 10_000;

export function CourierPage({ courier: id }: ParametersOf<"courier">) {
  const query = useRpc(CourierService.method.getCourier, { courier: id });
  const run = useRun(id);
  useLive(query.reload);
  useLive(run.reload);
  // Locations cause no events.
  useRepeat(query.reload, POLL_MS);
  return (
    <DetailPage
      query={query}
      up={{ label: "Couriers", href: paths.couriers() }}
      what="courier"
      title={({ name }) => name}
      fallbackTitle="Courier"
      missing="No courier of this workspace has this ID."
      note={({ archivedAt }) => archivedAt && <Badge>Archived</Badge>}
      actions={(courier) => courier.archivedAt === undefined && <Actions courier={courier} />}
      quiet
    >
      {(courier) => (
        <div class="stack">
          <CourierFigures courier={courier} />
          <section class="page-part courier-run" aria-label="Run">
            <header class="list-bar">
              <h2>Run</h2>
              <a class="button quiet" href={paths.manifest({}, { courier: id })}>
                Today’s manifest
              </a>
            </header>
            <ShipmentList
              query={run}
              view={RUN}
              mapOf={id}
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
  const { left = 0, late = 0, done = 0, lastSeenAt } = figures ?? {};
  return (
    <Figures
      items={[
        { term: "Left", value: numberText(left), href: paths.shipments({}, { courier: id }) },
        { term: "Late", value: <LateCount count={late} /> },
        { term: "Done today", value: numberText(done) },
        { term: "Last seen", value: <Time at={lastSeenAt} /> },
      ]}
    />
  );
}

function Details({ courier }: CourierProps) {
  const { id, phone, email, vehicle, externalId, locale, note, createdAt, archivedAt } = courier;
  return (
    <Section title="Details">
      <DescriptionList
        items={[
          ["Phone", phone && <a href={`tel:${phone}`}>{phone}</a>],
          ["Email", email && <a href={`mailto:${email}`}>{email}</a>],
          ["Vehicle", vehicle],
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
  if (!useRole("member")) return null;
  return (
    <>
      <Button onClick={() => setEdited(true)}>Edit</Button>
      <More>
        <RpcButton
          destructive
          button="Archive"
          method={CourierService.method.archiveCourier}
          title={`Archive ${name}`}
          submit="Archive courier"
          tone="danger"
          request={{ courier: id }}
          done="Courier archived."
          then={() => navigate(paths.couriers({ workspace }))}
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
