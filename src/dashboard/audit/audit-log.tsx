import type { DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { AuditService } from "../../../gen/shipments/admin/v1/audit_service_pb.js";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { ApiKeyService } from "../../../gen/shipments/v1/api_key_service_pb.js";
import { MemberService } from "../../../gen/shipments/v1/member_service_pb.js";
import { useRpc } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { usePlace } from "../routes/router.ts";
import { boundsOfDays, Filters, filterValues } from "../ui/filters.tsx";
import { recordIdOf } from "../ui/format.ts";
import { ListView } from "../ui/list-view.tsx";
import { Empty, Page } from "../ui/page.tsx";
import { usePageToken } from "../ui/pager.tsx";
import { AUDIT_COLUMNS } from "./audit-table.tsx";

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

const FILTERS = {
  operator: { label: "Operator", of: "number" },
  workspace: { label: "Workspace number", of: "number" },
  action: { label: "Action", choices: ACTIONS.map((name) => [name, name] as const) },
  subject: { label: "Subject", placeholder: "workspace/12" },
  from: { label: "Made from", of: "day" },
  to: { label: "Made until", of: "day" },
} as const;

/** Who changed what on the platform, the newest first, with filters that are in the address. */
export function AuditLogPage() {
  const { query } = usePlace();
  const pageToken = usePageToken();
  const list = useRpc(AuditService.method.listAuditEntries, {
    ...filtersOf(query),
    pageToken,
    pageSize: 50,
  });
  return (
    <Page title="Audit log">
      <AuditFilters />
      <ListView
        query={list}
        label="Changes"
        columns={AUDIT_COLUMNS}
        keyOf={({ id }) => String(id)}
        empty={<NoEntries filtered={query.size > 0} />}
      />
    </Page>
  );
}

function filtersOf(query: URLSearchParams) {
  const { operator, workspace, action, subject, from, to } = filterValues(query, FILTERS);
  return {
    operator: recordIdOf(operator ?? ""),
    workspace: recordIdOf(workspace ?? ""),
    action,
    subject,
    ...boundsOfDays(from, to),
  };
}

function AuditFilters() {
  const operator = filterValues(usePlace().query, FILTERS).operator ?? "";
  const { data } = useRpc(OperatorService.method.listOperators, {
    includeRevoked: true,
    pageSize: 100,
  });
  const known = (data?.data ?? []).map(({ id, name }) => [String(id), name] as const);
  const isKnown = operator === "" || known.some(([id]) => id === operator);
  const choices = isKnown ? known : [...known, [operator, operator] as const];
  return <Filters fields={{ ...FILTERS, operator: { ...FILTERS.operator, choices } }} />;
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
    <Empty title="No changes match" link={{ label: "Show all changes", href: paths.auditLog({}) }}>
      Change the filters. A subject is given as a whole, such as workspace/12.
    </Empty>
  );
}
