import { useState } from "preact/hooks";
import type { TariffDraft } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { fieldError } from "../api/problem.ts";
import { putPiece } from "../api/documents.ts";
import { useAction } from "../api/use-action.ts";
import { Empty, Section } from "../ui/page.tsx";
import { Button } from "../ui/button.tsx";
import { Form } from "../ui/form.tsx";
import { bytesText } from "../ui/format.ts";
import { QueryView, Progress } from "../ui/query-view.tsx";
import { sentence, type ZoneFault } from "./draft-faults.ts";
import {
  markZone,
  TariffMap,
  useMarkedIndex,
  useZones,
  versionZonesPath,
} from "./tariff-zones.tsx";
import { toast } from "../ui/toast.tsx";
import type { ListedZone, ZoneDocument } from "./zone-document.ts";

/** Zones of more bytes are shown when they are asked for: they take a while, and memory. */
const SHOWN_BYTES = 8_000_000;

/** The zones of a draft over those in force, with their faults, and the way to import others. */
export function DraftZones(props: {
  readonly draft: TariffDraft;
  /** The version in force; undefined while there is none. */
  readonly inForce: number | undefined;
  readonly faults: readonly ZoneFault[];
  readonly mayChange: boolean;
  /** Called when the zones were changed, or may have been. */
  readonly changed: () => void;
}) {
  const { draft, inForce, faults, mayChange } = props;
  const [isWanted, setWanted] = useState(false);
  const bytes = Number(draft.zonesBytes);
  return (
    <Section title="Zones" actions={bytes > 0 && <Download id={draft.id} />}>
      {mayChange && <Import draft={draft} changed={props.changed} />}
      {bytes === 0 ? (
        <>
          <FaultList faults={faults} />
          <Empty title="No zones yet">
            {mayChange ? "Import them from a GeoJSON file." : "Whoever prepares it imports them."}
          </Empty>
        </>
      ) : bytes > SHOWN_BYTES && !isWanted ? (
        <>
          <FaultList faults={faults} />
          <Empty
            title={`The zones have ${bytesText(bytes)}`}
            action={<Button onClick={() => setWanted(true)}>Show them on the map</Button>}
          >
            It takes a while until they are loaded and drawn.
          </Empty>
        </>
      ) : (
        <Maps draft={draft} inForce={inForce} faults={faults} />
      )}
    </Section>
  );
}

function draftZonesPath(id: bigint): string {
  return `/admin/v1/tariff_drafts/${id}/zones`;
}

function Download({ id }: { readonly id: bigint }) {
  return (
    <a class="button" href={draftZonesPath(id)} download={`draft-${id}.geojson`}>
      Download GeoJSON
    </a>
  );
}

/** Puts a file in the place of the zones, and shows how far that is. */
function Import(props: { readonly draft: TariffDraft; readonly changed: () => void }) {
  const { draft, changed } = props;
  const [done, setDone] = useState<number>();
  const upload = useAction(async (form: FormData) => {
    const file = fileIn(form);
    try {
      await uploadZones(draft, file, setDone);
      markZone(undefined);
      toast(`Imported ${file.name}.`);
    } finally {
      setDone(undefined);
      changed();
    }
  });
  return (
    <div class="import">
      <Form action={upload} submit="Import">
        <label class="field">
          <span>GeoJSON file</span>
          <input type="file" name="data" accept=".geojson,.json,application/geo+json" />
          <span class="hint">
            A FeatureCollection of polygons, up to 64 MiB. It replaces the zones of the draft.
          </span>
        </label>
      </Form>
      {upload.isRunning && <Progress label="Importing" done={done} />}
    </div>
  );
}

/** The most bytes that the zones of a draft have. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * The file that was chosen.
 *
 * @throws ConnectError about `data` for none, and for one that would be refused after most of it is sent
 */
function fileIn(form: FormData): File {
  const file = form.get("data");
  if (!(file instanceof File) || file.name === "") throw fieldError("data", "Choose a file first.");
  if (file.size <= MAX_BYTES) return file;
  throw fieldError("data", `The file has ${bytesText(file.size)}; at most 64 MiB can be imported.`);
}

function Maps(props: {
  readonly draft: TariffDraft;
  readonly inForce: number | undefined;
  readonly faults: readonly ZoneFault[];
}) {
  const { draft, inForce, faults } = props;
  const own = useZones(draftZonesPath(draft.id), draft.etag);
  const others = useZones(inForce === undefined ? undefined : versionZonesPath(inForce));
  return (
    <QueryView query={own}>
      {(document) => (
        <QueryView query={others}>
          {(before) => (
            <TariffMap
              label="Zones of the draft over those in force"
              layers={[
                ...(inForce === undefined
                  ? []
                  : [
                      {
                        name: `In force (version ${inForce})`,
                        tone: "before" as const,
                        document: before,
                      },
                    ]),
                { name: "Draft", tone: "after", document },
              ]}
            >
              <Unreadable document={document} />
              <FaultList faults={faults} listed={document.listed} />
            </TariffMap>
          )}
        </QueryView>
      )}
    </QueryView>
  );
}

function Unreadable({ document }: { readonly document: ZoneDocument }) {
  if (document.isReadable) return null;
  return (
    <p class="problem">
      The zones cannot be shown: they are no GeoJSON FeatureCollection. Check the draft to see why.
    </p>
  );
}

/** The faults of zones, each of which can be shown on the map. */
function FaultList(props: {
  readonly faults: readonly ZoneFault[];
  readonly listed?: readonly ListedZone[];
}) {
  const { faults, listed = [] } = props;
  const marked = useMarkedIndex();
  if (faults.length === 0) return null;
  return (
    <ul class="problem faults" aria-label="Faults of the zones">
      {faults.map(({ path, text, index }) => {
        const zone = index === undefined ? undefined : listed[index];
        return (
          <li key={path + text}>
            <code>{path}</code> {zone && <strong>{zone.name}</strong>} {sentence(text)}{" "}
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

/** How many bytes go in one piece: enough that few calls are made, little enough to show progress. */
const PIECE_BYTES = 1024 * 1024;

/**
 * Puts a file in the place of a draft's zones, in pieces that follow each other. What was there is gone
 * from the first piece on.
 *
 * @param etag the draft's; refused when it is not any more
 * @param progress told the share that is done, from 0 to 1
 * @throws ConnectError with the service's words; what came before stays
 */
async function uploadZones(
  draft: { readonly id: bigint; readonly etag: string },
  file: Blob,
  progress: (done: number) => void,
): Promise<void> {
  let { etag } = draft;
  let offset = 0;
  do {
    progress(file.size === 0 ? 0 : offset / file.size);
    const piece = file.slice(offset, offset + PIECE_BYTES);
    const query = new URLSearchParams({ offset: String(offset), etag });
    const path = `/admin/v1/tariff_drafts/${draft.id}/zones?${query.toString()}`;
    const answer = (await putPiece(path, "application/geo+json", piece)) as UploadAnswer;
    etag = answer.data.etag;
    offset += piece.size;
  } while (offset < file.size);
}

interface UploadAnswer {
  readonly data: { readonly etag: string };
}
