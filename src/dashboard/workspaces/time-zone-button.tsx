import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { zoneText } from "../ui/local-time.ts";
import { RpcButton } from "../ui/dialog.tsx";
import { SelectField } from "../ui/fields.tsx";

/** A button that sets a workspace's time zone. Proposes the browser's zone if none is set. */
export function TimeZoneButton<I extends DescMessage>(props: {
  readonly method: DescMethodUnary<I>;
  readonly request?: MessageInitShape<I>;
  readonly name: string;
  readonly timeZone: string;
  readonly then?: () => Promise<void>;
}) {
  const { name, timeZone, ...call } = props;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const all = new Set([timeZone, own, "UTC", ...Intl.supportedValuesOf("timeZone")]);
  return (
    <RpcButton
      {...call}
      button="Change time zone"
      title={`Time zone of ${name}`}
      submit="Change time zone"
      done="Time zone updated."
    >
      <p>The workspace’s pages show times in this time zone. The overview counts days in it, including past days.</p>
      <SelectField
        name="time_zone"
        label="Time zone"
        value={timeZone === "UTC" ? own : timeZone}
        choices={[...all].toSorted().map((zone) => [zone, zoneText(zone)])}
        hint={`This browser uses ${zoneText(own)}.`}
      />
    </RpcButton>
  );
}
