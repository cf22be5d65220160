import { useState } from "preact/hooks";
import { MemberRole, type Member } from "../../../gen/shipments/v1/member_pb.js";
import { MemberService } from "../../../gen/shipments/v1/member_service_pb.js";
import { useClient } from "../api/clients.ts";
import { hasRole, useAccount, useWorkspace } from "../api/session.ts";
import { loadAccount } from "../api/sign-in.ts";
import { useAction } from "../api/use-action.ts";
import { useQuery } from "../api/use-query.ts";
import { Badge } from "../ui/badge.tsx";
import { FormDialog, SecretDialog } from "../ui/dialog.tsx";
import { optionalTextOf, SelectField, TextField, textOf } from "../ui/fields.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Page } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { toast } from "../ui/toast.tsx";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";

const ROLES: Readonly<Record<MemberRole, string>> = {
  [MemberRole.UNSPECIFIED]: "Unknown",
  [MemberRole.VIEWER]: "Viewer",
  [MemberRole.MEMBER]: "Member",
  [MemberRole.ADMIN]: "Admin",
};

const ROLE_CHOICES = [
  [String(MemberRole.VIEWER), "Viewer: sees everything"],
  [String(MemberRole.MEMBER), "Member: books and changes shipments too"],
  [String(MemberRole.ADMIN), "Admin: manages keys, webhooks and members too"],
] as const;

/** What is asked for in a dialog. */
type Asked =
  | { readonly what: "invite" }
  | { readonly what: "change" | "remove"; readonly member: Member }
  | { readonly what: "copy"; readonly email: string; readonly link: string };

/** The people of a workspace. */
export function MembersPage() {
  const isAdmin = hasRole(useWorkspace(), "admin");
  const me = useAccount().id;
  const members = useClient(MemberService);
  const list = useQuery((signal) => members.listMembers({}, { signal }), [members]);
  const [asked, ask] = useState<Asked>();
  const invite = (
    <button type="button" class="button primary" onClick={() => ask({ what: "invite" })}>
      Invite somebody
    </button>
  );
  const columns = columnsFor(me);
  return (
    <Page title="Members" actions={isAdmin && invite}>
      <QueryView query={list}>
        {({ data }) => (
          <Table
            label="Members"
            columns={isAdmin ? [...columns, actionsColumn(ask)] : columns}
            rows={data}
            keyOf={({ person }) => String(person)}
          />
        )}
      </QueryView>
      {!isAdmin && <p class="note minor">Admins invite people and change their roles.</p>}
      <MemberDialog asked={asked} ask={ask} changed={list.reload} />
    </Page>
  );
}

function columnsFor(me: bigint): readonly Column<Member>[] {
  return [
    {
      header: "Person",
      selfEvident: true,
      cell: ({ person, name, email }) => (
        <>
          <strong>{name}</strong> {person === me && <Badge>You</Badge>}
          <br />
          <span class="minor">{email}</span>
        </>
      ),
    },
    { header: "Role", cell: ({ role }) => ROLES[role] },
    { header: "Member since", cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      header: "Last signed in",
      cell: ({ lastSignedInAt }) => (lastSignedInAt ? <Time at={lastSignedInAt} /> : "Never"),
    },
  ];
}

function actionsColumn(ask: (asked: Asked) => void): Column<Member> {
  return {
    header: "Actions",
    align: "end",
    selfEvident: true,
    cell: (member) => <MemberActions member={member} ask={ask} />,
  };
}

function MemberActions(props: { readonly member: Member; readonly ask: (asked: Asked) => void }) {
  const { member, ask } = props;
  const { email } = member;
  const members = useClient(MemberService);
  const renew = useAction(async () => {
    const { signInPath } = await members.inviteMember({ email });
    ask({ what: "copy", email, link: location.origin + signInPath });
  });
  return (
    <span class="row-actions">
      {renew.problem && (
        <span class="field-error" role="alert">
          {renew.problem.message}
        </span>
      )}
      <button
        type="button"
        class="button"
        aria-label={`New link: ${email}`}
        aria-busy={renew.isRunning}
        onClick={() => void renew.run()}
      >
        New link
      </button>
      <button
        type="button"
        class="button"
        aria-label={`Change role: ${email}`}
        onClick={() => ask({ what: "change", member })}
      >
        Change role
      </button>
      <button
        type="button"
        class="button"
        aria-label={`Remove: ${email}`}
        onClick={() => ask({ what: "remove", member })}
      >
        Remove
      </button>
    </span>
  );
}

function MemberDialog(props: {
  readonly asked: Asked | undefined;
  readonly ask: (asked: Asked | undefined) => void;
  readonly changed: () => void;
}) {
  const { asked, ask } = props;
  const close = () => ask(undefined);
  const done = (next?: Asked) => {
    ask(next);
    props.changed();
  };
  switch (asked?.what) {
    case undefined:
      return null;
    case "invite":
      return <InviteDialog close={close} done={done} />;
    case "change":
      return <ChangeDialog member={asked.member} close={close} done={done} />;
    case "remove":
      return <RemoveDialog member={asked.member} close={close} done={done} />;
    case "copy":
      return (
        <SecretDialog
          title={`A link for ${asked.email}`}
          what="link"
          secret={asked.link}
          close={close}
        >
          <p>
            Send it to {asked.email} yourself: whoever opens it is signed in as them. It works once,
            within 15 minutes; after that, make a new one here.
          </p>
        </SecretDialog>
      );
  }
}

interface DialogProps {
  readonly close: () => void;
  readonly done: (next?: Asked) => void;
}

function InviteDialog({ close, done }: DialogProps) {
  const members = useClient(MemberService);
  const invite = useAction(async (form: FormData) => {
    const email = textOf(form, "email");
    const name = optionalTextOf(form, "name");
    const role = Number(textOf(form, "role")) as MemberRole;
    const { signInPath } = await members.inviteMember({ email, name, role });
    done({ what: "copy", email, link: location.origin + signInPath });
  });
  return (
    <FormDialog title="Invite somebody" action={invite} submit="Make a sign-in link" close={close}>
      <TextField name="email" label="Email" type="email" />
      <TextField name="name" label="Name" optional />
      <SelectField
        name="role"
        label="Role"
        value={MemberRole.MEMBER}
        choices={ROLE_CHOICES}
        hint="Somebody who is a member already gets this role."
      />
    </FormDialog>
  );
}

function ChangeDialog(props: DialogProps & { readonly member: Member }) {
  const { member, close, done } = props;
  const { person, email } = member;
  const me = useAccount().id;
  const members = useClient(MemberService);
  const change = useAction(async (form: FormData) => {
    await members.updateMember({ person, role: Number(textOf(form, "role")) as MemberRole });
    toast(`The role of ${email} is changed.`);
    done();
    if (person === me) await loadAccount();
  });
  return (
    <FormDialog
      title={`Change the role of ${email}`}
      action={change}
      submit="Change the role"
      close={close}
    >
      <SelectField name="role" label="Role" value={member.role} choices={ROLE_CHOICES} />
    </FormDialog>
  );
}

function RemoveDialog(props: DialogProps & { readonly member: Member }) {
  const { member, close, done } = props;
  const { person, email } = member;
  const me = useAccount().id;
  const members = useClient(MemberService);
  const remove = useAction(async () => {
    await members.removeMember({ person });
    toast(`${email} is no longer a member.`);
    if (person !== me) return done();
    // First, so that the start does not lead back to this workspace.
    await loadAccount();
    navigate(paths.home({}));
  });
  return (
    <FormDialog
      title={`Remove ${email}`}
      action={remove}
      submit="Remove from the workspace"
      tone="danger"
      close={close}
    >
      <p>
        {person === me ? "You see" : `${email} sees`} nothing of this workspace any more. Keys are
        not people’s: revoke those that {person === me ? "you have" : "they have"} copied, too.
      </p>
    </FormDialog>
  );
}
