import type { ApiKey } from "../../../gen/shipments/v1/api_key_pb.js";
import { ApiKeyService } from "../../../gen/shipments/v1/api_key_service_pb.js";
import { useRole, useIsTest, useTimeZone } from "../api/session.ts";
import { useRpc, useQuery } from "../api/use-query.ts";
import { DialogButton } from "../ui/dialog.tsx";
import { Empty, Page, Section, QueryView } from "../ui/page.tsx";
import { SumTable } from "../ui/sum-table.tsx";
import { ListView } from "../ui/table.tsx";
import {
  actionsColumn,
  API_KEY_COLUMNS,
  API_KEY_FIELDS,
  CALL_CLASSES,
  keyCall,
  createDialog,
  KeyText,
  keyTitle,
  LastUse,
  type KeyOwner,
} from "./key-table.tsx";
import { grpcAddress } from "../api/sign-in.ts";
import { Code } from "../ui/values.tsx";
import { ReportService, type Usage, type UsageHour } from "../../../gen/shipments/v1/report_service_pb.js";
import { LineChart, type LinePoint } from "../ui/charts.tsx";
import { compactText, dateOf, numberText, rateText } from "../ui/format.ts";
import { localTime } from "../ui/local-time.ts";
import { dateFormat } from "../ui/intl.ts";

export function ApiKeysPage() {
  const isAdmin = useRole("admin");
  const list = useRpc(ApiKeyService.method.listApiKeys, {});
  const create = (
    <DialogButton primary dialog={createDialog(OWNER)}>
      Create key
    </DialogButton>
  );
  return (
    <Page title="API" actions={isAdmin && create}>
      <div class="stack">
        <ListView
          query={list}
          label="Keys"
          columns={isAdmin ? [...API_KEY_COLUMNS, actionsColumn(OWNER)] : API_KEY_COLUMNS}
          empty={
            <Empty title="No keys">
              {isAdmin
                ? "API clients call the service with a key. Create one for each client."
                : "API clients call the service with a key. Ask an admin of the workspace to create one."}
            </Empty>
          }
        />
        <div class="columns">
          <ApiCalls />
          <ApiUsage />
        </div>
      </div>
    </Page>
  );
}

const { createApiKey, updateApiKey, rotateApiKey, revokeApiKey } = ApiKeyService.method;

const OWNER: KeyOwner<ApiKey> = {
  create: keyCall(createApiKey, {}, ({ apiKey }) => apiKey),
  fields: API_KEY_FIELDS,
  update: (key) => keyCall(updateApiKey, { key }),
  rotate: (key) => ({
    title: `Rotate ${keyTitle(key)}`,
    text: (
      <>
        A new key with the same name and scope replaces <KeyText last4={key.last4} />.
      </>
    ),
    label: "Old key expires",
    hint: "Both keys work until then, so that you can update your API client.",
    overlapSeconds: 86_400,
    rotate: keyCall(rotateApiKey, { key: key.id }, ({ apiKey }) => apiKey),
  }),
  revoke: (key) => keyCall(revokeApiKey, { key }),
  revokeText: (key) => (
    <>
      <KeyText last4={key.last4} /> are refused at once. <LastUse apiKey={key} />
    </>
  ),
  secretText: (
    <>
      Store it with your application’s secrets, never in its source code. Send it in the header{" "}
      <code>Authorization: Bearer</code>. The commands on this page read it from the variable <code>SHIPMENTS_KEY</code>
      .
    </>
  ),
};

const ROUTE = `{"pickup_lat": 40.758, "pickup_lng": -73.9855,
       "dropoff_lat": 40.6782, "dropoff_lng": -73.9442,
       "weight_kg": 2.5}`;

function ApiCalls() {
  const grpc = useQuery(grpcAddress, []);
  return (
    <Section title="A first call">
      <div class="form">
        <p>Set a variable to a key and request a quote. The key identifies the workspace.</p>
        <Code text={curlCommand(location.origin, useIsTest() ? "shp_test_..." : "shp_...")} what="command" />
        <p>
          Or use gRPC with server reflection. Connect and gRPC-Web are available at <code>{location.origin}</code>.
        </p>
        <QueryView query={grpc}>{(address) => <Code text={grpcCommand(address)} what="command for gRPC" />}</QueryView>
      </div>
    </Section>
  );
}

function curlCommand(origin: string, key: string): string {
  return `export SHIPMENTS_KEY=${key}
curl -sS ${origin}/v1/shipments/quote \\
  -H "Authorization: Bearer $SHIPMENTS_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${ROUTE}'`;
}

function grpcCommand(address: string): string {
  const cleartext = address.startsWith("http:") ? " --http2-prior-knowledge" : "";
  return `npx @bufbuild/buf curl --protocol grpc${cleartext} \\
  -H "Authorization: Bearer $SHIPMENTS_KEY" \\
  -d '${ROUTE}' \\
  ${address}/shipments.v1.ShipmentService/QuoteShipment`;
}

function ApiUsage() {
  const usage = useRpc(ReportService.method.getUsage, {});
  return (
    <Section title="Limits and usage">
      <QueryView query={usage}>{({ data }) => data && <Shown usage={data} />}</QueryView>
    </Section>
  );
}

function Shown({ usage }: { readonly usage: Usage }) {
  const { hours } = usage;
  const timeZone = useTimeZone();
  return (
    <div class="form">
      <SumTable
        label="Limits and usage"
        headings={["Calls", "Limit", "This hour", "24 hours"]}
        rows={CALL_CLASSES.map(([name, title]) => {
          const calls = hours.map((hour) => Number(hour[name]));
          const sum = calls.reduce((all, count) => all + count, 0);
          return [title, rateText(usage[name]), numberText(calls.at(-1) ?? 0), numberText(sum)];
        })}
      />
      <h3>Calls by hour</h3>
      <LineChart
        label="Calls by hour"
        points={hours.map((hour) => pointOf(hour, timeZone))}
        tickText={compactText}
        isWhole
        size="small"
      />
      <p class="hint">
        Limits apply to the whole workspace: calls per second, and the maximum burst after a pause. Calls refused by a
        limit are not counted. Calls from the dashboard are.
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

/**
 * Formats an hour, such as `Nov 21, 7 PM`, for the browser's locale and the workspace's time zone.
 * Includes minutes if the zone's offset is fractional.
 */
function hourText(date: Date, timeZone: string | undefined): string {
  return dateFormat(undefined, {
    month: "short",
    day: "numeric",
    hour: "numeric",
    ...(localTime(date, timeZone).endsWith(":00") ? {} : { minute: "numeric" }),
    timeZone,
  }).format(date);
}
