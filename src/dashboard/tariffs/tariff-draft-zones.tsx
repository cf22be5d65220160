import { useState } from "preact/hooks";
import type { TariffDraft } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { fieldError } from "../api/problem.ts";
import { reloadAll, useAction } from "../api/use-action.ts";
import { Empty, Section } from "../ui/page.tsx";
import { Button } from "../ui/button.tsx";
import { Form } from "../ui/form.tsx";
import { bytesText } from "../ui/format.ts";
import { Progress } from "../ui/query-view.tsx";
import { pathText, sentence, type DraftFault } from "./draft-faults.ts";
import {
  Download,
  markZone,
  type TariffLayer,
  TariffMap,
  useMarkedIndex,
  versionZonesPath,
  zonesText,
} from "./tariff-zones.tsx";
import { toast } from "../ui/toast.tsx";
import { uploadZones } from "./upload-zones.ts";
import { type ListedZone, withSchedule, type ZoneDocument } from "./zone-document.ts";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { getDocument } from "../api/documents.ts";
import { DescriptionList } from "../ui/description-list.tsx";
import { SelectField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";
import { useRpc } from "../api/use-query.ts";

/** Maximum size of zones that are shown automatically, in bytes. Larger ones load slowly. */
const SHOWN_BYTES = 8_000_000;

/** Shows a draft's zones over those in force, with their faults and an import. */
export function DraftZones(props: {
  readonly draft: TariffDraft;
  /** Version in force, or `undefined` if no tariff is published. */
  readonly inForce: number | undefined;
  readonly faults: readonly DraftFault[];
  readonly mayChange: boolean;
}) {
  const { draft, inForce, faults, mayChange } = props;
  const [isRequested, setRequested] = useState(false);
  const bytes = Number(draft.zonesBytes);
  const path = `/admin/v1/tariff_drafts/${draft.id}/zones`;
  const faultList = { label: "Errors in the zones", faults };
  const isShown = bytes > 0 && (bytes <= SHOWN_BYTES || isRequested);
  return (
    <Section title="Zones" actions={bytes > 0 && <Download path={path} name={`draft-${draft.id}`} />}>
      {mayChange && <Import draft={draft} />}
      {!isShown && <FaultList {...faultList} />}
      {bytes === 0 ? (
        <Empty title="No zones yet">{mayChange ? "Import them from a GeoJSON file." : "Operators import them."}</Empty>
      ) : !isShown ? (
        <Empty
          title={`The zones take ${bytesText(bytes)}`}
          action={<Button onClick={() => setRequested(true)}>Show them on the map</Button>}
        >
          Loading and drawing them takes a while.
        </Empty>
      ) : (
        <TariffMap
          label="Draft zones over the zones in force"
          below={inForce ? layerInForce(inForce) : undefined}
          layer={{ name: "Draft", tone: "after", path, etag: draft.etag }}
        >
          {(document) => (
            <>
              {!document.isReadable && (
                <p class="problem">The zones are not a valid GeoJSON FeatureCollection. Check the draft for details.</p>
              )}
              <FaultList {...faultList} listed={document.listed} />
              {document.isReadable && <ZoneSchedules {...props} path={path} document={document} />}
            </>
          )}
        </TariffMap>
      )}
    </Section>
  );
}

function layerInForce(version: number): TariffLayer {
  const name = `In force (version ${version})`;
  return { name, tone: "before", path: versionZonesPath(version) };
}

function Import(props: { readonly draft: TariffDraft }) {
  const { draft } = props;
  const [done, setDone] = useState<number>();
  const upload = useAction(async (form: FormData) => {
    const file = fileIn(form);
    try {
      await uploadZones(draft, file, setDone);
      markZone(undefined);
      toast(`Imported ${file.name}.`);
    } finally {
      setDone(undefined);
      reloadAll();
    }
  });
  return (
    <div class="inline-form">
      <Form action={upload} submit="Import">
        <label class="field">
          <span>GeoJSON file</span>
          <input type="file" name="data" accept=".geojson,.json,application/geo+json" />
          <span class="hint">A FeatureCollection of polygons, up to 64 MiB. It replaces the zones of the draft.</span>
        </label>
      </Form>
      {upload.isRunning && <Progress label="Importing" done={done} />}
    </div>
  );
}

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Returns the chosen file. Checks the size before the upload.
 *
 * @throws ConnectError about `data` if the file is missing or too large
 */
function fileIn(form: FormData): File {
  const file = form.get("data");
  if (!(file instanceof File) || file.name === "") throw fieldError("data", "Choose a file first.");
  if (file.size <= MAX_BYTES) return file;
  throw fieldError("data", `The file has ${bytesText(file.size)}. The maximum is 64 MiB.`);
}

export function FaultList(props: {
  readonly label: string;
  readonly faults: readonly DraftFault[];
  readonly listed?: readonly ListedZone[];
}) {
  const { faults, listed = [] } = props;
  const marked = useMarkedIndex();
  if (faults.length === 0) return null;
  return (
    <ul class="problem faults" tabIndex={-1} aria-label={props.label}>
      {faults.map(({ path, text, index }) => {
        const zone = index === undefined ? undefined : listed[index];
        return (
          <li key={path + text}>
            <strong>{zone?.name ?? pathText(path)}:</strong> {sentence(text)}{" "}
            {zone?.zone && (
              <button
                type="button"
                class="button"
                aria-pressed={index === marked}
                onClick={() => markZone(index === marked ? undefined : index)}
              >
                Show on the map
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}

interface Props {
  readonly draft: TariffDraft;
  readonly path: string;
  readonly document: ZoneDocument;
  readonly mayChange: boolean;
}

/** Assigns schedules to a draft's zones. Hidden if the draft has no schedules. */
function ZoneSchedules(props: Props) {
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
      toast("Zones saved.");
    } finally {
      reloadAll();
    }
  });
  const names = (data?.schedules ?? []).map(({ name }) => name);
  const { listed } = document;
  if (names.length === 0 && listed.every(({ schedule }) => schedule === undefined)) return null;
  const fallback = data?.defaultSchedule ? `${data.defaultSchedule}, the default` : "No schedule";
  const bySchedule = Map.groupBy(listed, ({ schedule }) => schedule ?? fallback);
  return (
    <div class="zone-schedules">
      <h3>Schedules of the zones</h3>
      <DescriptionList items={[...bySchedule].map(([schedule, zones]) => [schedule, namesText(zones)])} />
      {mayChange && names.length > 0 && (
        <Form action={set} submit="Set schedule">
          <div class="field-row">
            <SelectField
              name="zone"
              label="Zone"
              choices={[["", "All zones"], ...listed.map(({ index, name }) => [String(index), name] as const)]}
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
