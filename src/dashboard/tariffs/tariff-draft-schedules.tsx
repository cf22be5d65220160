import { useLayoutEffect, useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { FieldGroup, SelectField } from "../ui/fields.tsx";
import { useFormProblem } from "../ui/form.tsx";
import { ScheduleFields, TimeZones, WeekSummary } from "./schedule-editor.tsx";
import { newSchedule, type ScheduleText, type SchedulesText } from "./schedule-fields.ts";

const MAX_SCHEDULES = 100;

interface SchedulesFieldsProps {
  readonly text: SchedulesText;
  readonly change: (text: SchedulesText) => void;
}

/** Fields of a draft's schedules. Each schedule is a summary until it is opened or has a fault. */
export function SchedulesFields(props: SchedulesFieldsProps) {
  const { text, change } = props;
  const { schedules } = text;
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
        {!isOpen && <WeekSummary week={schedule.week} />}
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
