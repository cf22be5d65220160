import { useRef, useState } from "preact/hooks";
import type { TariffDraft, TariffSchedules } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { fieldError } from "../api/problem.ts";
import { reloadAll, useAction } from "../api/use-action.ts";
import { Empty, Section, Progress } from "../ui/page.tsx";
import { Button } from "../ui/button.tsx";
import { Form } from "../ui/form.tsx";
import type { MapLayer } from "../map/map-view.ts";
import { bytesText } from "../ui/format.ts";
import { lazily } from "../ui/lazily.tsx";
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
import { loadZones, saveZones, uploadZones, zonesPath } from "./upload-zones.ts";
import { type ListedZone, withoutZone, withSchedule, withZonesOf, type ZoneDocument } from "./zone-document.ts";
import type { NoteUnsaved } from "./draft-text.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { Dialog, DialogButton } from "../ui/dialog.tsx";
import { Field, SelectField, TextAreaField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";

const ZoneForm = lazily(() => import("./zone-form.tsx"), "ZoneForm");

/** Maximum size of zones that are shown automatically, in bytes. Larger ones load slowly. */
const SHOWN_BYTES = 8_000_000;

interface DraftZonesProps {
  readonly draft: TariffDraft;
  readonly schedules: TariffSchedules;
  /** Version in force, or `undefined` if no tariff is published. */
  readonly inForce: number | undefined;
  readonly faults: readonly DraftFault[];
  readonly mayChange: boolean;
  readonly noteUnsaved: NoteUnsaved;
}

const FAULTS = "Errors in the zones";

/** Shows a draft's zones over those in force, with their faults, an editor and an import. */
export function DraftZones(props: DraftZonesProps) {
  const { draft, faults, mayChange } = props;
  const [isRequested, setRequested] = useState(false);
  const [edited, setEdited] = useState<Edited>();
  const bytes = Number(draft.zonesBytes);
  const isShown = bytes > 0 && (bytes <= SHOWN_BYTES || isRequested);
  return (
    <Section
      title="Zones"
      actions={
        edited === undefined && (
          <>
            {bytes > 0 && <Download path={zonesPath(draft)} name={`draft-${draft.id}`} />}
            {mayChange && <DialogButton dialog={<ImportDialog draft={draft} />}>Import…</DialogButton>}
            {mayChange && (isShown || bytes === 0) && <Button onClick={() => setEdited("new")}>Draw zone</Button>}
          </>
        )
      }
    >
      {!isShown && <FaultList label={FAULTS} faults={faults} />}
      {bytes === 0 && edited === undefined ? (
        <Empty title="No zones yet">{mayChange ? "Draw or import them." : "Operators draw or import them."}</Empty>
      ) : bytes > 0 && !isShown ? (
        <Empty
          title={`The zones take ${bytesText(bytes)}`}
          action={<Button onClick={() => setRequested(true)}>Show them on the map</Button>}
        >
          Loading and drawing them takes a while.
        </Empty>
      ) : (
        <DraftMap {...props} edited={edited} edit={setEdited} />
      )}
    </Section>
  );
}

/** Index of the edited zone, if any, or "new". */
type Edited = number | "new" | undefined;

function DraftMap(props: DraftZonesProps & { readonly edited: Edited; readonly edit: (edited: Edited) => void }) {
  const { draft, inForce, faults, mayChange, noteUnsaved, edited, edit } = props;
  const path = draft.zonesBytes > 0n ? zonesPath(draft) : undefined;
  const editor = (document: ZoneDocument, layers: readonly MapLayer[]) => (
    <ZoneForm
      {...{ draft, document, layers, noteUnsaved }}
      index={typeof edited === "number" ? edited : document.listed.length}
      close={() => edit(undefined)}
      keep={() => edited === "new" && edit(document.listed.length)}
    />
  );
  return (
    <TariffMap
      label="Draft zones over the zones in force"
      below={inForce ? layerInForce(inForce) : undefined}
      layer={{ name: "Draft", tone: "after", path, etag: draft.etag }}
      faults={faults}
      editor={edited === undefined ? undefined : editor}
    >
      {(document) => (
        <>
          {!document.isReadable && (
            <p class="problem">The zones are not a valid GeoJSON FeatureCollection. Check the draft for details.</p>
          )}
          {mayChange && <MarkedZone draft={draft} listed={document.listed} edit={edit} />}
          <FaultList label={FAULTS} faults={faults} listed={document.listed} />
          {document.isReadable && <ZoneSchedules {...props} document={document} />}
        </>
      )}
    </TariffMap>
  );
}

/** Buttons for the zone that is marked on the map. */
function MarkedZone(props: {
  readonly draft: TariffDraft;
  readonly listed: readonly ListedZone[];
  readonly edit: (index: number) => void;
}) {
  const { draft } = props;
  const zone = props.listed[useMarkedIndex() ?? -1];
  if (zone === undefined) return null;
  const { index, name } = zone;
  const remove = async () => {
    await saveZones(draft, withoutZone(await loadZones(draft), index)).finally(reloadAll);
    markZone(undefined);
    toast(`${name} deleted.`);
  };
  return (
    <div class="actions marked-zone">
      <strong>{name}</strong>
      <Button onClick={() => props.edit(index)}>Edit zone</Button>
      <DialogButton
        destructive
        dialog={<Dialog title={`Delete ${name}?`} submit="Delete zone" tone="danger" run={remove} />}
      >
        Delete…
      </DialogButton>
    </div>
  );
}

function layerInForce(version: number): TariffLayer {
  const name = `In force (version ${version})`;
  return { name, tone: "before", path: versionZonesPath(version) };
}

const IMPORT_MODES = [
  ["replace", "Replace all zones"],
  ["add", "Add to the zones"],
] as const;

/** Imports a file or pasted text. */
function ImportDialog({ draft }: { readonly draft: TariffDraft }) {
  const [done, setDone] = useState<number>();
  // Each chunk changes the etag, so a repeated import needs the one of the last chunk.
  const stored = useRef(draft);
  const noteDone = (share: number, etag: string) => {
    stored.current = { ...draft, etag };
    setDone(share);
  };
  const upload = async (form: FormData) => {
    const data = dataIn(form);
    try {
      if (textOf(form, "mode") === "add") await saveZones(stored.current, await joined(await loadZones(draft), data));
      else await uploadZones(stored.current, data, noteDone);
      markZone(undefined);
      toast(data instanceof File ? `Imported ${data.name}.` : "Imported the pasted text.");
    } finally {
      setDone(undefined);
      reloadAll();
    }
  };
  return (
    <Dialog title="Import zones" submit="Import" run={upload}>
      <Field name="data" label="GeoJSON file" hint="A FeatureCollection of polygons, up to 64 MiB.">
        {(input) => <input {...input} type="file" accept=".geojson,.json,application/geo+json" />}
      </Field>
      <TextAreaField name="text" label="Or paste GeoJSON" optional />
      <SelectField name="mode" label="Zones of the draft" choices={IMPORT_MODES} />
      {done !== undefined && <Progress label="Importing" done={done} />}
    </Dialog>
  );
}

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Returns the chosen file or the pasted text. Checks the size before the upload.
 *
 * @throws ConnectError about `data` if both are missing or the file is too large
 */
function dataIn(form: FormData): Blob {
  const file = form.get("data");
  const text = textOf(form, "text");
  if (!(file instanceof File) || file.name === "") {
    if (text !== "") return new Blob([text]);
    throw fieldError("data", "Choose a file or paste a text first.");
  }
  if (file.size <= MAX_BYTES) return file;
  throw fieldError("data", `The file has ${bytesText(file.size)}. The maximum is 64 MiB.`);
}

async function joined(text: string, added: Blob): Promise<string> {
  try {
    return withZonesOf(text, await added.text());
  } catch {
    throw fieldError("data", "Zones can be added only from one GeoJSON FeatureCollection to another.");
  }
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

/** Assigns schedules to a draft's zones. Hidden if the draft has no schedules. */
function ZoneSchedules(props: DraftZonesProps & { readonly document: ZoneDocument }) {
  const { draft, schedules, document, mayChange } = props;
  const set = useAction(async (form: FormData) => {
    const zone = textOf(form, "zone");
    const schedule = textOf(form, "schedule");
    try {
      const changedText = withSchedule(await loadZones(draft), zone === "" ? undefined : Number(zone), schedule);
      await saveZones(draft, changedText);
      toast("Zones saved.");
    } finally {
      reloadAll();
    }
  });
  const names = schedules.schedules.map(({ name }) => name);
  const { listed } = document;
  if (names.length === 0 && listed.every(({ schedule }) => schedule === undefined)) return null;
  const fallback = schedules.defaultSchedule ? `${schedules.defaultSchedule}, the default` : "No schedule";
  const bySchedule = Map.groupBy(listed, ({ schedule }) => schedule ?? fallback);
  return (
    <div class="zone-schedules">
      <h3>Schedules of the zones</h3>
      <DescriptionList items={[...bySchedule].map(([schedule, zones]) => [schedule, namesText(zones)])} />
      {mayChange && names.length > 0 && (
        <details>
          <summary>Change schedules</summary>
          <Form action={set} submit="Set schedule" tone="plain">
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
                  ["", schedules.defaultSchedule ? "The default schedule" : "No schedule"],
                  ...names.map((name) => [name, name] as const),
                ]}
              />
            </div>
          </Form>
        </details>
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
