import type { VNode } from "preact";
import { MemberRole, type Member } from "../../../gen/shipments/v1/member_pb.js";
import { MemberService } from "../../../gen/shipments/v1/member_service_pb.js";
import { useAccount, useRole } from "../api/session.ts";
import { loadAccount } from "../api/sign-in.ts";
import { useRpc } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { Badge } from "../ui/description-list.tsx";
import { RpcActionButton } from "../ui/button.tsx";
import { DialogButton, openDialog, RpcButton, RpcDialog } from "../ui/dialog.tsx";
import { enumText } from "../ui/format.ts";
import { More } from "../ui/menu.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, ListView, rowActions } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { InvitedDialog, ROLE_CHOICES, type Invited } from "./invitation.tsx";

const { inviteMember, listMembers, removeMember, updateMember } = MemberService.method;

const ROLE_FIELD = { label: "Role", choices: ROLE_CHOICES };

export function MembersSection() {
  const isAdmin = useRole("admin");
  const me = useAccount().id;
  const list = useRpc(listMembers, {});
  const invite = <DialogButton dialog={<InviteDialog />}>Invite member</DialogButton>;
  const columns = columnsFor(me);
  return (
    <Section id="members" title="Members" actions={isAdmin && invite}>
      <ListView
        query={list}
        label="Members"
        columns={isAdmin ? [...columns, ACTIONS] : columns}
        keyOf={({ person }) => String(person)}
      />
      {!isAdmin && <p class="note minor">Only admins can invite people and change roles.</p>}
    </Section>
  );
}

export function InviteDialog() {
  return (
    <RpcDialog
      method={inviteMember}
      title="Invite member"
      submit="Create sign-in link"
      fields={{
        email: "Email",
        name: "Name",
        role: {
          ...ROLE_FIELD,
          value: MemberRole.MEMBER,
          hint: "An existing member gets this role.",
        },
      }}
      then={linkOf}
    />
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
    { header: "Role", cell: ({ role }) => enumText(MemberRole, role) },
    { header: "Member since", spare: "first", cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      header: "Last signed in",
      spare: true,
      cell: ({ lastSignedInAt }) => (lastSignedInAt ? <Time at={lastSignedInAt} /> : "Never"),
    },
  ];
}

const ACTIONS = rowActions<Member>((member) => <MemberActions member={member} />);

function MemberActions({ member }: { readonly member: Member }) {
  const { person, email } = member;
  const isSelf = person === useAccount().id;
  return (
    <>
      <RpcActionButton
        method={inviteMember}
        request={{ email }}
        then={(invited) => openDialog(linkOf(invited))}
        label={`New link: ${email}`}
      >
        New link
      </RpcActionButton>
      <More of={email}>
        <RpcButton
          button="Change role"
          label={`Change role: ${email}`}
          method={updateMember}
          title={`Change role of ${email}`}
          submit="Change role"
          request={{ person }}
          fields={{ role: ROLE_FIELD }}
          values={member}
          done={`Role of ${email} updated.`}
          then={() => {
            if (isSelf) void loadAccount();
          }}
        />
        <RpcButton
          destructive
          button="Remove"
          label={`Remove: ${email}`}
          method={removeMember}
          title={`Remove ${email}`}
          submit="Remove from the workspace"
          tone="danger"
          request={{ person }}
          done={`${email} is no longer a member.`}
          then={async () => {
            if (!isSelf) return;
            // Reload the account first, so that the start page does not redirect back to this workspace.
            await loadAccount();
            navigate(paths.home());
          }}
        >
          <p>
            {isSelf ? "You lose" : `${email} loses`} access to this workspace. API keys keep working: revoke those that{" "}
            {isSelf ? "you" : "they"} have copied, too.
          </p>
        </RpcButton>
      </More>
    </>
  );
}

function linkOf(invited: Invited): VNode {
  return (
    <InvitedDialog {...invited}>
      The link can be used once and expires after 15 minutes. After that, make a new one here.
    </InvitedDialog>
  );
}
