import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import type { TariffDraft } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import {
  type GetTariffDraftSchedulesResponse,
  TariffService,
} from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useClient } from "../api/clients.ts";
import { reloadAll, useAction } from "../api/use-action.ts";
import { Button } from "../ui/button.tsx";
import { FieldGroup, SelectField } from "../ui/fields.tsx";
import { Form, useFormProblem } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { toast } from "../ui/toast.tsx";
import { problemOfFaults, problemOfSchedules, type SortedFaults } from "./draft-faults.ts";
import { ForeignNote, useDraftText, type NoteUnsaved, useNoteUnsaved } from "./draft-text.tsx";
import { ScheduleFields, TimeZones } from "./schedule-editor.tsx";
import {
  newSchedule,
  type ScheduleText,
  schedulesOfText,
  type SchedulesText,
  textOfSchedules,
} from "./schedule-fields.ts";
import { SchedulesView } from "./schedule-view.tsx";
import { FaultList } from "./tariff-draft-zones.tsx";
import { useRpc } from "../api/use-query.ts";

interface SchedulesProps {
  readonly draft: TariffDraft;
  readonly faults: SortedFaults["schedules"];
  readonly mayChange: boolean;
  readonly noteUnsaved: NoteUnsaved;
}

const SCHEDULES_FORM = "schedules-form";
const SAVE = "Save schedules";

export function DraftSchedules(props: SchedulesProps) {
  const { draft, faults } = props;
  const query = useRpc(TariffService.method.getTariffDraftSchedules, { draft: draft.id }, { version: draft.etag });
  return (
    <Section title="Schedules">
      <QueryView query={query}>
        {(loaded) =>
          props.mayChange ? (
            <SchedulesForm {...props} loaded={loaded} />
          ) : (
            <>
              <SchedulesView schedules={loaded.data!} />
              <FaultList label="Errors in schedules" faults={faults} />
            </>
          )
        }
      </QueryView>
    </Section>
  );
}

function SchedulesForm(props: SchedulesProps & { readonly loaded: GetTariffDraftSchedulesResponse }) {
  const { draft, faults } = props;
  const tariffs = useClient(TariffService);
  const { base, text, setText, isEdited, isForeign, discardEdits, keepEdits, noteSaved } = useDraftText(
    props.loaded,
    ({ data }) => textOfSchedules(data!),
  );
  const save = useAction(async () => {
    const { id } = draft;
    const request = { draft: id, etag: base.etag, schedules: schedulesOfText(text) };
    try {
      await tariffs.updateTariffDraft(request);
      noteSaved(await tariffs.getTariffDraftSchedules({ draft: id }), text);
      toast("Schedules saved.");
    } finally {
      reloadAll();
    }
  });
  const problem = useMemo(
    () => (save.problem ? problemOfSchedules(save.problem) : problemOfFaults(faults)),
    [save.problem, faults],
  );
  const shown = { id: SCHEDULES_FORM, submit: SAVE, isRunning: save.isRunning };
  useNoteUnsaved(props.noteUnsaved, shown, isEdited);
  return (
    <Form action={{ ...save, problem }} id={SCHEDULES_FORM} submit={SAVE}>
      <TimeZones />
      <Schedules text={text} change={setText} />
      {isForeign && <ForeignNote what="these schedules" discardEdits={discardEdits} keepEdits={keepEdits} />}
    </Form>
  );
}

const MAX_SCHEDULES = 100;

interface SchedulesFieldsProps {
  readonly text: SchedulesText;
  readonly change: (text: SchedulesText) => void;
}

function Schedules(props: SchedulesFieldsProps) {
  const { text, change } = props;
  const { schedules } = text;
  const problem = useFormProblem();
  const [, setShown] = useState(problem);
  // Rerender once: faults expand their sections, and those fields must mount before the remaining faults are shown.
  useLayoutEffect(() => setShown(problem), [problem]);
  const [open, setOpen] = useState<number | undefined>(() => (schedules.length === 1 ? schedules[0]!.key : undefined));
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
      <FieldGroup name="schedules" label="Named schedules" kind="rows" value={text}>
        {schedules.length === 0 && <p class="minor">None: times cannot be chosen.</p>}
        {schedules.map((schedule, i) => (
          <Schedule
            key={schedule.key}
            number={i + 1}
            schedule={schedule}
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
      <DefaultSchedule text={text} change={change} />
    </>
  );
}

function DefaultSchedule(props: SchedulesFieldsProps) {
  const { text, change } = props;
  const { schedules, default_schedule } = text;
  if (schedules.length === 0 && default_schedule === "") return null;
  const names = schedules.map(({ name }) => name).filter((name) => name !== "");
  const all = new Set([...names, ...(default_schedule === "" ? [] : [default_schedule])]);
  return (
    <SelectField
      name="default_schedule"
      label="Default schedule"
      value={default_schedule}
      choices={[["", "No schedule"], ...[...all].map((name) => [name, name] as const)]}
      onInput={(chosen) => change({ ...text, default_schedule: chosen })}
      hint="For zones without their own schedule. If not set, times cannot be chosen there."
    />
  );
}

/** A schedule, collapsed to its name until opened or until it has a fault. */
function Schedule(props: {
  readonly number: number;
  readonly schedule: ScheduleText;
  readonly isOpen: boolean;
  readonly toggle: (isOpen: boolean) => void;
  readonly change: (schedule: ScheduleText) => void;
  readonly remove: () => void;
}) {
  const { number, schedule, toggle } = props;
  const problem = useFormProblem();
  const isWrong = Object.keys(problem?.fields ?? {}).some((name) => name.startsWith(`${schedule.path}.`));
  const isOpen = props.isOpen || isWrong;
  const name = schedule.name || `Schedule ${number}`;
  return (
    <details
      class="schedule"
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open !== props.isOpen) toggle(currentTarget.open);
      }}
    >
      <summary>
        <strong>{name}</strong> <span class="minor">{schedule.time_zone}</span>
      </summary>
      {isOpen && (
        <>
          <ScheduleFields schedule={schedule} change={props.change} />
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
