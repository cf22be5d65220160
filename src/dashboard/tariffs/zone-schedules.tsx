import type { TariffDraft } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { getDocument } from "../api/documents.ts";
import { reloadAll, useAction } from "../api/use-action.ts";
import { DescriptionList } from "../ui/description-list.tsx";
import { SelectField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";
import { Form } from "../ui/form.tsx";
import { toast } from "../ui/toast.tsx";
import { zonesText } from "./tariff-zones.tsx";
import { uploadZones } from "./upload-zones.ts";
import { type ListedZone, withSchedule, type ZoneDocument } from "./zone-document.ts";
import { useRpc } from "../api/use-query.ts";

interface Props {
  readonly draft: TariffDraft;
  readonly path: string;
  readonly document: ZoneDocument;
  readonly mayChange: boolean;
}

/** Which zones of a draft name which schedule, and how to change that; nothing where there are no schedules. */
export function ZoneSchedules(props: Props) {
  const { draft, path, document, mayChange } = props;
  const { data: schedules } = useRpc(
    TariffService.method.getTariffDraftSchedules,
    { draft: draft.id },
    { version: draft.etag },
  );
  const data = schedules?.data;
  const set = useAction(async (form: FormData) => {
    const zone = textOf(form, "zone");
    const schedule = textOf(form, "schedule");
    try {
      const text = await getDocument(path, new AbortController().signal);
      const changedText = withSchedule(text, zone === "" ? undefined : Number(zone), schedule);
      await uploadZones(draft, new Blob([changedText]));
      toast("The zones are saved.");
    } finally {
      reloadAll();
    }
  });
  const names = (data?.schedules ?? []).map(({ name }) => name);
  const { listed } = document;
  if (names.length === 0 && listed.every(({ schedule }) => schedule === undefined)) return null;
  const usual = data?.defaultSchedule
    ? `${data.defaultSchedule}, as no other is named`
    : "No schedule";
  const bySchedule = Map.groupBy(listed, ({ schedule }) => schedule ?? usual);
  return (
    <div class="zone-schedules">
      <h3>Schedules of the zones</h3>
      <DescriptionList
        items={[...bySchedule].map(([schedule, zones]) => [schedule, namesText(zones)])}
      />
      {mayChange && names.length > 0 && (
        <Form action={set} submit="Set the schedule">
          <div class="field-row">
            <SelectField
              name="zone"
              label="Zone"
              choices={[
                ["", "All zones"],
                ...listed.map(({ index, name }) => [String(index), name] as const),
              ]}
            />
            <SelectField
              name="schedule"
              label="Its schedule"
              choices={[
                ["", data?.defaultSchedule ? "The default schedule" : "No schedule"],
                ...names.map((name) => [name, name] as const),
              ]}
            />
          </div>
        </Form>
      )}
    </div>
  );
}

const SHOWN = 12;

function namesText(zones: readonly ListedZone[]): string {
  const names = zones.slice(0, SHOWN).map(({ name }) => name);
  const more = zones.length - names.length;
  return names.join(", ") + (more > 0 ? ` and ${zonesText(more)} more` : "");
}
