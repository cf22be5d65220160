import type { Operator } from "../../../gen/shipments/admin/v1/operator_pb.js";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { useAccount } from "../api/session.ts";
import { useRpc } from "../api/use-query.ts";
import { RecentChanges, useRecentChanges } from "../audit/audit-table.tsx";
import { type ParametersOf, paths } from "../routes/paths.ts";
import { Badge } from "../ui/badge.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { DetailPage } from "../ui/detail-page.tsx";
import { recordIdOf } from "../ui/format.ts";
import { Section } from "../ui/page.tsx";
import { Time } from "../ui/values.tsx";
import { OperatorActions } from "./operator-actions.tsx";
import { isSelf, OPERATOR_KINDS, OPERATOR_ROLES, OperatorBadge } from "./operator-badge.tsx";
import { OperatorKeys } from "./operator-keys.tsx";

export function OperatorPage(props: ParametersOf<"operator">) {
  const id = recordIdOf(props.operator) ?? 0n;
  const { email } = useAccount();
  const query = useRpc(OperatorService.method.getOperator, { operator: id });
  const changes = useRecentChanges({ operator: id });
  return (
    <DetailPage
      query={query}
      up={{ label: "Operators", href: paths.operators({}) }}
      what="operator"
      title={({ name }) => name}
      fallbackTitle={`Operator ${props.operator}`}
      missing={`No operator has the id ${props.operator}.`}
      note={(operator) => (
        <>
          <OperatorBadge operator={operator} />
          {isSelf(operator, email) && <Badge>You</Badge>}
        </>
      )}
      actions={(operator) => <OperatorActions operator={operator} />}
    >
      {(operator) => (
        <div class="stack">
          <div class="columns">
            <OperatorKeys operator={operator} />
            <About operator={operator} />
          </div>
          <RecentChanges
            title={`Latest changes by ${operator.name}`}
            query={changes}
            href={paths.auditLog({}, { operator: String(id) })}
          />
        </div>
      )}
    </DetailPage>
  );
}

function About({ operator }: { readonly operator: Operator }) {
  const { id, kind, role, email, createdAt, revokedAt } = operator;
  const log = paths.auditLog({}, { subject: `operator/${id}` });
  return (
    <Section title="Details" actions={<a href={log}>Show what was changed</a>}>
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
  );
}
