import { MemberRole } from "../../../gen/shipments/v1/member_pb.js";
import { SecretDialog } from "../ui/dialog.tsx";

export const ROLE_CHOICES = [
  [String(MemberRole.VIEWER), "Viewer: sees everything"],
  [String(MemberRole.MEMBER), "Member: books and changes shipments too"],
  [String(MemberRole.ADMIN), "Admin: manages keys, webhooks and members too"],
] as const;

export interface Invited {
  readonly data?: { readonly email: string } | undefined;
  readonly signInPath: string;
  readonly mailed: boolean;
}

/** Shows a new member's invitation link, and whether the link was also sent by email. */
export function InvitedDialog(props: Invited & { /** How long the link works. */ readonly children: string }) {
  const { data, signInPath, mailed, children } = props;
  const { email } = data!;
  const link = location.origin + signInPath;
  return (
    <SecretDialog title={`A link for ${email}`} what="link" secret={link} isOptional={mailed}>
      {mailed && <p>An invitation was sent to {email}. You can also send this link yourself.</p>}
      <p>
        {!mailed && `Send it to ${email} yourself. `}Anyone who opens it is signed in as {email}. {children}
      </p>
    </SecretDialog>
  );
}
