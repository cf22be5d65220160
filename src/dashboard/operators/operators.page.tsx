import { useState } from "preact/hooks";
import { OperatorKind, OperatorRole, type Operator } from "../../../gen/shipments/admin/v1/operator_pb.js";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { useAccount, useOperatorRole } from "../api/session.ts";
import { paths, type ParametersOf } from "../routes/paths.ts";
import { navigate, useLocation } from "../routes/router.ts";
import { Badge, DescriptionList } from "../ui/description-list.tsx";
import { DialogButton, SecretDialog, RpcDialog } from "../ui/dialog.tsx";
import { Page, Tabs, Section, DetailPage } from "../ui/page.tsx";
import { type Column, Line, ListView, useList } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import {
  isSelf,
  OperatorBadge,
  ROLE_FIELD,
  OPERATOR_KEY_TEXT,
  OperatorKeys,
  OperatorActions,
} from "./operator-actions.tsx";
import { useRpc } from "../api/use-query.ts";
import { RecentChanges, useRecentChanges } from "../audit/audit-table.tsx";
import { enumText, recordIdOf } from "../ui/format.ts";

/** Lists the platform's operators, including revoked ones if the URL requests them. */
export function OperatorsPage() {
  const mayChange = useOperatorRole(OperatorRole.OWNER);
  const { email } = useAccount();
  const includeRevoked = useLocation().query.get("include_revoked") === "true";
  const list = useList(OperatorService.method.listOperators, { includeRevoked });
  const create = (
    <DialogButton primary dialog={<CreateOperatorDialog />}>
      Create operator
    </DialogButton>
  );
  return (
    <Page title="Operators" actions={mayChange && create}>
      <Tabs
        label="Which operators"
        tabs={[
          { label: "Active", href: paths.operators(), current: !includeRevoked },
          {
            label: "Include revoked",
            href: paths.operators({}, { include_revoked: "true" }),
            current: includeRevoked,
          },
        ]}
      />
      <ListView
        query={list}
        label="Operators"
        columns={columnsFor(email, includeRevoked)}
        href={({ id }) => paths.operator({ operator: id })}
      />
      {!mayChange && <p class="note minor">Owners create and change operators.</p>}
    </Page>
  );
}

const STATE: Column<Operator> = { header: "State", selfEvident: true, cell: (it) => <OperatorBadge operator={it} /> };

function columnsFor(ownEmail: string, includeRevoked: boolean): readonly Column<Operator>[] {
  return [
    {
      header: "Name",
      selfEvident: true,
      cell: (operator) => (
        <span>
          <strong>{operator.name}</strong> {isSelf(operator, ownEmail) && <Badge>You</Badge>}
          <Line isMinor text={operator.email} />
        </span>
      ),
    },
    ...(includeRevoked ? [STATE] : []),
    { header: "Kind", selfEvident: true, cell: ({ kind }) => enumText(OperatorKind, kind) },
    { header: "Role", cell: ({ role }) => enumText(OperatorRole, role) },
    { header: "Keys", align: "end", cell: ({ keys }) => keys.length },
    { header: "Created", align: "end", cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}

const KINDS = [
  [String(OperatorKind.PERSON), "Person: signs in here, or calls the API with a key"],
  [String(OperatorKind.MACHINE), "Machine: calls with a key"],
] as const;

export function CreateOperatorDialog() {
  const [kind, setKind] = useState(OperatorKind.PERSON);
  return (
    <RpcDialog
      method={OperatorService.method.createOperator}
      title="Create operator"
      fields={{
        kind: {
          label: "Kind",
          value: kind,
          onInput: (text) => setKind(Number(text)),
          choices: KINDS,
        },
        name: "Name",
        email: { label: "Email", optional: kind === OperatorKind.MACHINE },
        role: { ...ROLE_FIELD, value: OperatorRole.VIEWER },
      }}
      then={({ data, operatorKey }) => {
        const openOperator = () => navigate(paths.operator({ operator: data!.id }));
        return (
          <SecretDialog title="The operator’s key" what="key" secret={operatorKey} close={openOperator}>
            <p>{OPERATOR_KEY_TEXT}</p>
          </SecretDialog>
        );
      }}
    />
  );
}

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
    <Section title="Details" actions={<a href={log}>Show changes</a>}>
      <DescriptionList
        items={[
          ["ID", String(id)],
          ["Kind", enumText(OperatorKind, kind)],
          ["Role", enumText(OperatorRole, role)],
          ["Email", email],
          ["Created", <Time at={createdAt} exact />],
          ["Revoked", revokedAt && <Time at={revokedAt} exact />],
        ]}
      />
    </Section>
  );
}
