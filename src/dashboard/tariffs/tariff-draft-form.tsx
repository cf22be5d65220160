import { useLayoutEffect, useMemo } from "preact/hooks";
import type { TariffDraft } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useClient } from "../api/clients.ts";
import { reloadAll, useAction } from "../api/use-action.ts";
import { feesOfText, fieldOf, gapBefore, textOfDraft, tierAfter, type TierText } from "./draft-fields.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Form, useRestoredRows } from "../ui/form.tsx";
import { TextField } from "../ui/fields.tsx";
import { ForeignNote, useDraftText, type NoteUnsaved, useNoteUnsaved } from "./draft-text.tsx";
import { problemOfDraft, problemOfFaults, type SortedFaults } from "./draft-faults.ts";
import { toast } from "../ui/toast.tsx";

const FEES_FORM = "fees-form";
const SAVE = "Save draft";

/** A form for a draft's name, fees and tiers. Faults are shown at their fields. */
export function DraftForm(props: {
  readonly draft: TariffDraft;
  readonly faults: SortedFaults["fees"];
  readonly noteUnsaved: NoteUnsaved;
}) {
  const { faults } = props;
  const { base, text, setText, isEdited, isForeign, discardEdits, keepEdits, noteSaved } = useDraftText(
    props.draft,
    textOfDraft,
  );
  const tariffs = useClient(TariffService);
  const save = useAction(async () => {
    const { id, etag } = base;
    const request = { draft: id, etag, name: text.name.trim(), fees: feesOfText(text) };
    try {
      noteSaved((await tariffs.updateTariffDraft(request)).data!, text);
      toast("Draft saved.");
    } finally {
      reloadAll();
    }
  });
  const problem = useMemo(
    () => (save.problem ? problemOfDraft(save.problem) : problemOfFaults(faults)),
    [save.problem, faults],
  );
  const field = fieldOf(text, setText);
  const shown = { id: FEES_FORM, submit: SAVE, isRunning: save.isRunning };
  useNoteUnsaved(props.noteUnsaved, shown, isEdited);
  return (
    <Form action={{ ...save, problem }} id={FEES_FORM} submit={SAVE}>
      <TextField {...field("name")} label="Name" />
      <div class="field-row">
        <TextField {...field("currency")} label="Currency" placeholder="USD" />
        <TextField {...field("base_fee")} label="Minimum charge" numeric placeholder="5.00" />
        <TextField {...field("rate_per_km")} label="Per kilometer" numeric placeholder="1.20" />
      </div>
      <Tiers tiers={text.tiers} change={(tiers) => setText({ ...text, tiers })} />
      {isForeign && <ForeignNote what="these fees" discardEdits={discardEdits} keepEdits={keepEdits} />}
    </Form>
  );
}

const MAX_TIERS = 1_000;

function Tiers(props: { readonly tiers: readonly TierText[]; readonly change: (tiers: readonly TierText[]) => void }) {
  const { tiers, change } = props;
  const restoredRows = useRestoredRows(/^tiers\[\d+\]\.min_kg$/);
  useLayoutEffect(() => {
    if (restoredRows > tiers.length) {
      change([...tiers, ...Array.from({ length: restoredRows - tiers.length }, () => tierAfter(undefined))]);
    }
  }, []);
  const swap = (i: number, j: number) => {
    change(tiers.with(i, tiers[j]!).with(j, tiers[i]!));
  };
  return (
    <fieldset class="tiers">
      <legend>Weight tiers</legend>
      {tiers.map((tier, i) => (
        <Tier
          key={tier.key}
          index={i}
          gap={gapBefore(tiers, i)}
          tier={tier}
          change={(next) => change(tiers.with(i, next))}
          remove={() => change(tiers.toSpliced(i, 1))}
          up={i > 0 ? () => swap(i, i - 1) : undefined}
          down={i < tiers.length - 1 ? () => swap(i, i + 1) : undefined}
        />
      ))}
      {tiers.length === 0 && <p class="minor">No tiers: no shipment can be priced.</p>}
      {tiers.length < MAX_TIERS && (
        <Button onClick={() => change([...tiers, tierAfter(tiers.at(-1))])}>Add tier</Button>
      )}
    </fieldset>
  );
}

const TIER_FIELDS = [
  ["min_kg", "Over, kg"],
  ["max_kg", "To, kg"],
  ["flat_fee", "Flat fee"],
  ["rate_per_kg", "Per kg"],
] as const;

function Tier(props: {
  readonly index: number;
  readonly gap: string | undefined;
  readonly tier: TierText;
  readonly change: (tier: TierText) => void;
  readonly remove: () => void;
  readonly up: (() => void) | undefined;
  readonly down: (() => void) | undefined;
}) {
  const { index, tier, change } = props;
  const number = index + 1;
  const field = fieldOf(tier, change, `tiers[${index}]`);
  return (
    <div class="tier" role="group" aria-label={`Tier ${number}`}>
      {props.gap && <p class="gap">No tier takes {props.gap}: such shipments cannot be booked.</p>}
      {TIER_FIELDS.map(([name, label]) => (
        <TextField key={name} {...field(name)} label={label} numeric />
      ))}
      <div class="tier-buttons">
        <IconButton quiet titled sign="↑" label={`Move tier ${number} up`} disabled={!props.up} onClick={props.up} />
        <IconButton
          quiet
          titled
          sign="↓"
          label={`Move tier ${number} down`}
          disabled={!props.down}
          onClick={props.down}
        />
        <IconButton quiet titled sign="×" label={`Remove tier ${number}`} onClick={props.remove} />
      </div>
    </div>
  );
}
