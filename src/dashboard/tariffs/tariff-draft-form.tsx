import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import type { TariffVersion } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useCall } from "../api/clients.ts";
import { reloadAll, useAction } from "../api/use-action.ts";
import { useRpc } from "../api/use-query.ts";
import {
  changedHint,
  feesOfText,
  type FeesText,
  fieldOf,
  gapBefore,
  isSameText,
  type LoadedDraft,
  textOfDraft,
  textOfFees,
  tierAfter,
  type TierText,
  withSortedTiers,
} from "./draft-fields.ts";
import {
  schedulesOfText,
  newSchedule,
  type ScheduleText,
  type SchedulesText,
  textOfSchedules,
} from "./schedule-fields.ts";
import { Badge } from "../ui/description-list.tsx";
import { numberFrom } from "../ui/format.ts";
import { Section } from "../ui/page.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Form, useRestoredRows, useFormProblem } from "../ui/form.tsx";
import { TextField, FieldGroup, SelectField } from "../ui/fields.tsx";
import { ForeignNote, loadDraft, useDraftText, type NoteUnsaved, useNoteUnsaved } from "./draft-text.tsx";
import { problemOfDraft, problemOfFaults, type SortedFaults } from "./draft-faults.ts";
import { toast } from "../ui/toast.tsx";
import { ScheduleFields, TimeZones, WeekSummary } from "./schedule-editor.tsx";

const DRAFT_FORM = "draft-form";
const SAVE = "Save draft";

/** A form for a draft's name, fees, tiers and schedules. Faults are shown at their fields. */
export function DraftForm(props: {
  readonly loaded: LoadedDraft;
  readonly faults: SortedFaults;
  readonly noteUnsaved: NoteUnsaved;
  readonly inForce: TariffVersion | null | undefined;
}) {
  const { fees, schedules } = props.faults;
  const { base, text, setText, isEdited, isForeign, discardEdits, keepEdits, noteSaved } = useDraftText(
    props.loaded,
    textOfDraft,
  );
  const call = useCall();
  const save = useAction(async () => {
    const { id } = base.draft;
    const sent = withSortedTiers(text);
    setText(sent);
    const request = { draft: id, etag: base.etag, name: sent.name.trim(), fees: feesOfText(sent) };
    try {
      await call(TariffService.method.updateTariffDraft, { ...request, schedules: schedulesOfText(sent) });
      noteSaved(await loadDraft(call, id), sent);
      toast("Draft saved.");
    } finally {
      reloadAll();
    }
  });
  const problem = useMemo(
    () => (save.problem ? problemOfDraft(save.problem) : problemOfFaults([...fees, ...schedules])),
    [save.problem, fees, schedules],
  );
  const inForce = useTextInForce(props.inForce ?? undefined);
  const field = fieldOf(text, setText, undefined, inForce, inForce?.currency);
  useNoteUnsaved(props.noteUnsaved, { id: DRAFT_FORM, submit: SAVE, isRunning: save.isRunning }, isEdited);
  return (
    <Form action={{ ...save, problem }} id={DRAFT_FORM} submit={SAVE}>
      {isForeign && <ForeignNote discardEdits={discardEdits} keepEdits={keepEdits} />}
      <Section title="Fees and tiers">
        <div class="form">
          <TextField {...field("name")} label="Name" />
          <div class="field-row">
            <TextField {...field("currency")} label="Currency" placeholder="USD" />
            <TextField {...field("base_fee")} label="Minimum charge" numeric placeholder="5.00" />
            <TextField {...field("rate_per_km")} label="Per kilometer" numeric placeholder="1.20" />
          </div>
          <Tiers tiers={text.tiers} inForce={inForce} change={(tiers) => setText({ ...text, tiers })} />
        </div>
      </Section>
      <Section title="Schedules">
        <div class="form">
          <SchedulesFields {...{ text, inForce }} change={(changed) => setText({ ...text, ...changed })} />
        </div>
      </Section>
    </Form>
  );
}

/** Returns the fees in force as text, and the schedules in force once they are loaded. */
function useTextInForce({ version, fees }: Partial<TariffVersion> = {}) {
  const request = version ? { version } : undefined;
  const { data } = useRpc(TariffService.method.getTariffVersionSchedules, request, { version });
  return useMemo(() => fees && { ...textOfFees(fees), ...(data?.data && textOfSchedules(data.data)) }, [fees, data]);
}

const MAX_TIERS = 1_000;

interface TiersProps extends Pick<FeesText, "tiers"> {
  readonly inForce: FeesText | undefined;
  readonly change: (tiers: readonly TierText[]) => void;
}

function Tiers({ tiers, inForce, change }: TiersProps) {
  const restoredRows = useRestoredRows(/^tiers\[\d+\]\.min_kg$/);
  useLayoutEffect(() => {
    if (restoredRows > tiers.length) {
      change([...tiers, ...Array.from({ length: restoredRows - tiers.length }, () => tierAfter(undefined))]);
    }
  }, []);
  return (
    <fieldset class="tiers">
      <legend>Weight tiers</legend>
      {tiers.map((tier, i) => (
        <Tier
          key={tier.key}
          index={i}
          gap={gapBefore(tiers, i)}
          tier={tier}
          inForce={inForce}
          change={(next) => change(tiers.with(i, next))}
          remove={() => change(tiers.toSpliced(i, 1))}
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
  readonly inForce: FeesText | undefined;
  readonly change: (tier: TierText) => void;
  readonly remove: () => void;
}) {
  const { index, tier, inForce, change } = props;
  const number = index + 1;
  const start = numberFrom(tier.min_kg);
  const replaced = inForce?.tiers.find(({ min_kg }) => numberFrom(min_kg) === start);
  const field = fieldOf(tier, change, `tiers[${index}]`, replaced, inForce?.currency);
  return (
    <div class="tier" role="group" aria-label={`Tier ${number}`}>
      {props.gap && <p class="gap">No tier takes {props.gap}: such shipments cannot be booked.</p>}
      {TIER_FIELDS.map(([name, label]) => (
        <TextField key={name} {...field(name)} label={label} numeric />
      ))}
      <div class="tier-buttons">
        <IconButton quiet titled sign="×" label={`Remove tier ${number}`} onClick={props.remove} />
      </div>
    </div>
  );
}

const MAX_SCHEDULES = 100;

interface SchedulesFieldsProps {
  readonly text: SchedulesText;
  readonly inForce: Partial<SchedulesText> | undefined;
  readonly change: (text: SchedulesText) => void;
}

/** Fields of a draft's schedules. Each schedule is a summary until it is opened or has a fault. */
function SchedulesFields(props: SchedulesFieldsProps) {
  const { text, change } = props;
  const { schedules } = text;
  const inForce = props.inForce?.schedules;
  const problem = useFormProblem();
  const [, setShown] = useState(problem);
  // Rerender once: faults expand their sections, and those fields must mount before the remaining faults are shown.
  useLayoutEffect(() => setShown(problem), [problem]);
  const [open, setOpen] = useState<number>();
  const add = () => {
    const added = newSchedule(schedules.length === 0 ? "weekdays" : "");
    setOpen(added.key);
    const isFirst = schedules.length === 0;
    const default_schedule = isFirst ? added.name : text.default_schedule;
    change({ default_schedule, schedules: [...schedules, added] });
  };
  const replace = (i: number, next: ScheduleText) => {
    const { name } = schedules[i]!;
    // A renamed default schedule stays the default.
    const isDefault = name !== "" && text.default_schedule === name;
    change({
      default_schedule: isDefault ? next.name : text.default_schedule,
      schedules: schedules.with(i, next),
    });
  };
  return (
    <>
      <TimeZones />
      <FieldGroup
        name="schedules"
        label="Named schedules"
        kind="rows"
        value={text}
        hint={changedHint(inForce && namesOf(inForce).join(", "), namesOf(schedules).join(", "))}
      >
        {schedules.length === 0 && <p class="minor">None: times cannot be chosen.</p>}
        {schedules.map((schedule, i) => (
          <Schedule
            key={schedule.key}
            number={i + 1}
            schedule={schedule}
            inForce={inForce}
            isOpen={open === schedule.key}
            toggle={(isOpen) => setOpen(isOpen ? schedule.key : undefined)}
            change={(next) => replace(i, next)}
            remove={() => change({ ...text, schedules: schedules.toSpliced(i, 1) })}
          />
        ))}
        {schedules.length < MAX_SCHEDULES && (
          <div class="row-buttons">
            <Button onClick={add}>Add schedule</Button>
          </div>
        )}
      </FieldGroup>
      <DefaultSchedule {...props} />
    </>
  );
}

function namesOf(schedules: readonly ScheduleText[]): readonly string[] {
  return schedules.map(({ name }) => name).filter((name) => name !== "");
}

function DefaultSchedule({ text, inForce, change }: SchedulesFieldsProps) {
  const { schedules, default_schedule } = text;
  if (schedules.length === 0 && default_schedule === "") return null;
  const all = new Set([...namesOf(schedules), ...(default_schedule === "" ? [] : [default_schedule])]);
  return (
    <SelectField
      label="Default schedule"
      choices={[["", "No schedule"], ...[...all].map((name) => [name, name] as const)]}
      hint="For zones without their own schedule. If not set, times cannot be chosen there."
      {...fieldOf(text, change, undefined, inForce)("default_schedule")}
    />
  );
}

/** A schedule, collapsed to its name until opened or until it has a fault. */
function Schedule(props: {
  readonly number: number;
  readonly schedule: ScheduleText;
  readonly inForce: readonly ScheduleText[] | undefined;
  readonly isOpen: boolean;
  readonly toggle: (isOpen: boolean) => void;
  readonly change: (schedule: ScheduleText) => void;
  readonly remove: () => void;
}) {
  const { number, schedule, inForce, toggle } = props;
  const problem = useFormProblem();
  const isWrong = Object.keys(problem?.fields ?? {}).some((name) => name.startsWith(`${schedule.path}.`));
  const isOpen = props.isOpen || isWrong;
  const name = schedule.name || `Schedule ${number}`;
  const old = inForce?.find((other) => other.name === schedule.name);
  return (
    <details
      class="schedule"
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open !== props.isOpen) toggle(currentTarget.open);
      }}
    >
      <summary>
        <strong>{name}</strong> <span class="minor">{schedule.time_zone}</span>{" "}
        {inForce && !isSameText(old ?? {}, schedule) && <Badge tone="neutral">{old ? "Changed" : "New"}</Badge>}
        {!isOpen && <WeekSummary week={schedule.week} />}
      </summary>
      {isOpen && (
        <>
          <ScheduleFields {...{ schedule, inForce: old, change: props.change }} />
          <div class="row-buttons">
            <Button destructive onClick={props.remove} label={`Remove schedule ${name}`}>
              Remove schedule
            </Button>
          </div>
        </>
      )}
    </details>
  );
}
