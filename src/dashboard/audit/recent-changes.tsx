import type { ListAuditEntriesResponse } from "../../../gen/shipments/admin/v1/audit_service_pb.js";
import type { Query } from "../api/use-query.ts";
import { AuditTable } from "./audit-table.tsx";
import { Loaded } from "../ui/query-view.tsx";
import { Section } from "../ui/page.tsx";

/** The latest changes of one thing, with the way to all of them. */
export function RecentChanges(props: {
  readonly title: string;
  readonly query: Query<ListAuditEntriesResponse>;
  /** The audit log with the same filters. */
  readonly href: string;
}) {
  const { title, query, href } = props;
  return (
    <Section title={title} actions={<a href={href}>Show all in the audit log</a>}>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="minor">None yet.</p>
          ) : (
            <AuditTable label={title} entries={data} />
          )
        }
      </Loaded>
    </Section>
  );
}
