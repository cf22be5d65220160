import { AuditService } from "../../../gen/shipments/admin/v1/audit_service_pb.js";
import { ListView, useList } from "../ui/table.tsx";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { shownWith, useRpc } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { useLocation } from "../routes/router.ts";
import { daysOf, today } from "../ui/days.tsx";
import { FilterChips } from "../ui/filter-chips.tsx";
import { boundsOfDays, filterValues } from "../ui/filters.tsx";
import { recordIdOf } from "../ui/format.ts";
import { Empty, Page } from "../ui/page.tsx";
import { AUDIT_COLUMNS, Workspaces } from "./audit-table.tsx";
import { ACTIONS } from "./audit-words.ts";

const FILTERS = {
  operator: { label: "Operator", of: "number" },
  workspace: { label: "Workspace number", of: "number" },
  action: { label: "Action", choices: ACTIONS },
  subject: { label: "Changed item", placeholder: "workspace/12" },
  from: { label: "Made from", of: "day" },
  to: { label: "Made until", of: "day" },
} as const;

export function AuditLogPage() {
  const { query } = useLocation();
  const list = useList(AuditService.method.listAuditEntries, filtersOf(query));
  const workspaces = useRpc(WorkspaceAdminService.method.listWorkspaces, { pageSize: 100 });
  const names = new Map(workspaces.data?.data.map(({ id, name }) => [String(id), name]));
  return (
    <Page title="Audit log">
      <AuditFilters />
      <Workspaces.Provider value={{ names }}>
        <ListView
          query={shownWith(list, workspaces)}
          label="Changes"
          columns={AUDIT_COLUMNS}
          empty={<NoEntries filtered={query.size > 0} />}
        />
      </Workspaces.Provider>
    </Page>
  );
}

function filtersOf(query: URLSearchParams) {
  const values = filterValues(query, FILTERS);
  const { operator, workspace, action, subject } = values;
  const { from, to } = daysOf(query, values, today());
  return {
    operator: recordIdOf(operator ?? ""),
    workspace: recordIdOf(workspace ?? ""),
    action,
    subject,
    ...boundsOfDays(from, to, undefined),
  };
}

function AuditFilters() {
  const operator = filterValues(useLocation().query, FILTERS).operator ?? "";
  const { data } = useRpc(OperatorService.method.listOperators, {
    includeRevoked: true,
    pageSize: 100,
  });
  const known = (data?.data ?? []).map(({ id, name }) => [String(id), name] as const);
  const isKnown = operator === "" || known.some(([id]) => id === operator);
  const choices = isKnown ? known : [...known, [operator, operator] as const];
  const fields = { ...FILTERS, operator: { ...FILTERS.operator, choices } };
  return <FilterChips fields={fields} days="Made" />;
}

function NoEntries({ filtered }: { readonly filtered: boolean }) {
  if (!filtered) {
    return (
      <Empty title="No changes yet">Changes by operators, workspace admins and the command line appear here.</Empty>
    );
  }
  return (
    <Empty title="No changes match" link={{ label: "Show all changes", href: paths.auditLog({}) }}>
      Change the filters. Enter the changed item as a kind and a number, such as workspace/12.
    </Empty>
  );
}
