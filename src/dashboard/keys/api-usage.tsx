import type { RateLimit } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { ReportService } from "../../../gen/shipments/v1/report_service_pb.js";
import type { Usage, UsageHour } from "../../../gen/shipments/v1/report_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useQuery } from "../api/use-query.ts";
import { BarChart, type Point } from "../ui/charts.tsx";
import { dateOf, numberText } from "../ui/format.ts";
import { QueryView } from "../ui/query-view.tsx";
import { Section } from "../ui/page.tsx";

/** Methods that are limited together. */
interface CallClass {
  readonly name: "quote" | "read" | "write";
  readonly title: string;
  readonly limit: RateLimit | undefined;
  readonly hours: readonly UsageHour[];
}

/** How much the workspace called in the last 24 hours, beside how much it may. */
export function ApiUsage() {
  const reports = useClient(ReportService);
  const usage = useQuery((signal) => reports.getUsage({}, { signal }), [reports]);
  return (
    <Section title="Limits and use">
      <QueryView query={usage}>{({ data }) => data && <Shown usage={data} />}</QueryView>
    </Section>
  );
}

function Shown({ usage }: { readonly usage: Usage }) {
  const { quote, read, write, hours } = usage;
  const classes: readonly CallClass[] = [
    { name: "quote", title: "Quotes", limit: quote, hours },
    { name: "read", title: "Reads", limit: read, hours },
    { name: "write", title: "Changes", limit: write, hours },
  ];
  const total = hours.map((hour) => pointOf(hour, Number(hour.quote + hour.read + hour.write)));
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
          {classes.map((callClass) => (
            <ClassRow key={callClass.name} callClass={callClass} />
          ))}
        </tbody>
      </table>
      <h3>Calls by hour</h3>
      <BarChart label="Calls by hour" points={total} />
      <p class="hint">
        Limits hold for the whole workspace: a second’s calls, and how many may come at once after a
        rest. Calls refused for a limit are not counted. People on these pages count too.
      </p>
    </div>
  );
}

function ClassRow({ callClass }: { readonly callClass: CallClass }) {
  const { name, title, limit, hours } = callClass;
  return (
    <tr>
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
      <td>{numberText(lastOf(hours, name))}</td>
      <td>{numberText(sumOf(hours, name))}</td>
    </tr>
  );
}

function lastOf(hours: readonly UsageHour[], name: CallClass["name"]): number {
  return Number(hours.at(-1)?.[name] ?? 0);
}

function sumOf(hours: readonly UsageHour[], name: CallClass["name"]): number {
  return hours.reduce((sum, hour) => sum + Number(hour[name]), 0);
}

function pointOf({ startsAt }: UsageHour, value: number): Point {
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
