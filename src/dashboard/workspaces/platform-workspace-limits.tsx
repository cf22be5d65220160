import type { MessageInitShape } from "@bufbuild/protobuf";
import { useState } from "preact/hooks";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import {
  WorkspaceAdminService,
  type AdminWorkspace,
  type NewRateLimitSchema,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useOperatorRole } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { numberOf, TextField } from "../ui/fields.tsx";
import { numberText } from "../ui/format.ts";
import { Section } from "../ui/page.tsx";
import { toast } from "../ui/toast.tsx";

/** What calls of each class are. */
const CLASSES = [
  ["quote", "Quotes"],
  ["read", "Reads"],
  ["write", "Writes"],
] as const;

interface ActionProps {
  readonly workspace: AdminWorkspace;
  /** Called when something was changed. */
  readonly changed: () => void;
}

type DialogProps = ActionProps & { readonly close: () => void };

/** How often a workspace may call, as operators see and change it. */
export function PlatformWorkspaceLimits({ workspace, changed }: ActionProps) {
  const { limits } = workspace;
  return (
    <Section title="Limits" actions={<LimitsButton workspace={workspace} changed={changed} />}>
      <DescriptionList
        items={CLASSES.map(([name, label]) => {
          const limit = limits?.[name];
          return [
            label,
            limit &&
              `${numberText(limit.rate)} a second, ${numberText(limit.burst)} at once after a rest`,
          ];
        })}
      />
    </Section>
  );
}

function LimitsButton({ workspace, changed }: ActionProps) {
  const [isAsking, setAsking] = useState(false);
  if (!useOperatorRole(OperatorRole.OPERATOR)) return null;
  return (
    <>
      <button type="button" class="button" onClick={() => setAsking(true)}>
        Change limits
      </button>
      {isAsking && (
        <LimitsDialog workspace={workspace} changed={changed} close={() => setAsking(false)} />
      )}
    </>
  );
}

function LimitsDialog({ workspace, changed, close }: DialogProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const update = useAction(async (form: FormData) => {
    const [quote, read, write] = CLASSES.map(([name]) => limitOf(form, name));
    await workspaces.updateWorkspaceLimits({ workspace: workspace.id, quote, read, write });
    toast("The limits are changed.");
    close();
    changed();
  });
  return (
    <FormDialog
      title={`Limits of ${workspace.name}`}
      action={update}
      submit="Change the limits"
      close={close}
    >
      <p>
        Calls above a limit are answered with 429. So many at once are taken after a rest: twice as
        many as in a second when that is left empty.
      </p>
      {CLASSES.map(([name, label]) => (
        <div key={name} class="field-row">
          <TextField
            name={`${name}.rate`}
            label={`${label} a second`}
            numeric
            value={workspace.limits?.[name]?.rate}
          />
          <TextField
            name={`${name}.burst`}
            label={`${label} at once`}
            numeric
            optional
            value={workspace.limits?.[name]?.burst}
          />
        </div>
      ))}
    </FormDialog>
  );
}

/** Without a burst the service takes twice the rate. */
function limitOf(form: FormData, name: string): MessageInitShape<typeof NewRateLimitSchema> {
  const burst = wholeNumberOf(form, `${name}.burst`);
  return { rate: wholeNumberOf(form, `${name}.rate`), burst };
}

/** 0 for what is no whole number that a message can hold; the service refuses that. */
function wholeNumberOf(form: FormData, name: string): number | undefined {
  const number = numberOf(form, name);
  if (number === undefined) return undefined;
  return Number.isInteger(number) && Math.abs(number) < 2 ** 31 ? number : 0;
}
