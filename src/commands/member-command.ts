import type { Command } from "commander";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { MemberRole, type Member } from "../../gen/shipments/v1/member_pb.js";
import { MEMBER_ROLES } from "../domain/roles.ts";
import { callRpc } from "./command-line-call.ts";
import { idOption, option, required, valueNamed } from "./options.ts";
import { commandGroup, signInLines, subcommand } from "./subcommand.ts";

interface InviteOptions {
  readonly workspace: bigint;
  readonly email: string;
  readonly name?: string;
  readonly role?: string;
}

/** `member invite --workspace ID --email EMAIL [--name NAME] [--role ROLE]` */
export function memberCommand(): Command {
  const { inviteWorkspaceMember: method } = WorkspaceAdminService.method;
  const invite = subcommand<InviteOptions>(
    "invite",
    "make a person a member, or give a member a new link to sign in by",
    [
      idOption("workspace"),
      required("--email <email>", "the person's email"),
      option("--name <name>", "the person's name; the part before the @ unless you say"),
      option("--role <role>", "admin for the first member, else viewer, unless you say").choices(
        MEMBER_ROLES,
      ),
    ],
    async (em, { workspace, email, name, role }) => {
      const fields = { workspace, email, name, role: valueNamed(MemberRole, role) };
      const { data, signInPath } = await callRpc(em, method, fields);
      const member = asJson(data!);
      return {
        json: { member, sign_in_path: signInPath },
        lines: [
          `Member ${member.person}: ${member.name}, ${member.email}, ${member.role}`,
          ...signInLines(signInPath),
        ],
      };
    },
  );
  return commandGroup("member", "the people who act for workspaces", invite);
}

function asJson({ person, email, name, role }: Member) {
  return { person: Number(person), email, name, role: MemberRole[role].toLowerCase() };
}
