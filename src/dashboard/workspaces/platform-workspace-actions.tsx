import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import {
  WorkspaceAdminService,
  type AdminWorkspace,
  type NewRateLimitSchema,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { MemberRole } from "../../../gen/shipments/v1/member_pb.js";
import { useClient } from "../api/clients.ts";
import { useOperatorRole } from "../api/session.ts";
import { InvitedDialog } from "../ui/invited-dialog.tsx";
import { Dialog, DialogButton } from "../ui/dialog.tsx";
import { numberOf, optionalTextOf, SelectField, TextField, textOf } from "../ui/fields.tsx";
import { toast } from "../ui/toast.tsx";
import { TimeZoneDialog } from "./time-zone-dialog.tsx";

export interface ActionProps {
  readonly workspace: AdminWorkspace;
  readonly changed: () => void;
}

/** Whether the reader may change what test twins follow: of one it is changed on its live workspace. */
function useMayChangeLive({ workspace }: ActionProps): boolean {
  return useOperatorRole(OperatorRole.OPERATOR) && workspace.liveWorkspace === undefined;
}

/** What an operator can do with a workspace as a whole; nothing for who only sees. */
export function WorkspaceActions(props: ActionProps) {
  if (!useMayChangeLive(props)) return null;
  return (
    <>
      <DialogButton
        destructive={props.workspace.suspendedAt === undefined}
        dialog={<SuspendDialog {...props} />}
      >
        {props.workspace.suspendedAt === undefined ? "Suspend" : "Resume"}
      </DialogButton>
      <TimeZoneButton {...props} />
      <DialogButton dialog={<RenameDialog {...props} />}>Rename</DialogButton>
      <DialogButton primary dialog={<InviteDialog {...props} />}>
        Invite a member
      </DialogButton>
    </>
  );
}

export function LimitsButton(props: ActionProps) {
  if (!useOperatorRole(OperatorRole.OPERATOR)) return null;
  return <DialogButton dialog={<LimitsDialog {...props} />}>Change limits</DialogButton>;
}

export function PaymentsButton(props: ActionProps) {
  if (!useMayChangeLive(props)) return null;
  return (
    <DialogButton dialog={<PaymentsDialog {...props} />}>
      {props.workspace.paymentProvider === undefined ? "Connect payments" : "Disconnect payments"}
    </DialogButton>
  );
}

function TimeZoneButton({ workspace: { id, name, timeZone }, changed }: ActionProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const change = async (chosen: string) => {
    await workspaces.updateWorkspaceTimeZone({ workspace: id, timeZone: chosen });
    changed();
  };
  return (
    <DialogButton dialog={<TimeZoneDialog {...{ name, timeZone, change }} />}>
      Change time zone
    </DialogButton>
  );
}

function RenameDialog({ workspace: { id, name }, changed }: ActionProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const rename = async (form: FormData) => {
    await workspaces.renameWorkspace({ workspace: id, name: textOf(form, "name") });
    toast("The workspace is renamed.");
    changed();
  };
  return (
    <Dialog title={`Rename ${name}`} submit="Rename" run={rename}>
      <TextField name="name" label="Name" value={name} />
    </Dialog>
  );
}

/** Suspends a workspace, or resumes one that is suspended. */
function SuspendDialog({ workspace: { id, name, suspendedAt }, changed }: ActionProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const suspend = async () => {
    await workspaces.suspendWorkspace({ workspace: id });
    toast(`${name} is suspended.`);
    changed();
  };
  const resume = async () => {
    await workspaces.resumeWorkspace({ workspace: id });
    toast(`${name} is resumed.`);
    changed();
  };
  return suspendedAt === undefined ? (
    <Dialog title={`Suspend ${name}`} submit="Suspend the workspace" tone="danger" run={suspend}>
      <p>
        All calls of its programs and its members are refused within a second, until an operator
        resumes it. Nothing is lost: webhooks are still sent what happened before.
      </p>
    </Dialog>
  ) : (
    <Dialog title={`Resume ${name}`} submit="Resume the workspace" run={resume}>
      <p>
        The calls of its programs and its members are taken again, with the keys that they have.
      </p>
    </Dialog>
  );
}

const ROLES = [
  ["", "Admin if they are the first, else viewer"],
  [String(MemberRole.VIEWER), "Viewer: sees everything"],
  [String(MemberRole.MEMBER), "Member: books and changes shipments too"],
  [String(MemberRole.ADMIN), "Admin: manages keys, webhooks and members too"],
] as const;

function InviteDialog({ workspace: { id, name }, changed }: ActionProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const invite = async (form: FormData, idempotencyOptions: CallOptions) => {
    const request = {
      workspace: id,
      email: textOf(form, "email"),
      name: optionalTextOf(form, "name"),
      role: numberOf(form, "role"),
    };
    const { data, signInPath, mailed } = await workspaces.inviteWorkspaceMember(
      request,
      idempotencyOptions,
    );
    changed();
    return (
      <InvitedDialog email={data!.email} signInPath={signInPath} mailed={mailed}>
        It works once, within 15 minutes; after that, invite them again.
      </InvitedDialog>
    );
  };
  return (
    <Dialog title={`Invite a member of ${name}`} submit="Make a link" run={invite}>
      <TextField name="email" label="Email" type="email" />
      <TextField name="name" label="Name" optional />
      <SelectField
        name="role"
        label="Role"
        choices={ROLES}
        hint="Somebody who is a member already keeps their role unless one is chosen."
      />
    </Dialog>
  );
}

function PaymentsDialog({ workspace: { id: workspace, ...shown }, changed }: ActionProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const connect = async () => {
    await workspaces.connectPaymentProvider({ workspace, paymentProvider: "manual" });
    toast("Payments are connected.");
    changed();
  };
  const disconnect = async () => {
    await workspaces.disconnectPaymentProvider({ workspace });
    toast("Payments are disconnected.");
    changed();
  };
  if (shown.paymentProvider === undefined) {
    const title = "Connect manual payments";
    return (
      <Dialog title={title} submit={title} run={connect}>
        <p>The workspace records by itself what its customers have paid, and can book.</p>
      </Dialog>
    );
  }
  const title = "Disconnect payments";
  return (
    <Dialog title={title} submit={title} tone="danger" run={disconnect}>
      <p>
        The workspace can book nothing until a payment provider is connected again. Shipments that
        are booked stay as they are.
      </p>
    </Dialog>
  );
}

/** The classes of calls, each of which has a limit. */
export const CALL_CLASSES = [
  ["quote", "Quotes"],
  ["read", "Reads"],
  ["write", "Writes"],
] as const;

function LimitsDialog({ workspace: { id, name: title, limits }, changed }: ActionProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const update = async (form: FormData) => {
    const [quote, read, write] = CALL_CLASSES.map(([name]) => limitOf(form, name));
    await workspaces.updateWorkspaceLimits({ workspace: id, quote, read, write });
    toast("The limits are changed.");
    changed();
  };
  return (
    <Dialog title={`Limits of ${title}`} submit="Change the limits" run={update}>
      <p>
        Calls above a limit are refused, to be made again a moment later. After a quiet time more
        can come at once: twice a second’s number where that is left empty.
      </p>
      {CALL_CLASSES.map(([name, label]) => (
        <div key={name} class="field-row">
          <TextField
            name={`${name}.rate`}
            label={`${label} a second`}
            numeric
            value={limits?.[name]?.rate}
          />
          <TextField
            name={`${name}.burst`}
            label={`${label} at once`}
            numeric
            optional
            value={limits?.[name]?.burst}
          />
        </div>
      ))}
    </Dialog>
  );
}

/** Without a burst the service takes twice the rate. */
function limitOf(form: FormData, name: string): MessageInitShape<typeof NewRateLimitSchema> {
  const burst = wholeNumberOf(form, `${name}.burst`);
  return { rate: wholeNumberOf(form, `${name}.rate`), burst };
}

/** 0 for what is no whole number that a message can hold; the service refuses that. */
function wholeNumberOf(form: FormData, name: string): number | undefined {
  const number = numberOf(form, name);
  if (number === undefined) return undefined;
  return Number.isInteger(number) && Math.abs(number) < 2 ** 31 ? number : 0;
}
