import { SecretDialog } from "./dialog.tsx";

export interface Invited {
  readonly data?: { readonly email: string } | undefined;
  readonly signInPath: string;
  readonly mailed: boolean;
}

/** Hands over the link of somebody who is invited, and says whether they get one by mail too. */
export function InvitedDialog({
  data,
  signInPath,
  mailed,
  children,
}: Invited & { /** How long the link works. */ readonly children: string }) {
  const { email } = data!;
  const link = location.origin + signInPath;
  return (
    <SecretDialog title={`A link for ${email}`} what="link" secret={link} isOptional={mailed}>
      {mailed && (
        <p>
          An invitation is on its way to {email}. If you would rather hand them a link yourself,
          here is one.
        </p>
      )}
      <p>
        {!mailed && `Send it to ${email} yourself. `}Whoever opens it is signed in as {email}.{" "}
        {children}
      </p>
    </SecretDialog>
  );
}
