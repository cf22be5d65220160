import { SecretDialog } from "../ui/dialog.tsx";

/** Shows the new secret of a webhook. */
export function WebhookSecretDialog(props: {
  readonly secret: string;
  readonly close: () => void;
}) {
  return (
    <SecretDialog title="The webhook’s secret" what="secret" {...props}>
      <p>
        Every message is signed with it, by Standard Webhooks: your receiver checks the header{" "}
        <code>webhook-signature</code> with it before it believes a message.
      </p>
    </SecretDialog>
  );
}
