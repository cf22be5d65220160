import { useState } from "preact/hooks";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import type { TariffVersion } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useClient } from "../api/clients.ts";
import type { Problem } from "../api/problem.ts";
import { useOperatorRole } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { optionalTextOf, TextAreaField } from "../ui/fields.tsx";
import { Time } from "../ui/values.tsx";
import { toast } from "../ui/toast.tsx";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";

/** Calls off a version that is scheduled, after asking; nothing for who may not. */
export function CallOff(props: { readonly version: TariffVersion; readonly done: () => void }) {
  const { version, effectiveAt } = props.version;
  const tariffs = useClient(TariffService);
  const [isOpen, setOpen] = useState(false);
  const callOff = useAction(async () => {
    await tariffs.callOffTariff({ version });
    setOpen(false);
    toast(`Version ${version} is called off.`);
    props.done();
  });
  if (!useOperatorRole(OperatorRole.OPERATOR)) return null;
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen(true)}>
        Call off…
      </button>
      {isOpen && (
        <FormDialog
          title={`Call off version ${version}?`}
          action={callOff}
          submit="Call it off"
          tone="danger"
          close={() => setOpen(false)}
        >
          <p>
            It will not take effect <Time at={effectiveAt} exact />. The version in force stays. It
            stays listed, and a draft can be made of it.
          </p>
        </FormDialog>
      )}
    </>
  );
}

/** Publishes a version again in the place of the one in force, after asking; nothing for who may not. */
export function RollBack(props: {
  readonly version: number;
  readonly inForce: number;
  /** Called when another version is in force by now. */
  readonly replaced: () => void;
}) {
  const { version, inForce } = props;
  const tariffs = useClient(TariffService);
  const [isOpen, setOpen] = useState(false);
  const rollBack = useAction(async (form: FormData) => {
    const note = optionalTextOf(form, "note");
    try {
      const { data, published } = await tariffs.rollBackTariff({
        version,
        replaces: inForce,
        note,
      });
      toast(publishedText(data!.version, published));
    } catch (error) {
      props.replaced();
      throw error;
    }
    setOpen(false);
    navigate(paths.tariff({}));
  });
  if (!useOperatorRole(OperatorRole.OPERATOR)) return null;
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen(true)}>
        Roll back to this…
      </button>
      {isOpen && (
        <FormDialog
          title={`Roll back to version ${version}?`}
          action={rollBack}
          submit="Roll back now"
          tone="danger"
          close={() => setOpen(false)}
        >
          <p>
            Version {version} is published again as the next version, in the place of version{" "}
            {inForce}. It takes effect at once.
          </p>
          <NoteField />
          <ReplacedNote problem={rollBack.problem} version={version} />
        </FormDialog>
      )}
    </>
  );
}

/** Why a version is published. */
export function NoteField() {
  return (
    <TextAreaField name="note" label="Note" hint="Why, for those who read it later." optional />
  );
}

/** Where to look when another version is in force by now than the one that was to be replaced. */
export function ReplacedNote(props: {
  readonly problem: Problem | undefined;
  /** The version to compare with; undefined for a draft, which is on a page of its own. */
  readonly version?: number;
}) {
  const current = props.problem?.facts.version_in_force;
  if (props.problem?.reason !== "TARIFF_REPLACED" || current === undefined) return null;
  const href =
    props.version === undefined
      ? paths.tariffVersion({ version: current })
      : paths.tariffComparison({}, { from_version: current, to_version: String(props.version) });
  return (
    <p>
      <a href={href} target="_blank" rel="noreferrer">
        Look at what is in force by now (version {current})
      </a>{" "}
      before you go on: the button replaces it now.
    </p>
  );
}

/** What became of publishing. */
export function publishedText(version: number, published: boolean): string {
  return published
    ? `Version ${version} is in force.`
    : `Version ${version}, which is in force, says the same: nothing was published.`;
}
