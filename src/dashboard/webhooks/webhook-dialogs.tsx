import { useContext, useState } from "preact/hooks";
import type { Webhook } from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { hasRole, useWorkspace, WorkspaceId } from "../api/session.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { numberOf, OverlapField } from "../ui/fields.tsx";
import { toast } from "../ui/toast.tsx";
import { WebhookFields, webhookOf } from "./webhook-fields.tsx";
import { WebhookSecretDialog } from "./webhook-secret-dialog.tsx";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";

/** What is asked for in a dialog. */
type Asked = "edit" | "switch" | "rotate" | "delete" | { readonly secret: string };

interface Props {
  readonly webhook: Webhook;
  /** Called when the webhook is another than before, or was sent something. */
  readonly changed: () => void;
}

/** What can be done with a webhook, by the reader's role. */
export function WebhookActions({ webhook, changed }: Props) {
  const workspace = useWorkspace();
  const [asked, ask] = useState<Asked>();
  const button = (what: Asked, label: string) => (
    <button type="button" class="button" onClick={() => ask(what)}>
      {label}
    </button>
  );
  return (
    <>
      {hasRole(workspace, "admin") && (
        <>
          {button("delete", "Delete")}
          {button("rotate", "Rotate secret")}
          {button("switch", webhook.enabled ? "Disable" : "Enable")}
          {button("edit", "Edit")}
        </>
      )}
      {hasRole(workspace, "member") && webhook.enabled && (
        <TestButton webhook={webhook} changed={changed} />
      )}
      <AskedDialog webhook={webhook} changed={changed} asked={asked} ask={ask} />
    </>
  );
}

function TestButton({ webhook, changed }: Props) {
  const webhooks = useClient(WebhookService);
  const test = useAction(async () => {
    await webhooks.testWebhook({ webhook: webhook.id });
    toast("A test event is sent.");
    changed();
  });
  return (
    <>
      <button
        type="button"
        class="button primary"
        aria-busy={test.isRunning}
        onClick={() => void test.run()}
      >
        Send a test
      </button>
      {test.problem && (
        <p class="field-error" role="alert">
          {test.problem.message}
        </p>
      )}
    </>
  );
}

interface DialogProps extends Props {
  readonly ask: (asked: Asked | undefined) => void;
}

function AskedDialog(props: DialogProps & { readonly asked: Asked | undefined }) {
  const { asked, ask } = props;
  if (typeof asked === "object") {
    return <WebhookSecretDialog secret={asked.secret} close={() => ask(undefined)} />;
  }
  if (asked === "edit") return <EditDialog {...props} />;
  if (asked === "switch") return <SwitchDialog {...props} />;
  if (asked === "rotate") return <RotateDialog {...props} />;
  if (asked === "delete") return <DeleteDialog {...props} />;
  return null;
}

function EditDialog({ webhook, changed, ask }: DialogProps) {
  const webhooks = useClient(WebhookService);
  const edit = useAction(async (form: FormData) => {
    await webhooks.updateWebhook({ webhook: webhook.id, ...webhookOf(form) });
    toast("The webhook is changed.");
    ask(undefined);
    changed();
  });
  return (
    <FormDialog title="Edit the webhook" action={edit} submit="Save" close={() => ask(undefined)}>
      <WebhookFields webhook={webhook} />
    </FormDialog>
  );
}

function SwitchDialog({ webhook, changed, ask }: DialogProps) {
  const { id, enabled } = webhook;
  const webhooks = useClient(WebhookService);
  const change = useAction(async () => {
    await webhooks.updateWebhook({ webhook: id, enabled: !enabled });
    toast(enabled ? "The webhook is disabled." : "The webhook is enabled.");
    ask(undefined);
    changed();
  });
  return (
    <FormDialog
      title={enabled ? "Disable the webhook" : "Enable the webhook"}
      action={change}
      submit={enabled ? "Disable the webhook" : "Enable the webhook"}
      tone={enabled ? "danger" : "primary"}
      close={() => ask(undefined)}
    >
      <p>
        {enabled
          ? "Nothing is sent to it until it is enabled, and what waits to be sent is given up."
          : "New events are sent to it from now on, and earlier failures are forgotten. What it missed can be sent again, event by event."}
      </p>
    </FormDialog>
  );
}

function RotateDialog({ webhook, changed, ask }: DialogProps) {
  const webhooks = useClient(WebhookService);
  const once = useIdempotencyOptions();
  const rotate = useAction(async (form: FormData) => {
    const overlapSeconds = numberOf(form, "overlap_seconds");
    const { secret } = await webhooks.rotateWebhookSecret(
      { webhook: webhook.id, overlapSeconds },
      once,
    );
    ask({ secret });
    changed();
  });
  return (
    <FormDialog
      title="Rotate the secret"
      action={rotate}
      submit="Make a new secret"
      close={() => ask(undefined)}
    >
      <OverlapField
        label="The old secret ends"
        hint="Messages are signed with both until then, so that your receiver can change over."
        value={86_400}
      />
    </FormDialog>
  );
}

function DeleteDialog({ webhook, ask }: DialogProps) {
  const workspace = useContext(WorkspaceId)!;
  const webhooks = useClient(WebhookService);
  const remove = useAction(async () => {
    await webhooks.deleteWebhook({ webhook: webhook.id });
    toast("The webhook is deleted.");
    navigate(paths.webhooks({ workspace }));
  });
  return (
    <FormDialog
      title="Delete the webhook"
      action={remove}
      submit="Delete the webhook"
      tone="danger"
      close={() => ask(undefined)}
    >
      <p>
        Nothing is sent to <code>{webhook.url}</code> any more, and its deliveries are forgotten.
        This cannot be undone.
      </p>
    </FormDialog>
  );
}
