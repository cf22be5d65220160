import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { TariffDraft } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { fieldError } from "../api/problem.ts";
import { reloadAll, useAction } from "../api/use-action.ts";
import { areaKm2 } from "../map/area.ts";
import type { Zone } from "../map/map-geometry.ts";
import type { MapLayer } from "../map/map-view.ts";
import { MapPlaceholder } from "../map/map-placeholder.tsx";
import type { OutlineEditorProps } from "../map/outline-editor.tsx";
import {
  type CornerAddress,
  editOf,
  geometryOf,
  MIN_CORNERS,
  type Outline,
  outlineOf,
  reduceOutline,
} from "../map/outline.ts";
import { changeQuery } from "../routes/router.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { lazily } from "../ui/lazily.tsx";
import { toast, useShown } from "../ui/toast.tsx";
import { type NoteUnsaved, useNoteUnsaved } from "./draft-text.tsx";
import { areaText } from "./tariff-zones.tsx";
import { loadZones, saveZones } from "./upload-zones.ts";
import { readZoneDocument, withZone, type ZoneDocument } from "./zone-document.ts";

const LazyOutlineEditor = lazily(() => import("../map/outline-editor.tsx"), "OutlineEditor", <MapPlaceholder />);

const ZONE_FORM = "zone-form";
const SAVE = "Save zone";

/** A form for the name and the outline of one zone. Saving also checks the draft. */
export function ZoneForm(props: {
  readonly draft: TariffDraft;
  readonly document: ZoneDocument;
  readonly layers: readonly MapLayer[];
  /** Index of the zone in the document. The number of zones for a new one. */
  readonly index: number;
  readonly noteUnsaved: NoteUnsaved;
  readonly close: () => void;
  /** Called instead of `close` after saving if the zone was edited during the call. */
  readonly keep: () => void;
}) {
  const { draft, index, close } = props;
  const [before, setBefore] = useState(() => props.document.listed[index]);
  const geometry = before?.zone?.geometry;
  const [edit, dispatch] = useReducer(reduceOutline, geometry, (it) => editOf(it ? outlineOf(it) : []));
  const [name, setName] = useState(before?.name ?? `Zone ${index + 1}`);
  const [chosen, choose] = useState<CornerAddress>();
  const [outlineBefore, setOutlineBefore] = useState(edit.outline);
  const isEdited = edit.outline !== outlineBefore || (before !== undefined && name !== before.name);
  const latest = useRef({ outline: edit.outline, name });
  latest.current = { outline: edit.outline, name };
  const { isShown, noteError } = useShown(SAVE);
  const save = useAction(async () => {
    const next = completeGeometry(edit.outline);
    const text = await loadUnchanged(draft, index, geometry);
    const zone = { name: name.trim() === before?.name ? undefined : name.trim(), geometry: next };
    // A refused etag stays stale until the draft is loaded again.
    await saveZones(draft, withZone(text, index, zone))
      .catch(noteError)
      .finally(reloadAll);
    toast("Zone saved.");
    if (!isShown.current) return;
    changeQuery({ check: "on", zone: String(index) }, { replace: true });
    if (latest.current.outline === edit.outline && latest.current.name === name) return close();
    const saved = { type: "Feature", properties: { name: name.trim() }, geometry: next } as const;
    setBefore({ index, schedule: before?.schedule, name: name.trim(), zone: saved });
    setOutlineBefore(edit.outline);
    props.keep();
  });
  useNoteUnsaved(props.noteUnsaved, { id: ZONE_FORM, submit: SAVE, isRunning: save.isRunning }, isEdited);
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => form.current!.querySelector("input")!.focus(), []);
  const { layers, neighbors } = useOthers(props);
  return (
    <div ref={form} onKeyDown={(event) => undoByKey(event, dispatch)}>
      <Form action={save} id={ZONE_FORM} submit={SAVE}>
        <TextField name="name" label="Name of the zone" value={name} onInput={setName} />
        <div class="actions zone-tools">
          <Tools {...{ edit, dispatch, chosen }} />
          <Button onClick={close}>{isEdited ? "Discard changes" : "Close"}</Button>
        </div>
        <LazyOutlineEditor label="Outline of the zone" {...{ layers, neighbors, edit, dispatch, chosen, choose }} />
        <p role="status">{areaChangeText(geometry && areaKm2(geometry), areaKm2(geometryOf(edit.outline)))}</p>
        <DrawingHint isDrawn={edit.drawn !== undefined} />
      </Form>
    </div>
  );
}

function DrawingHint({ isDrawn }: { readonly isDrawn: boolean }) {
  return (
    <p class="hint">
      {isDrawn
        ? "Click or tap the map to add corners, or press Enter at its crosshair. A ring inside the zone is a hole."
        : "Drag a corner to move it, or a dot to add one. On a chosen corner, arrow keys move it, J and K choose " +
          "the next and the previous one, + adds one, and Delete removes it."}{" "}
      Corners snap to the borders of other zones.
    </p>
  );
}

function undoByKey(event: KeyboardEvent, dispatch: OutlineEditorProps["dispatch"]): void {
  const isUndo = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey);
  if (!isUndo || (event.target as Element).matches("input")) return;
  event.preventDefault();
  dispatch({ type: event.shiftKey ? "redo" : "undo" });
}

/** @throws ConnectError if the outline has no ring, or a ring with too few corners */
function completeGeometry(outline: Outline): Zone["geometry"] {
  if (outline.length > 0 && outline.every(({ corners }) => corners.length >= MIN_CORNERS)) return geometryOf(outline);
  throw fieldError("geometry", "A ring needs at least three corners.");
}

/**
 * Loads the text of a draft's zones.
 *
 * @throws ConnectError if the zone at the index no longer has this geometry
 */
async function loadUnchanged(draft: TariffDraft, index: number, geometry: Zone["geometry"] | undefined) {
  const text = await loadZones(draft);
  const current = readZoneDocument(text).listed[index]?.zone?.geometry;
  if (JSON.stringify(current) === JSON.stringify(geometry)) return text;
  throw fieldError("geometry", "Someone else has changed this zone. Discard your changes and edit it again.");
}

function Tools({ edit, dispatch, chosen }: Pick<OutlineEditorProps, "edit" | "dispatch" | "chosen">) {
  const isChosen = chosen && edit.outline[chosen.ring]?.corners[chosen.index] !== undefined;
  const drawn = edit.drawn === undefined ? undefined : edit.outline[edit.drawn];
  // A ring without corners is not in the outline.
  const isComplete = drawn === undefined || drawn.corners.length >= MIN_CORNERS;
  return (
    <>
      <Button disabled={edit.past.length === 0} onClick={() => dispatch({ type: "undo" })}>
        Undo
      </Button>
      <Button disabled={edit.future.length === 0} onClick={() => dispatch({ type: "redo" })}>
        Redo
      </Button>
      {edit.drawn === undefined ? (
        <Button onClick={() => dispatch({ type: "draw" })}>Add ring</Button>
      ) : (
        <Button disabled={!isComplete} onClick={() => dispatch({ type: "finish" })}>
          Finish ring
        </Button>
      )}
      <Button disabled={!isChosen} onClick={() => dispatch({ type: "remove", ...chosen! })}>
        Delete corner
      </Button>
    </>
  );
}

/** Returns the layers without the edited zone, and the other zones of the draft. */
function useOthers({ document, layers, index }: Parameters<typeof ZoneForm>[0]) {
  const neighbors = useMemo(() => {
    const features = document.listed.flatMap((listed) => (listed.zone && listed.index !== index ? [listed.zone] : []));
    return { type: "FeatureCollection" as const, features };
  }, [document, index]);
  return { neighbors, layers: [...layers.slice(0, -1), { ...layers.at(-1)!, zones: neighbors }] };
}

function areaChangeText(before: number | undefined, after: number): string {
  if (before === undefined || areaText(before) === areaText(after)) return areaText(after);
  const change = `${after > before ? "+" : "−"}${areaText(Math.abs(after - before))}`;
  return `${areaText(after)} (${change})`;
}
