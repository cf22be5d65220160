import { useState } from "preact/hooks";
import {
  OperatorKind,
  OperatorRole,
  type Operator,
} from "../../../gen/shipments/admin/v1/operator_pb.js";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { useAccount, useOperatorRole } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import { Badge } from "../ui/badge.tsx";
import { FormDialog, SecretDialog } from "../ui/dialog.tsx";
import { numberOf, optionalTextOf, SelectField, TextField, textOf } from "../ui/fields.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { OperatorRoleField } from "./operator-fields.tsx";
import { isSelf, OPERATOR_KINDS, OPERATOR_ROLES, OperatorBadge } from "./operator-badge.tsx";
import { Page, Tabs } from "../ui/page.tsx";
import { Pager, usePageToken } from "../ui/pager.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { paths } from "../routes/paths.ts";
import { navigate, usePlace } from "../routes/router.ts";

/** Those who run the platform; those that were revoked too when the address asks for them. */
export function OperatorsPage() {
  const operators = useClient(OperatorService);
  const mayChange = useOperatorRole(OperatorRole.OWNER);
  const { email } = useAccount();
  const { query } = usePlace();
  const pageToken = usePageToken();
  const [isCreating, setCreating] = useState(false);
  const includeRevoked = query.get("include_revoked") === "true";
  const list = useQuery(
    (signal) => operators.listOperators({ includeRevoked, pageToken, pageSize: 50 }, { signal }),
    [operators, includeRevoked, pageToken],
  );
  const create = (
    <button type="button" class="button primary" onClick={() => setCreating(true)}>
      Create an operator
    </button>
  );
  return (
    <Page title="Operators" actions={mayChange && create}>
      <Tabs
        label="Which operators"
        tabs={[
          { label: "Active", href: paths.operators({}), current: !includeRevoked },
          {
            label: "With revoked ones",
            href: paths.operators({}, { include_revoked: "true" }),
            current: includeRevoked,
          },
        ]}
      />
      <QueryView query={list}>
        {({ data, nextPageToken }) => (
          <>
            <Table
              label="Operators"
              columns={columnsFor(email)}
              rows={data}
              keyOf={({ id }) => String(id)}
              href={({ id }) => paths.operator({ operator: id })}
            />
            <Pager nextPageToken={nextPageToken} />
          </>
        )}
      </QueryView>
      {!mayChange && <p class="note minor">Owners create and change operators.</p>}
      {isCreating && <CreateDialog close={() => setCreating(false)} />}
    </Page>
  );
}

function columnsFor(ownEmail: string): readonly Column<Operator>[] {
  return [
    {
      header: "Name",
      selfEvident: true,
      cell: (operator) => (
        <>
          <strong>{operator.name}</strong> {isSelf(operator, ownEmail) && <Badge>You</Badge>}
          {operator.email && (
            <>
              <br />
              <span class="minor">{operator.email}</span>
            </>
          )}
        </>
      ),
    },
    {
      header: "State",
      selfEvident: true,
      cell: (operator) => <OperatorBadge operator={operator} />,
    },
    { header: "Kind", selfEvident: true, cell: ({ kind }) => OPERATOR_KINDS[kind] },
    { header: "Role", cell: ({ role }) => OPERATOR_ROLES[role] },
    { header: "Keys", align: "end", cell: ({ keys }) => keys.length },
    { header: "Created", align: "end", cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}

/** Asks who it is, and then shows the key, before it leads to the new operator. */
function CreateDialog({ close }: { readonly close: () => void }) {
  const operators = useClient(OperatorService);
  const [kind, setKind] = useState(OperatorKind.PERSON);
  const once = useIdempotencyOptions();
  const [made, setMade] = useState<{ readonly operator: bigint; readonly key: string }>();
  const create = useAction(async (form: FormData) => {
    const { data, operatorKey } = await operators.createOperator(
      {
        name: textOf(form, "name"),
        kind,
        email: optionalTextOf(form, "email"),
        role: numberOf(form, "role") ?? 0,
      },
      once,
    );
    setMade({ operator: data!.id, key: operatorKey });
  });
  if (made !== undefined) {
    const goOn = () => navigate(paths.operator(made));
    return <NewKeyDialog title="The operator’s key" secret={made.key} close={goOn} />;
  }
  return (
    <FormDialog
      title="Create an operator"
      action={create}
      submit="Create the operator"
      close={close}
    >
      <SelectField
        name="kind"
        label="Kind"
        value={kind}
        onInput={(text) => setKind(Number(text))}
        choices={[
          [String(OperatorKind.PERSON), "Person: signs in here, or calls with a key"],
          [String(OperatorKind.MACHINE), "Machine: calls with a key"],
        ]}
      />
      <TextField name="name" label="Name" />
      <TextField name="email" label="Email" type="email" optional={kind === OperatorKind.MACHINE} />
      <OperatorRoleField value={OperatorRole.VIEWER} />
    </FormDialog>
  );
}

/** Shows the new key of an operator, once. */
export function NewKeyDialog(props: {
  readonly title: string;
  readonly secret: string;
  readonly close: () => void;
}) {
  return (
    <SecretDialog what="key" {...props}>
      <p>
        Programs and the command line call with it, in the header <code>Authorization: Bearer</code>
        . People sign in here by a link instead.
      </p>
    </SecretDialog>
  );
}
