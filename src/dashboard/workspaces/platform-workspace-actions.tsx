import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import {
  NewRateLimitSchema,
  WorkspaceAdminService,
  type AdminWorkspace,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { useOperatorRole } from "../api/session.ts";
import { CALL_CLASSES } from "../keys/key-table.tsx";
import { InvitedDialog, ROLE_CHOICES } from "../people/invitation.tsx";
import { RpcButton } from "../ui/dialog.tsx";
import { More } from "../ui/menu.tsx";
import { RequestFields } from "../ui/request-fields.tsx";
import { TimeZoneButton } from "./time-zone-button.tsx";

export interface ActionProps {
  readonly workspace: AdminWorkspace;
}

/** Whether the user can change settings that test twins inherit. Twins cannot change them. */
function useMayChangeLive({ workspace }: ActionProps): boolean {
  return useOperatorRole(OperatorRole.OPERATOR) && workspace.liveWorkspace === undefined;
}

const admin = WorkspaceAdminService.method;

/** Actions for operators on a workspace. Hidden from viewers. */
export function WorkspaceActions(props: ActionProps) {
  const { workspace } = props;
  const { id, name, timeZone } = workspace;
  if (!useMayChangeLive(props)) return null;
  const request = { workspace: id };
  return (
    <More>
      <RpcButton
        button="Invite member"
        method={admin.inviteWorkspaceMember}
        title={`Invite member of ${name}`}
        submit="Make a link"
        request={request}
        fields={{
          email: "Email",
          name: "Name",
          role: {
            label: "Role",
            choices: [["", "Admin if they are the first, else viewer"], ...ROLE_CHOICES],
            hint: "An existing member keeps their role unless you choose one.",
          },
        }}
        then={(invited) => (
          <InvitedDialog {...invited}>
            The link can be used once and expires after 15 minutes. After that, invite them again.
          </InvitedDialog>
        )}
      />
      <RpcButton
        button="Rename"
        method={admin.renameWorkspace}
        title={`Rename ${name}`}
        submit="Rename"
        request={request}
        fields={{ name: "Name" }}
        values={workspace}
        done="Workspace renamed."
      />
      <TimeZoneButton method={admin.updateWorkspaceTimeZone} request={request} {...{ name, timeZone }} />
      <PaymentsButton {...props} />
      <SuspendButton {...props} />
    </More>
  );
}

function SuspendButton({ workspace: { id, name, suspendedAt } }: ActionProps) {
  const request = { workspace: id };
  return suspendedAt === undefined ? (
    <RpcButton
      destructive
      button="Suspend"
      method={admin.suspendWorkspace}
      title={`Suspend ${name}`}
      submit="Suspend the workspace"
      tone="danger"
      request={request}
      done={`${name} is suspended.`}
    >
      <p>
        API keys and members lose access within a second, until an operator resumes the workspace. No data is lost.
        Events from before the suspension are still delivered to webhooks.
      </p>
    </RpcButton>
  ) : (
    <RpcButton
      button="Resume"
      method={admin.resumeWorkspace}
      title={`Resume ${name}`}
      submit="Resume the workspace"
      request={request}
      done={`${name} is resumed.`}
    >
      <p>Members and existing API keys regain access.</p>
    </RpcButton>
  );
}

function PaymentsButton({ workspace: { id, paymentProvider } }: ActionProps) {
  return paymentProvider === undefined ? (
    <RpcButton
      button="Connect payments"
      method={admin.connectPaymentProvider}
      title="Connect manual payments"
      request={{ workspace: id, paymentProvider: "manual" }}
      done="Payments connected."
    >
      <p>The workspace will be able to book shipments. Its members record customer payments manually.</p>
    </RpcButton>
  ) : (
    <RpcButton
      button="Disconnect payments"
      method={admin.disconnectPaymentProvider}
      tone="danger"
      request={{ workspace: id }}
      done="Payments disconnected."
    >
      <p>The workspace cannot book until a payment provider is connected again. Existing shipments do not change.</p>
    </RpcButton>
  );
}

export function LimitsButton({ workspace: { id, name: title, limits } }: ActionProps) {
  if (!useOperatorRole(OperatorRole.OPERATOR)) return null;
  return (
    <RpcButton
      button="Change limits"
      method={admin.updateWorkspaceLimits}
      title={`Limits of ${title}`}
      submit="Change limits"
      request={{ workspace: id }}
      done="Limits updated."
    >
      <p>
        Calls above a limit are refused and can be retried a moment later. The burst applies after a pause. If empty, it
        is twice the rate per second.
      </p>
      {CALL_CLASSES.map(([name, label]) => (
        <div key={name} class="field-row">
          <RequestFields
            of={NewRateLimitSchema}
            path={name}
            fields={{ rate: `${label} per second`, burst: `${label} burst` }}
            values={limits?.[name]}
          />
        </div>
      ))}
    </RpcButton>
  );
}
