import { createContext } from "preact";
import { useContext } from "preact/hooks";
import {
  AuditActorKind,
  AuditService,
  type AuditActor,
  type AuditChange,
  type AuditEntry,
  type ListAuditEntriesResponse,
} from "../../../gen/shipments/admin/v1/audit_service_pb.js";
import { useRpc, type Query } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { apiKeyText, timeText } from "../ui/format.ts";
import { Section, QueryView } from "../ui/page.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { actWords, type ChangedField, fieldWords, partsOf, subjectWords } from "./audit-words.ts";

/** Labels of actor kinds, for actors whose name does not reveal the kind. */
const KINDS: Readonly<Partial<Record<AuditActorKind, string>>> = {
  [AuditActorKind.OPERATOR]: "operator",
  [AuditActorKind.COMMAND_LINE]: "command line",
  [AuditActorKind.SERVICE]: "the service",
  [AuditActorKind.COURIER]: "courier",
};

export const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  { header: "When", selfEvident: true, cell: ({ createdAt }) => <Time at={createdAt} exact="second" /> },
  { header: "Change", selfEvident: true, cell: (entry) => <Sentence entry={entry} /> },
];

/** `Ann changed the name of the key “Shop” of workspace 12`, with the values before and after. */
function Sentence({ entry }: { readonly entry: AuditEntry }) {
  const { action, changes } = entry;
  const [before, after] = actWords(action, changes);
  return (
    <>
      <p>
        <Actor entry={entry} /> {before}
        {after !== undefined && <Subject entry={entry} />}
        {after}
      </p>
      {changes.length > 0 && <Difference changes={changes} />}
    </>
  );
}

function actorText({ kind, name }: AuditActor): string {
  return kind === AuditActorKind.API_KEY ? apiKeyText(name) : name;
}

function Actor({ entry: { actor, requestId } }: { readonly entry: AuditEntry }) {
  if (actor === undefined) return <>Somebody</>;
  const { kind, name, operator } = actor;
  return (
    <span title={requestId && `Request ${requestId}`}>
      {operator === undefined ? actorText(actor) : <a href={paths.operator({ operator })}>{name}</a>}
      {KINDS[kind] !== undefined && <span class="minor"> ({KINDS[kind]})</span>}
    </span>
  );
}

/** Known workspace names by id, and the id of the page's own workspace, if any. */
export const Workspaces = createContext<{ readonly names?: ReadonlyMap<string, string>; readonly own?: string }>({});

/** Shows the changed record, with a link if it has a page, and its workspace. */
function Subject({ entry }: { readonly entry: AuditEntry }) {
  const { subject, workspace, changes, subjectName } = entry;
  const [kind, id = ""] = subject.split("/");
  const { names, own } = useContext(Workspaces);
  const named = (workspaceId: string) => {
    const name = names?.get(workspaceId);
    if (workspaceId === own) return "this workspace";
    return name === undefined ? `workspace ${workspaceId}` : `the workspace “${name}”`;
  };
  const words = subjectWords(subject, changes, subjectName);
  if (kind === "workspace") {
    return <a href={paths.platformWorkspace({ workspace: id })}>{words === `workspace ${id}` ? named(id) : words}</a>;
  }
  if (kind === "operator") return <a href={paths.operator({ operator: id })}>{words}</a>;
  return (
    <>
      {words}
      {workspace !== undefined && String(workspace) !== own && (
        <>
          {" of "}
          <a href={paths.platformWorkspace({ workspace })}>{named(String(workspace))}</a>
        </>
      )}
    </>
  );
}

/** Maximum number of changes shown expanded. */
const MAX_EXPANDED = 2;

function Difference({ changes }: { readonly changes: readonly AuditChange[] }) {
  const parts = changes.flatMap(partsOf);
  const list = (
    <ul class="changes">
      {parts.map((change) => (
        <li key={change.field}>
          <ChangeSentence {...change} />
        </li>
      ))}
    </ul>
  );
  if (parts.length <= MAX_EXPANDED) return list;
  return (
    <details class="difference">
      <summary>{parts.length} changes</summary>
      {list}
    </details>
  );
}

function ChangeSentence({ field, before, after }: ChangedField) {
  const name = <span class="minor">{fieldWords(field)}:</span>;
  if (before === undefined) {
    return (
      <>
        {name} {quoted(after)}
      </>
    );
  }
  return (
    <>
      {name} {quoted(before)} before, {after === undefined ? "now gone" : `now ${quoted(after)}`}
    </>
  );
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function quoted(text: string | undefined): string {
  if (text === undefined || text === "") return "empty";
  return INSTANT.test(text) ? timeText(new Date(text)) : `“${text}”`;
}

export function useRecentChanges(filter: { readonly workspace: bigint } | { readonly operator: bigint }) {
  return useRpc(AuditService.method.listAuditEntries, { ...filter, pageSize: 10 });
}

export function RecentChanges(props: {
  readonly title: string;
  readonly query: Query<ListAuditEntriesResponse>;
  readonly href: string;
}) {
  const { title, query, href } = props;
  return (
    <Section title={title} actions={<a href={href}>Show all in the audit log</a>}>
      <QueryView query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="minor">No changes yet.</p>
          ) : (
            <Table label={title} columns={AUDIT_COLUMNS} rows={data} />
          )
        }
      </QueryView>
    </Section>
  );
}
