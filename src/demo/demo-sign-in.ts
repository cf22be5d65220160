import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { MemberRole } from "../../gen/shipments/v1/member_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { Operator } from "../features/operators/operator.entity.ts";
import { Membership } from "../features/people/membership.entity.ts";
import { Person } from "../features/people/person.entity.ts";
import { callLocally } from "../server/local-rpcs.ts";

/** Actor of the calls with which the service fills an empty database. */
export const DEMO = { actor: "service", name: "demo" } as const;

/** Emails of the demo workspace's admin and of the platform's owner. */
const DEMO_EMAIL = "demo@example.org";
export const OWNER_EMAIL = "owner@example.org";

/**
 * Adds the admin to the demo workspace, or creates another link.
 *
 * @returns the path of the link
 */
export async function inviteDemoAdmin(em: EntityManager, workspace: number): Promise<string> {
  const fields = { workspace: BigInt(workspace), email: DEMO_EMAIL, role: MemberRole.ADMIN };
  const { inviteWorkspaceMember } = WorkspaceAdminService.method;
  return (await callLocally(em, DEMO, inviteWorkspaceMember, fields)).signInPath;
}

export interface DemoSignIn {
  /** Path of a new link to the demo workspace. `undefined` if the database does not contain the demo. */
  readonly path: string | undefined;
  /** Commands that print another link to the demo workspace, and a link to the platform. */
  readonly commands: readonly string[];
}

export async function demoSignIn(em: EntityManager): Promise<DemoSignIn> {
  const workspace = await demoAdminsWorkspace(em);
  const owner = await em.fork().findOne(Operator, { email: OWNER_EMAIL, kind: "person", revokedAt: null });
  const commands: string[] = [];
  if (workspace) commands.push(`member invite --workspace ${workspace} --email ${DEMO_EMAIL}`);
  if (owner) commands.push(`operator sign-in --operator ${owner.id}`);
  const path = workspace === undefined ? undefined : await inviteDemoAdmin(em, workspace);
  return { path, commands };
}

async function demoAdminsWorkspace(em: EntityManager): Promise<number | undefined> {
  const reading = em.fork();
  const person = await reading.findOne(Person, { email: DEMO_EMAIL });
  if (person === null) return undefined;
  const [membership] = await reading.find(
    Membership,
    { person: person.id, role: "admin" },
    { orderBy: { workspace: "asc" }, limit: 1 },
  );
  return membership?.workspace;
}
