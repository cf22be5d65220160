import { MemberRole, type Member } from "../../../gen/shipments/v1/member_pb.js";
import { MemberService } from "../../../gen/shipments/v1/member_service_pb.js";
import { useClient } from "../api/clients.ts";
import { hasRole, useAccount, useWorkspace } from "../api/session.ts";
import { loadAccount } from "../api/sign-in.ts";
import { useAction } from "../api/use-action.ts";
import { useRpc } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { Badge } from "../ui/badge.tsx";
import { ActionButton } from "../ui/button.tsx";
import { DialogButton, openDialog, RpcDialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Section } from "../ui/page.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { InvitedDialog, type Invited } from "../ui/invited-dialog.tsx";

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

export function MembersSection() {
  const isAdmin = hasRole(useWorkspace(), "admin");
  const me = useAccount().id;
  const list = useRpc(MemberService.method.listMembers, {});
  const invite = <DialogButton dialog={<InviteDialog />}>Invite somebody</DialogButton>;
  const columns = columnsFor(me);
  return (
    <Section id="members" title="Members" actions={isAdmin && invite}>
      <ListView
        query={list}
        label="Members"
        columns={isAdmin ? [...columns, ACTIONS] : columns}
        keyOf={({ person }) => String(person)}
        empty={null}
      />
      {!isAdmin && <p class="note minor">Admins invite people and change their roles.</p>}
    </Section>
  );
}

function columnsFor(me: bigint): readonly Column<Member>[] {
  return [
    {
      header: "Person",
      selfEvident: true,
      cell: ({ person, name, email }) => (
        <div>
          <strong>{name}</strong> {person === me && <Badge>You</Badge>}
          <br />
          <span class="minor">{email}</span>
        </div>
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

const ACTIONS: Column<Member> = {
  header: "Actions",
  align: "end",
  selfEvident: true,
  cell: (member) => <MemberActions member={member} />,
};

interface MemberProps {
  readonly member: Member;
}

function MemberActions(props: MemberProps) {
  const { email } = props.member;
  const members = useClient(MemberService);
  const renew = useAction(async () => {
    openDialog(<Link {...await members.inviteMember({ email })} />);
  });
  return (
    <span class="row-actions">
      <ActionButton action={renew} label={`New link: ${email}`}>
        New link
      </ActionButton>
      <DialogButton label={`Change role: ${email}`} dialog={<ChangeDialog {...props} />}>
        Change role
      </DialogButton>
      <DialogButton destructive label={`Remove: ${email}`} dialog={<RemoveDialog {...props} />}>
        Remove
      </DialogButton>
    </span>
  );
}

function Link(invited: Invited) {
  return (
    <InvitedDialog {...invited}>
      It works once, within 15 minutes; after that, make a new one here.
    </InvitedDialog>
  );
}

function InviteDialog() {
  return (
    <RpcDialog
      method={MemberService.method.inviteMember}
      title="Invite somebody"
      submit="Make a sign-in link"
      then={(invitation) => {
        return <Link {...invitation} />;
      }}
    >
      <TextField name="email" label="Email" type="email" />
      <TextField name="name" label="Name" optional />
      <SelectField
        name="role"
        label="Role"
        value={MemberRole.MEMBER}
        choices={ROLE_CHOICES}
        hint="Somebody who is a member already gets this role."
      />
    </RpcDialog>
  );
}

function ChangeDialog({ member: { person, email, role } }: MemberProps) {
  const me = useAccount().id;
  return (
    <RpcDialog
      method={MemberService.method.updateMember}
      title={`Change the role of ${email}`}
      submit="Change the role"
      request={{ person }}
      done={`The role of ${email} is changed.`}
      then={() => {
        if (person === me) void loadAccount();
      }}
    >
      <SelectField name="role" label="Role" value={role} choices={ROLE_CHOICES} />
    </RpcDialog>
  );
}

function RemoveDialog({ member: { person, email } }: MemberProps) {
  const isSelf = person === useAccount().id;
  return (
    <RpcDialog
      method={MemberService.method.removeMember}
      title={`Remove ${email}`}
      submit="Remove from the workspace"
      tone="danger"
      request={{ person }}
      done={`${email} is no longer a member.`}
      then={async () => {
        if (!isSelf) return;
        // First, so that the start does not lead back to this workspace.
        await loadAccount();
        navigate(paths.home({}));
      }}
    >
      <p>
        {isSelf ? "You see" : `${email} sees`} nothing of this workspace any more. Keys are not
        people’s: revoke those that {isSelf ? "you have" : "they have"} copied, too.
      </p>
    </RpcDialog>
  );
}
