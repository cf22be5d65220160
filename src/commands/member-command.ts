import { Command, Option } from "commander";
import {
  InviteWorkspaceMemberRequestSchema,
  WorkspaceAdminService,
} from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { MemberRole, type Member } from "../../gen/shipments/v1/member_pb.js";
import { MEMBER_ROLES } from "../domain/roles.ts";
import { inviteWorkspaceMember } from "../features/workspace-admin/invite-workspace-member.ts";
import { commandLineCall } from "./command-line-call.ts";
import { jsonOption, workspaceOption } from "./options.ts";
import { readRequest } from "./read-request.ts";
import { runCommand } from "./run-command.ts";
import { signInLines } from "./sign-in-lines.ts";

/** `member invite` */
export function memberCommand(): Command {
  return new Command("member")
    .description("the people who act for workspaces")
    .addCommand(inviteCommand());
}

interface InviteOptions {
  readonly workspace: number;
  readonly email: string;
  readonly name?: string;
  readonly role?: string;
  readonly json: boolean;
}

/** `member invite --workspace ID --email EMAIL [--name NAME] [--role ROLE]` */
function inviteCommand(): Command {
  return new Command("invite")
    .description("make a person a member, or give a member a new link to sign in by")
    .addOption(workspaceOption())
    .requiredOption("--email <email>", "the person's email")
    .option("--name <name>", "the person's name; the part before the @ unless you say")
    .addOption(
      new Option(
        "--role <role>",
        "admin for the first member, else viewer, unless you say",
      ).choices(MEMBER_ROLES),
    )
    .addOption(jsonOption())
    .action(({ workspace, email, name, role, json }: InviteOptions) =>
      runCommand(json, async (em) => {
        const request = readRequest(InviteWorkspaceMemberRequestSchema, {
          workspace: BigInt(workspace),
          email,
          name,
          role: roleNamed(role),
        });
        const call = commandLineCall(WorkspaceAdminService.method.inviteWorkspaceMember);
        const { data, signInPath } = await inviteWorkspaceMember(request, call, em);
        const member = asJson(data!);
        return {
          json: { member, sign_in_path: signInPath },
          lines: [
            `Member ${member.person}: ${member.name}, ${member.email}, ${member.role}`,
            ...signInLines(signInPath),
          ],
        };
      }),
    );
}

function roleNamed(name: string | undefined): MemberRole | undefined {
  return name === undefined
    ? undefined
    : MemberRole[name.toUpperCase() as "VIEWER" | "MEMBER" | "ADMIN"];
}

function asJson({ person, email, name, role }: Member) {
  return { person: Number(person), email, name, role: MemberRole[role].toLowerCase() };
}
