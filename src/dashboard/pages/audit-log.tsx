import type { DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { AuditService } from "../../../gen/shipments/admin/v1/audit_service_pb.js";
import {
  OperatorService,
  type ListOperatorsResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { ApiKeyService } from "../../../gen/shipments/v1/api_key_service_pb.js";
import { MemberService } from "../../../gen/shipments/v1/member_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useQuery } from "../api/use-query.ts";
import { AuditTable } from "../parts/audit-table.tsx";
import { boundsOfDays } from "../parts/days.ts";
import { Empty } from "../parts/empty.tsx";
import { Filters } from "../parts/filters.tsx";
import { SelectField, TextField } from "../parts/form.tsx";
import { recordIdOf } from "../parts/format.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Pager, usePageToken } from "../parts/pager.tsx";
import { paths } from "../paths.ts";
import { usePlace } from "../router.ts";

/** Those whose changes are in the log. */
const SERVICES: readonly DescService[] = [
  ApiKeyService,
  MemberService,
  OperatorService,
  TariffService,
  WorkspaceAdminService,
];

/** What a change can be called, by name. */
const ACTIONS = [
  ...new Set(
    SERVICES.flatMap(({ methods }) =>
      methods
        .filter(({ idempotency }) => idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS)
        .map(({ name }) => name),
    ),
  ),
].toSorted();

const NAMES = ["operator", "workspace", "action", "subject", "from", "to"] as const;

/** Who changed what on the platform, the newest first, with filters that are in the address. */
export function AuditLogPage() {
  const audit = useClient(AuditService);
  const { query } = usePlace();
  const pageToken = usePageToken();
  const list = useQuery(
    (signal) =>
      audit.listAuditEntries({ ...filtersOf(query), pageToken, pageSize: 50 }, { signal }),
    [audit, query.toString()],
  );
  return (
    <Page title="Audit log">
      <AuditFilters />
      <Loaded query={list}>
        {({ data, nextPageToken }) =>
          data.length === 0 ? (
            <NoEntries filtered={query.size > 0} />
          ) : (
            <>
              <AuditTable label="Changes" entries={data} />
              <Pager nextPageToken={nextPageToken} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

/** What the query of the address asks for. */
function filtersOf(query: URLSearchParams) {
  const id = (name: string) => recordIdOf(query.get(name) ?? "");
  return {
    operator: id("operator"),
    workspace: id("workspace"),
    action: query.get("action") ?? undefined,
    subject: query.get("subject") ?? undefined,
    ...boundsOfDays(query.get("from"), query.get("to")),
  };
}

function AuditFilters() {
  const { query } = usePlace();
  const operators = useClient(OperatorService);
  const { data } = useQuery(
    (signal) => operators.listOperators({ includeRevoked: true, pageSize: 100 }, { signal }),
    [operators],
  );
  const value = (name: string) => query.get(name) ?? "";
  return (
    <Filters names={NAMES}>
      <SelectField
        name="operator"
        label="Operator"
        value={value("operator")}
        choices={choicesWith(value("operator"), operatorChoices(data))}
      />
      <TextField name="workspace" label="Workspace number" numeric value={value("workspace")} />
      <SelectField
        name="action"
        label="Action"
        value={value("action")}
        choices={choicesWith(
          value("action"),
          ACTIONS.map((name) => [name, name]),
        )}
      />
      <TextField
        name="subject"
        label="Subject"
        placeholder="workspace/12"
        value={value("subject")}
      />
      <TextField name="from" label="Made from" type="date" value={value("from")} />
      <TextField name="to" label="Made until" type="date" value={value("to")} />
    </Filters>
  );
}

type Choice = readonly [value: string, label: string];

function operatorChoices(list: ListOperatorsResponse | undefined): Choice[] {
  return (list?.data ?? []).map(({ id, name }) => [String(id), name]);
}

/** Any, those there are, and the one in the address if it is none of them. */
function choicesWith(value: string, choices: readonly Choice[]): readonly Choice[] {
  const isKnown = value === "" || choices.some(([one]) => one === value);
  return [["", "Any"], ...choices, ...(isKnown ? [] : [[value, value] as const])];
}

function NoEntries({ filtered }: { readonly filtered: boolean }) {
  if (!filtered) {
    return (
      <Empty title="No changes yet">
        What operators, admins of workspaces and the command line change appears on this page.
      </Empty>
    );
  }
  return (
    <Empty
      title="No changes match"
      action={
        <a class="button" href={paths.auditLog({})}>
          Show all changes
        </a>
      }
    >
      Change the filters. A subject is given as a whole, such as workspace/12.
    </Empty>
  );
}
