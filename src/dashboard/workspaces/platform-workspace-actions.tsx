import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import {
  WorkspaceAdminService,
  type AdminWorkspace,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { MemberRole } from "../../../gen/shipments/v1/member_pb.js";
import { useOperatorRole } from "../api/session.ts";
import { InvitedDialog } from "../ui/invited-dialog.tsx";
import { DialogButton, RpcDialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { TimeZoneDialog } from "./time-zone-dialog.tsx";

export interface ActionProps {
  readonly workspace: AdminWorkspace;
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

function TimeZoneButton({ workspace: { id, name, timeZone } }: ActionProps) {
  return (
    <DialogButton
      dialog={
        <TimeZoneDialog
          method={WorkspaceAdminService.method.updateWorkspaceTimeZone}
          request={{ workspace: id }}
          {...{ name, timeZone }}
        />
      }
    >
      Change time zone
    </DialogButton>
  );
}

function RenameDialog({ workspace: { id, name } }: ActionProps) {
  return (
    <RpcDialog
      method={WorkspaceAdminService.method.renameWorkspace}
      title={`Rename ${name}`}
      submit="Rename"
      request={{ workspace: id }}
      done="The workspace is renamed."
    >
      <TextField name="name" label="Name" value={name} />
    </RpcDialog>
  );
}

function SuspendDialog({ workspace: { id, name, suspendedAt } }: ActionProps) {
  const request = { workspace: id };
  return suspendedAt === undefined ? (
    <RpcDialog
      method={WorkspaceAdminService.method.suspendWorkspace}
      title={`Suspend ${name}`}
      submit="Suspend the workspace"
      tone="danger"
      done={`${name} is suspended.`}
      request={request}
    >
      <p>
        All calls of its programs and its members are refused within a second, until an operator
        resumes it. Nothing is lost: webhooks are still sent what happened before.
      </p>
    </RpcDialog>
  ) : (
    <RpcDialog
      method={WorkspaceAdminService.method.resumeWorkspace}
      title={`Resume ${name}`}
      submit="Resume the workspace"
      done={`${name} is resumed.`}
      request={request}
    >
      <p>
        The calls of its programs and its members are taken again, with the keys that they have.
      </p>
    </RpcDialog>
  );
}

const ROLES = [
  ["", "Admin if they are the first, else viewer"],
  [String(MemberRole.VIEWER), "Viewer: sees everything"],
  [String(MemberRole.MEMBER), "Member: books and changes shipments too"],
  [String(MemberRole.ADMIN), "Admin: manages keys, webhooks and members too"],
] as const;

function InviteDialog({ workspace: { id, name } }: ActionProps) {
  return (
    <RpcDialog
      method={WorkspaceAdminService.method.inviteWorkspaceMember}
      title={`Invite a member of ${name}`}
      submit="Make a link"
      request={{ workspace: id }}
      then={(invited) => {
        return (
          <InvitedDialog {...invited}>
            It works once, within 15 minutes; after that, invite them again.
          </InvitedDialog>
        );
      }}
    >
      <TextField name="email" label="Email" type="email" />
      <TextField name="name" label="Name" optional />
      <SelectField
        name="role"
        label="Role"
        choices={ROLES}
        hint="Somebody who is a member already keeps their role unless one is chosen."
      />
    </RpcDialog>
  );
}

function PaymentsDialog({ workspace: { id, paymentProvider } }: ActionProps) {
  const title = paymentProvider === undefined ? "Connect manual payments" : "Disconnect payments";
  return paymentProvider === undefined ? (
    <RpcDialog
      method={WorkspaceAdminService.method.connectPaymentProvider}
      request={{ workspace: id, paymentProvider: "manual" }}
      done="Payments are connected."
      title={title}
    >
      <p>The workspace records by itself what its customers have paid, and can book.</p>
    </RpcDialog>
  ) : (
    <RpcDialog
      method={WorkspaceAdminService.method.disconnectPaymentProvider}
      tone="danger"
      request={{ workspace: id }}
      done="Payments are disconnected."
      title={title}
    >
      <p>
        The workspace can book nothing until a payment provider is connected again. Shipments that
        are booked stay as they are.
      </p>
    </RpcDialog>
  );
}

export const CALL_CLASSES = [
  ["quote", "Quotes"],
  ["read", "Reads"],
  ["write", "Writes"],
] as const;

function LimitsDialog({ workspace: { id, name: title, limits } }: ActionProps) {
  return (
    <RpcDialog
      method={WorkspaceAdminService.method.updateWorkspaceLimits}
      title={`Limits of ${title}`}
      submit="Change the limits"
      request={{ workspace: id }}
      done="The limits are changed."
    >
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
    </RpcDialog>
  );
}
