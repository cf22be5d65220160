import {
  CourierEmailStatus,
  type CourierLink,
  type CourierProfile,
  CourierService,
} from "../../../gen/shipments/v1/courier_service_pb.js";
import { useRole } from "../api/session.ts";
import { useRpc } from "../api/use-query.ts";
import { RpcButton, SecretDialog } from "../ui/dialog.tsx";
import { SelectField } from "../ui/fields.tsx";
import { numberText } from "../ui/format.ts";
import { Empty, Section } from "../ui/page.tsx";
import { lazily } from "../ui/lazily.tsx";
import { type Column, ListView, rowActions } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";

const QrCode = lazily(() => import("../ui/qr-code.tsx"), "QrCode");

const { createCourierLink, listCourierLinks, revokeCourierLink } = CourierService.method;

const EMAIL_STATUSES: Readonly<Partial<Record<CourierEmailStatus, string>>> = {
  [CourierEmailStatus.WAITING]: "Queued",
  [CourierEmailStatus.SENT]: "Sent",
  [CourierEmailStatus.FAILED]: "Failed",
};

const COLUMNS: readonly Column<CourierLink>[] = [
  { header: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
  { header: "By", clips: true, spare: true, cell: ({ createdBy }) => createdBy.replace(/^person /, "") },
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
    title="Revoke link"
    tone="danger"
    request={{ courier: courier, link: id }}
    done="Link revoked."
  >
    <p>Devices that opened the link are signed out at once.</p>
  </RpcButton>
));

/** The active links to a courier's page, which members can create and revoke. */
export function CourierLinks({ courier }: { readonly courier: CourierProfile }) {
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
