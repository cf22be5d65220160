import type { TariffSchedules } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { DescriptionList } from "../ui/description-list.tsx";
import { dateText, exceptionText, partsOf } from "./schedule-words.ts";

export function SchedulesView(props: { readonly schedules: TariffSchedules }) {
  const { schedules, defaultSchedule } = props.schedules;
  if (schedules.length === 0) return <p class="minor">None: times cannot be chosen.</p>;
  return (
    <>
      {schedules.map((schedule, i) => (
        <details class="schedule" key={i} open={schedules.length === 1}>
          <summary>
            <strong>{schedule.name}</strong>
            {schedule.name === defaultSchedule && <span class="minor"> of all zones without a schedule</span>}
          </summary>
          <DescriptionList items={partsOf(schedule)} />
          {schedule.exceptions.length > 0 && (
            <>
              <h3>Exceptional dates</h3>
              <ul class="dates">
                {schedule.exceptions.map((exception, at) => (
                  <li key={at}>
                    <span>{dateText(exception.date)}</span> <span>{exceptionText(exception)}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </details>
      ))}
    </>
  );
}
