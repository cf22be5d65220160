import { useState } from "preact/hooks";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import {
  WorkspaceAdminService,
  type AdminWorkspace,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { MemberRole } from "../../../gen/shipments/v1/member_pb.js";
import { useClient } from "../api/clients.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { useOperatorRole } from "../api/session.ts";
import { FormDialog, SecretDialog } from "../ui/dialog.tsx";
import { numberOf, optionalTextOf, SelectField, TextField, textOf } from "../ui/fields.tsx";
import { toast } from "../ui/toast.tsx";

interface ActionProps {
  readonly workspace: AdminWorkspace;
  /** Called when something was changed. */
  readonly changed: () => void;
}

/** What an operator can do with a workspace as a whole; nothing for who only sees. */
export function WorkspaceActions(props: ActionProps) {
  const [asked, ask] = useState<"invite" | "rename" | "suspend" | "resume">();
  if (!useOperatorRole(OperatorRole.OPERATOR)) return null;
  const isSuspended = props.workspace.suspendedAt !== undefined;
  const dialog = { ...props, close: () => ask(undefined) };
  return (
    <>
      <button type="button" class="button" onClick={() => ask(isSuspended ? "resume" : "suspend")}>
        {isSuspended ? "Resume" : "Suspend"}
      </button>
      <button type="button" class="button" onClick={() => ask("rename")}>
        Rename
      </button>
      <button type="button" class="button primary" onClick={() => ask("invite")}>
        Invite a member
      </button>
      {asked === "invite" && <InviteDialog {...dialog} />}
      {asked === "rename" && <RenameDialog {...dialog} />}
      {asked === "suspend" && <SuspendDialog {...dialog} />}
      {asked === "resume" && <ResumeDialog {...dialog} />}
    </>
  );
}

type DialogProps = ActionProps & { readonly close: () => void };

function RenameDialog({ workspace: { id, name }, changed, close }: DialogProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const rename = useAction(async (form: FormData) => {
    await workspaces.renameWorkspace({ workspace: id, name: textOf(form, "name") });
    toast("The workspace is renamed.");
    close();
    changed();
  });
  return (
    <FormDialog title={`Rename ${name}`} action={rename} submit="Rename" close={close}>
      <TextField name="name" label="Name" value={name} />
    </FormDialog>
  );
}

function SuspendDialog({ workspace: { id, name }, changed, close }: DialogProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const suspend = useAction(async () => {
    await workspaces.suspendWorkspace({ workspace: id });
    toast(`${name} is suspended.`);
    close();
    changed();
  });
  return (
    <FormDialog
      title={`Suspend ${name}`}
      action={suspend}
      submit="Suspend the workspace"
      tone="danger"
      close={close}
    >
      <p>
        All calls of its programs and its members are refused within a second, until an operator
        resumes it. Nothing is lost: webhooks are still sent what happened before.
      </p>
    </FormDialog>
  );
}

function ResumeDialog({ workspace: { id, name }, changed, close }: DialogProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const resume = useAction(async () => {
    await workspaces.resumeWorkspace({ workspace: id });
    toast(`${name} is resumed.`);
    close();
    changed();
  });
  return (
    <FormDialog
      title={`Resume ${name}`}
      action={resume}
      submit="Resume the workspace"
      close={close}
    >
      <p>
        The calls of its programs and its members are taken again, with the keys that they have.
      </p>
    </FormDialog>
  );
}

const ROLES = [
  ["", "Admin if they are the first, else viewer"],
  [String(MemberRole.VIEWER), "Viewer: sees everything"],
  [String(MemberRole.MEMBER), "Member: books and changes shipments too"],
  [String(MemberRole.ADMIN), "Admin: manages keys, webhooks and members too"],
] as const;

function InviteDialog({ workspace: { id, name }, changed, close }: DialogProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const once = useIdempotencyOptions();
  const [made, setMade] = useState<{ readonly email: string; readonly link: string }>();
  const invite = useAction(async (form: FormData) => {
    const { data, signInPath } = await workspaces.inviteWorkspaceMember(
      {
        workspace: id,
        email: textOf(form, "email"),
        name: optionalTextOf(form, "name"),
        role: numberOf(form, "role"),
      },
      once,
    );
    setMade({ email: data!.email, link: location.origin + signInPath });
    changed();
  });
  if (made !== undefined) {
    return (
      <SecretDialog title={`A link for ${made.email}`} what="link" secret={made.link} close={close}>
        <p>
          Send it to {made.email} yourself: whoever opens it is signed in as them. It works once,
          within 15 minutes; after that, invite them again.
        </p>
      </SecretDialog>
    );
  }
  return (
    <FormDialog
      title={`Invite a member of ${name}`}
      action={invite}
      submit="Make a link"
      close={close}
    >
      <TextField name="email" label="Email" type="email" />
      <TextField name="name" label="Name" optional />
      <SelectField
        name="role"
        label="Role"
        choices={ROLES}
        hint="Somebody who is a member already keeps their role unless one is chosen."
      />
    </FormDialog>
  );
}
