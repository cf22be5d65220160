import { ReportService } from "../../../gen/shipments/v1/report_service_pb.js";
import type { Usage, UsageHour } from "../../../gen/shipments/v1/report_service_pb.js";
import { useRpc } from "../api/use-query.ts";
import { BarChart, type Point } from "../ui/charts.tsx";
import { dateOf, numberText } from "../ui/format.ts";
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
      <BarChart label="Calls by hour" points={hours.map(pointOf)} />
      <p class="hint">
        Limits hold for the whole workspace: a second’s calls, and how many may come at once after a
        rest. Calls refused for a limit are not counted. People on these pages count too.
      </p>
    </div>
  );
}

function pointOf({ startsAt, quote, read, write }: UsageHour): Point {
  const value = Number(quote + read + write);
  const label = startsAt === undefined ? "" : hourText(dateOf(startsAt));
  return { label, value, text: numberText(value) };
}

/** Such as `Nov 21, 7 PM`, in the reader's locale and time zone. */
function hourText(date: Date): string {
  return new Intl.DateTimeFormat(undefined, {
    month: "short",
    day: "numeric",
    hour: "numeric",
  }).format(date);
}
