import {
  AuditActorKind,
  AuditService,
  type AuditChange,
  type AuditEntry,
  type ListAuditEntriesResponse,
} from "../../../gen/shipments/admin/v1/audit_service_pb.js";
import { useRpc, type Query } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { Section } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";

/** Kinds of actors, where the name alone does not say it. */
const KINDS: Readonly<Record<AuditActorKind, string | undefined>> = {
  [AuditActorKind.UNSPECIFIED]: undefined,
  [AuditActorKind.OPERATOR]: "operator",
  [AuditActorKind.COMMAND_LINE]: "command line",
  [AuditActorKind.API_KEY]: "API key",
  [AuditActorKind.SERVICE]: "the service",
  [AuditActorKind.PERSON]: "member",
};

/** Columns of administrative changes, each property before and after. */
export const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  {
    header: "When",
    selfEvident: true,
    cell: ({ createdAt }) => <Time at={createdAt} exact="second" />,
  },
  { header: "Who", selfEvident: true, cell: (entry) => <Actor entry={entry} /> },
  {
    header: "Action",
    selfEvident: true,
    cell: ({ action }) => <strong class="unbroken">{action}</strong>,
  },
  { header: "Subject", selfEvident: true, cell: (entry) => <Subject entry={entry} /> },
  { header: "Changes", selfEvident: true, cell: ({ changes }) => <Changes changes={changes} /> },
];

function Actor({ entry: { actor, requestId } }: { readonly entry: AuditEntry }) {
  if (actor === undefined) return <>—</>;
  const { kind, name, operator } = actor;
  return (
    <span title={requestId && `Request ${requestId}`}>
      {operator === undefined ? name : <a href={paths.operator({ operator })}>{name}</a>}{" "}
      <span class="minor">{KINDS[kind]}</span>
    </span>
  );
}

/** What was changed, as a link where there is a page of it, and the workspace that it belongs to. */
function Subject({ entry: { subject, workspace } }: { readonly entry: AuditEntry }) {
  const [kind, id = ""] = subject.split("/");
  if (kind === "workspace") {
    return <a href={paths.platformWorkspace({ workspace: id })}>{subject}</a>;
  }
  if (kind === "operator") return <a href={paths.operator({ operator: id })}>{subject}</a>;
  return (
    <>
      {subject}
      {workspace !== undefined && (
        <>
          {" of "}
          <a href={paths.platformWorkspace({ workspace })}>workspace/{String(workspace)}</a>
        </>
      )}
    </>
  );
}

function Changes({ changes }: { readonly changes: readonly AuditChange[] }) {
  if (changes.length === 0) return <span class="minor">None recorded</span>;
  return (
    <ul class="changes">
      {changes.map(({ field, before, after }) => (
        <li key={field}>
          <span class="minor">{field}:</span> <Value text={before} />
          <span aria-hidden="true"> → </span>
          <span class="visually-hidden">became </span>
          <Value text={after} />
        </li>
      ))}
    </ul>
  );
}

function Value({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return <span class="minor">nothing</span>;
  return <span>{text === "" ? "“”" : text}</span>;
}

export function useRecentChanges(
  filter: { readonly workspace: bigint } | { readonly operator: bigint },
): Query<ListAuditEntriesResponse> {
  return useRpc(AuditService.method.listAuditEntries, { ...filter, pageSize: 10 });
}

/** The latest changes, with the way to all of them. */
export function RecentChanges(props: {
  readonly title: string;
  readonly query: Query<ListAuditEntriesResponse>;
  /** The audit log with the same filters. */
  readonly href: string;
}) {
  const { title, query, href } = props;
  return (
    <Section title={title} actions={<a href={href}>Show all in the audit log</a>}>
      <QueryView query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="minor">None yet.</p>
          ) : (
            <Table
              label={title}
              columns={AUDIT_COLUMNS}
              rows={data}
              keyOf={({ id }) => String(id)}
            />
          )
        }
      </QueryView>
    </Section>
  );
}
