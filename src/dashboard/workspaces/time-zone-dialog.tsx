import { Dialog } from "../ui/dialog.tsx";
import { SelectField, textOf } from "../ui/fields.tsx";
import { toast } from "../ui/toast.tsx";

/** Chooses the time zone of a workspace. */
export function TimeZoneDialog(props: {
  readonly name: string;
  readonly timeZone: string;
  /** Sets it, by its IANA name. */
  readonly change: (timeZone: string) => Promise<void>;
}) {
  const { name, timeZone, change } = props;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const all = new Set([timeZone, own, "UTC", ...Intl.supportedValuesOf("timeZone")]);
  const submit = async (form: FormData) => {
    await change(textOf(form, "time_zone"));
    toast("The time zone is changed.");
  };
  return (
    <Dialog title={`Time zone of ${name}`} submit="Change the time zone" run={submit}>
      <p>
        The days of the overview become the days there, those of the past too, and times on the
        pages of the workspace are shown as its clocks have them.
      </p>
      <SelectField
        name="time_zone"
        label="Time zone"
        value={timeZone}
        choices={[...all].toSorted().map((zone) => [zone, zone.replaceAll("_", " ")])}
        hint={`This browser’s is ${own.replaceAll("_", " ")}.`}
      />
    </Dialog>
  );
}
