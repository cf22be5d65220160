import type { TestService } from "./service.ts";

/** Returns a workspace's audit entries, oldest first. */
export async function auditEntriesOf({ app }: Pick<TestService, "app">, workspaceId: number): Promise<any[]> {
  return app.em.fork().execute(
    `select actor, actor_name, operator_id::int, action, subject, changes, request_id
     from audit_entry where workspace_id = ? order by id`,
    [workspaceId],
  );
}
