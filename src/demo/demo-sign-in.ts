import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { MemberRole } from "../../gen/shipments/v1/member_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { Operator } from "../features/operators/operator.entity.ts";
import { Membership } from "../features/people/membership.entity.ts";
import { Person } from "../features/people/person.entity.ts";
import { callLocally } from "../server/local-rpcs.ts";

/** The service itself, as it fills an empty database. */
export const DEMO = { actor: "service", name: "demo" } as const;

/** The admin of the demo workspace, and the owner of the platform. */
export const DEMO_EMAIL = "demo@example.org";
export const OWNER_EMAIL = "owner@example.org";

/** Makes the admin of the demo workspace a member, or gives them a link. @returns the link's path */
export async function inviteDemoAdmin(em: EntityManager, workspace: number): Promise<string> {
  const fields = { workspace: BigInt(workspace), email: DEMO_EMAIL, role: MemberRole.ADMIN };
  const { inviteWorkspaceMember } = WorkspaceAdminService.method;
  return (await callLocally(em, DEMO, inviteWorkspaceMember, fields)).signInPath;
}

/** A link that signs in once, and the command that makes another one like it. */
interface DemoLink {
  readonly path: string;
  readonly command: string;
}

/**
 * Says how to sign in as those whom the demo has made, with new links; nothing where they are not, as
 * in a database of somebody's own.
 *
 * @param address where browsers reach the service
 * @param linkCommand makes a line for a terminal of a command that prints a link
 */
export async function demoSignInLines(
  em: EntityManager,
  address: string,
  linkCommand: (command: string) => string,
): Promise<string[]> {
  const admin = await demoAdminLink(em);
  const owner = await ownerLink(em);
  const another = [admin, owner].flatMap((it) => (it ? [linkCommand(it.command)] : []));
  return [
    ...linkLines(`Sign in to the demo workspace as ${DEMO_EMAIL}`, address, admin),
    ...linkLines(`Sign in to the platform as ${OWNER_EMAIL}`, address, owner),
    ...(another.length === 0 ? [] : ["  New links, once these are used or too old:", ""]),
    ...another.flatMap((line) => [line, ""]),
  ];
}

async function demoAdminLink(em: EntityManager): Promise<DemoLink | undefined> {
  const reading = em.fork();
  const person = await reading.findOne(Person, { email: DEMO_EMAIL });
  if (person === null) return undefined;
  const [membership] = await reading.find(
    Membership,
    { person: person.id, role: "admin" },
    { orderBy: { workspace: "asc" }, limit: 1 },
  );
  if (membership === undefined) return undefined;
  const { workspace } = membership;
  return {
    path: await inviteDemoAdmin(em, workspace),
    command: `member invite --workspace ${workspace} --email ${DEMO_EMAIL}`,
  };
}

async function ownerLink(em: EntityManager): Promise<DemoLink | undefined> {
  const owner = await em
    .fork()
    .findOne(Operator, { email: OWNER_EMAIL, kind: "person", revokedAt: null });
  if (owner === null) return undefined;
  const fields = { operator: BigInt(owner.id) };
  const { createOperatorSignInLink } = OperatorService.method;
  const { signInPath } = await callLocally(em, DEMO, createOperatorSignInLink, fields);
  return { path: signInPath, command: `operator sign-in --operator ${owner.id}` };
}

function linkLines(what: string, address: string, link: DemoLink | undefined): string[] {
  return link === undefined
    ? []
    : [`  ${what}, once, within 15 minutes:`, "", `${address}${link.path}`, ""];
}
