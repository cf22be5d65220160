import { Code } from "@connectrpc/connect";
import {
  AuditService,
  type ListAuditEntriesResponse,
} from "../../../gen/shipments/admin/v1/audit_service_pb.js";
import type { Operator } from "../../../gen/shipments/admin/v1/operator_pb.js";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useAccount } from "../api/session.ts";
import { type Query, useQuery } from "../api/use-query.ts";
import { Badge } from "../ui/badge.tsx";
import { Empty, Page, Section } from "../ui/page.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { recordIdOf } from "../ui/format.ts";
import { QueryView } from "../ui/query-view.tsx";
import { isSelf, OPERATOR_KINDS, OPERATOR_ROLES, OperatorBadge } from "./operator-badge.tsx";
import { RecentChanges } from "../audit/audit-table.tsx";
import { Time } from "../ui/values.tsx";
import { paths } from "../routes/paths.ts";
import { OperatorActions } from "./operator-actions.tsx";
import { OperatorKeys } from "./operator-keys.tsx";

/** One operator, with its keys and what it changed. */
export function OperatorPage(props: { readonly operator: string }) {
  const id = recordIdOf(props.operator) ?? 0n;
  const up = { label: "Operators", href: paths.operators({}) };
  const operators = useClient(OperatorService);
  const query = useQuery(
    (signal) => operators.getOperator({ operator: id }, { signal }),
    [operators, id],
  );
  const changes = useChangesBy(id);
  const operator = query.data?.data;
  if (query.problem?.code === Code.NotFound) return <NoOperator id={props.operator} up={up} />;
  const changed = () => {
    query.reload();
    changes.reload();
  };
  return (
    <Page
      title={operator?.name ?? "Operator"}
      up={up}
      note={operator && <Note operator={operator} />}
      actions={operator && <OperatorActions operator={operator} changed={changed} />}
    >
      <QueryView query={query}>
        {({ data }) => data && <Content operator={data} changes={changes} changed={changed} />}
      </QueryView>
    </Page>
  );
}

/** What an operator changed last. */
function useChangesBy(operator: bigint): Query<ListAuditEntriesResponse> {
  const audit = useClient(AuditService);
  return useQuery(
    (signal) => audit.listAuditEntries({ operator, pageSize: 10 }, { signal }),
    [audit, operator],
  );
}

function Note({ operator }: { readonly operator: Operator }) {
  const { email } = useAccount();
  return (
    <>
      <OperatorBadge operator={operator} />
      {isSelf(operator, email) && <Badge>You</Badge>}
    </>
  );
}

function Content(props: {
  readonly operator: Operator;
  readonly changes: Query<ListAuditEntriesResponse>;
  readonly changed: () => void;
}) {
  const { operator, changes, changed } = props;
  const { id, name, kind, role, email, createdAt, revokedAt } = operator;
  return (
    <div class="stack">
      <div class="columns">
        <OperatorKeys operator={operator} changed={changed} />
        <Section
          title="About it"
          actions={
            <a href={paths.auditLog({}, { subject: `operator/${id}` })}>Show what was changed</a>
          }
        >
          <DescriptionList
            items={[
              ["Id", String(id)],
              ["Kind", OPERATOR_KINDS[kind]],
              ["Role", OPERATOR_ROLES[role]],
              ["Email", email],
              ["Created", <Time at={createdAt} exact />],
              ["Revoked", revokedAt && <Time at={revokedAt} exact />],
            ]}
          />
        </Section>
      </div>
      <RecentChanges
        title={`Latest changes by ${name}`}
        query={changes}
        href={paths.auditLog({}, { operator: String(id) })}
      />
    </div>
  );
}

function NoOperator(props: {
  readonly id: string;
  readonly up: { readonly label: string; readonly href: string };
}) {
  return (
    <Page title={`Operator ${props.id}`} up={props.up}>
      <Empty
        title="There is no such operator"
        action={
          <a class="button" href={props.up.href}>
            Show all operators
          </a>
        }
      >
        No operator has the id {props.id}.
      </Empty>
    </Page>
  );
}
