import { ReportService } from "../../../gen/shipments/v1/report_service_pb.js";
import type { Usage, UsageHour } from "../../../gen/shipments/v1/report_service_pb.js";
import { useTimeZone } from "../api/session.ts";
import { useRpc } from "../api/use-query.ts";
import { LineChart, type LinePoint } from "../ui/charts.tsx";
import { compactText, dateOf, numberText } from "../ui/format.ts";
import { localTime } from "../ui/local-time.ts";
import { Section } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";

/** Methods that are limited together. */
const CLASSES = [
  ["quote", "Quotes"],
  ["read", "Reads"],
  ["write", "Changes"],
] as const;

/** How much the workspace called in the last 24 hours, beside how much it may. */
export function ApiUsage() {
  const usage = useRpc(ReportService.method.getUsage, {});
  return (
    <Section title="Limits and use">
      <QueryView query={usage}>{({ data }) => data && <Shown usage={data} />}</QueryView>
    </Section>
  );
}

function Shown({ usage }: { readonly usage: Usage }) {
  const { hours } = usage;
  const timeZone = useTimeZone();
  return (
    <div class="form">
      <table class="sum" aria-label="Limits and use">
        <thead>
          <tr>
            <th scope="col">Calls</th>
            <th scope="col">Limit</th>
            <th scope="col">This hour</th>
            <th scope="col">24 hours</th>
          </tr>
        </thead>
        <tbody>
          {CLASSES.map(([name, title]) => {
            const limit = usage[name];
            const calls = hours.map((hour) => Number(hour[name]));
            return (
              <tr key={name}>
                <th scope="row">{title}</th>
                <td>
                  {limit && (
                    <>
                      {numberText(limit.rate)} a second
                      <br />
                      <span class="minor">{numberText(limit.burst)} at once</span>
                    </>
                  )}
                </td>
                <td>{numberText(calls.at(-1) ?? 0)}</td>
                <td>{numberText(calls.reduce((sum, count) => sum + count, 0))}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <h3>Calls by hour</h3>
      <LineChart
        label="Calls by hour"
        points={hours.map((hour) => pointOf(hour, timeZone))}
        tickText={compactText}
        isWhole
        size="small"
      />
      <p class="hint">
        Limits hold for the whole workspace: a second’s calls, and how many may come at once after a
        rest. Calls refused for a limit are not counted. People on these pages count too.
      </p>
    </div>
  );
}

function pointOf(usage: UsageHour, timeZone: string | undefined): LinePoint {
  const { startsAt, quote, read, write } = usage;
  const value = Number(quote + read + write);
  const date = dateOf(startsAt!);
  const hour = localTime(date, timeZone);
  return { label: hourText(date, timeZone), short: hour, value, text: numberText(value) };
}

/** Such as `Nov 21, 7 PM`, in the reader's locale and the workspace's time zone; with minutes where its hours are off. */
function hourText(date: Date, timeZone: string | undefined): string {
  return new Intl.DateTimeFormat(undefined, {
    month: "short",
    day: "numeric",
    hour: "numeric",
    ...(localTime(date, timeZone).endsWith(":00") ? {} : { minute: "numeric" }),
    timeZone,
  }).format(date);
}
