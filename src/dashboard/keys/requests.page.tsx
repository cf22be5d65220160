import { type ApiRequest, ReportService, RequestOutcome } from "../../../gen/shipments/v1/report_service_pb.js";
import { useIsTest } from "../api/session.ts";
import { paths, withQuery } from "../routes/paths.ts";
import { changeQuery, useLocation } from "../routes/router.ts";
import { Code, Id, Time } from "../ui/values.tsx";
import { Badge, choicesOf, DescriptionList, type Label } from "../ui/description-list.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Filters, filterValues } from "../ui/filters.tsx";
import { apiKeyText, numberText } from "../ui/format.ts";
import { Empty, Page } from "../ui/page.tsx";
import { type Column, Line, ListView, useList } from "../ui/table.tsx";

const OUTCOMES: Readonly<Record<RequestOutcome, Label>> = {
  [RequestOutcome.UNSPECIFIED]: ["Unknown", "neutral"],
  [RequestOutcome.SUCCEEDED]: ["Succeeded", "good"],
  [RequestOutcome.REFUSED]: ["Refused", "attention"],
  [RequestOutcome.FAILED]: ["Failed", "bad"],
};

const FILTERS = {
  outcome: { label: "Outcome", choices: choicesOf(OUTCOMES) },
  method: { label: "Method", placeholder: "CreateShipment" },
} as const;

const OPEN = "request";

/** Shows a request's status: `422`, or `invalid_argument` for gRPC, whose HTTP status is always 200. */
function Status({ request }: { readonly request: ApiRequest }) {
  const { outcome, code, httpStatus } = request;
  const isTold = outcome === RequestOutcome.SUCCEEDED || httpStatus >= 400;
  return <Badge tone={OUTCOMES[outcome][1]}>{isTold ? httpStatus : code}</Badge>;
}

const COLUMNS: readonly Column<ApiRequest>[] = [
  { header: "Status", selfEvident: true, cell: (request) => <Status request={request} /> },
  {
    header: "Method",
    selfEvident: true,
    leads: true,
    clips: "wide",
    cell: ({ method, path }) => (
      <>
        <code>{path ?? method}</code>
        <Line isMinor text={path && method} />
      </>
    ),
  },
  { header: "By", spare: "first", cell: ({ caller }) => callerText(caller) },
  { header: "Took", align: "end", cell: ({ durationMs }) => `${numberText(durationMs)} ms` },
  { header: "When", align: "end", selfEvident: true, cell: ({ startedAt }) => <Time at={startedAt} /> },
];

/** Lists the workspace's calls that changed data or failed. */
export function RequestsPage() {
  const { pathname, query } = useLocation();
  const { outcome, method } = filterValues(query, FILTERS);
  const list = useList(ReportService.method.listRequests, {
    outcome: Number(outcome) || undefined,
    method: method || undefined,
  });
  const opened = list.data?.data.find(({ id }) => String(id) === query.get(OPEN));
  return (
    <Page title="Requests">
      <Filters fields={FILTERS} />
      <ListView
        query={list}
        label="Requests"
        isList
        columns={COLUMNS}
        href={({ id }) => withQuery(pathname, { ...Object.fromEntries(query), [OPEN]: String(id) })}
        empty={
          outcome || method ? (
            <Empty title="No requests match">Enter the method’s name, such as CreateShipment.</Empty>
          ) : (
            <Empty title="No requests yet">Calls that change data appear here after a moment.</Empty>
          )
        }
      />
      <p class="hint note">
        Up to 10,000 calls of the last 7 days that changed data, were refused or failed. Successful reads and quotes are
        not listed.
      </p>
      {opened && <RequestDialog request={opened} />}
    </Page>
  );
}

/** Names a caller: an email of a member, a key, or an empty text for couriers. */
function callerText(caller: string): string {
  return caller === "" || caller.includes("@") ? caller : apiKeyText(caller);
}

const REFERENCE = /SHP-[0-9A-Z]{12}/;

/** Returns the command that repeats a request. Bodies are not logged. */
function curlCommand(path: string, isTest: boolean): string {
  const verb = path.split(" ", 1)[0]!;
  // The path contains text from the caller. A quote in it would end the shell's quoted string.
  const address = encodeURI(path.slice(verb.length + 1)).replaceAll("'", "%27");
  const body = verb === "GET" ? "" : ` \\\n  -H 'content-type: application/json' -d @body.json`;
  return `curl -sS -X ${verb} '${location.origin}${address}' \\\n  -H 'authorization: Bearer ${isTest ? "shp_test_..." : "shp_..."}'${body}`;
}

function RequestDialog({ request }: { readonly request: ApiRequest }) {
  const { method, path, outcome, code, httpStatus, requestId, reason, message } = request;
  const isTest = useIsTest();
  const [reference] = REFERENCE.exec(path ?? "") ?? [];
  return (
    <Dialog
      title={method}
      submit="Close"
      // Replace the history entry, so that "back" does not reopen the dialog.
      close={() => changeQuery({ [OPEN]: undefined }, { replace: true })}
    >
      <p>
        <Badge tone={OUTCOMES[outcome][1]}>{OUTCOMES[outcome][0]}</Badge> {message}
      </p>
      <DescriptionList
        items={[
          ["Path", path && <code>{path}</code>],
          ["Shipment", reference && <a href={paths.shipment({ reference })}>{reference}</a>],
          ["HTTP status", httpStatus === 0 ? "Client disconnected" : String(httpStatus)],
          ["gRPC code", <code>{code}</code>],
          ["Reason", reason && <code>{reason}</code>],
          ["By", callerText(request.caller)],
          ["When", <Time at={request.startedAt} exact="second" />],
          ["Took", `${numberText(request.durationMs)} ms`],
          ["Request ID", <Id id={requestId} />],
        ]}
      />
      {path && <Code text={curlCommand(path, isTest)} what="command" />}
    </Dialog>
  );
}
