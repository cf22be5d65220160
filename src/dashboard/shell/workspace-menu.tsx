import type { TargetedToggleEvent } from "preact";
import type { Account } from "../../../gen/shipments/account/v1/account_service_pb.js";
import type { EnteredWorkspace } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { leaveHere } from "../people/leave-here.ts";
import { paths } from "../routes/paths.ts";
import icon from "./icon.svg";
import { otherModeOf } from "./navigation.tsx";
import "./workspace-menu.css";

/**
 * A button that names the current workspace or platform. Its menu switches between workspaces and modes, and has the
 * account's entries.
 */
export function WorkspaceMenu(props: {
  readonly account: Account;
  readonly entered: EnteredWorkspace | undefined;
  readonly pathname: string;
}) {
  const { account, entered } = props;
  const name = entered?.name ?? (account.operatorRole === undefined ? account.name : "Platform");
  return (
    <>
      <button type="button" class="workspace-button button quiet" popovertarget="workspace-menu">
        <img src={icon} alt="" width="20" height="20" />
        <span class="visually-hidden">Workspace and account: </span>
        <span class="workspace-name">{name}</span>
        <svg class="opens" viewBox="0 0 10 16" width="10" height="16" aria-hidden="true">
          <path d="M2 6 5 3 8 6M2 10l3 3 3-3" />
        </svg>
      </button>
      <div id="workspace-menu" class="workspace-menu" popover="auto" onToggle={focusFirst} onKeyDown={goByArrows}>
        <Workspaces {...props} />
        <OtherMode {...props} />
        <Person account={account} workspace={entered && String(entered.id)} />
      </div>
    </>
  );
}

/** Focuses the first item when the menu opens, so that arrow keys can start there. */
function focusFirst(event: TargetedToggleEvent<HTMLElement>): void {
  if (event.newState === "open") event.currentTarget.querySelector("a")!.focus();
}

function goByArrows(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const choices = [...event.currentTarget.querySelectorAll<HTMLElement>("a, button")];
  const at = choices.findIndex((choice) => choice === document.activeElement);
  choices.at((at + step) % choices.length)?.focus();
}

/** Lists the user's workspaces, and the platform for operators. Hidden if there is only one entry. */
function Workspaces({ account, entered }: Parameters<typeof WorkspaceMenu>[0]) {
  const { workspaces, operatorRole } = account;
  const isOperator = operatorRole !== undefined;
  if (workspaces.length + Number(isOperator) < 2) return null;
  return (
    <div role="group" aria-label="Workspaces">
      <ul>
        {workspaces.map(({ id, name, suspended }) => (
          <li key={String(id)}>
            <a href={paths.shipments({ workspace: id })} aria-current={entered?.live === id ? "true" : undefined}>
              {name}
              {suspended && <span class="minor"> suspended</span>}
            </a>
          </li>
        ))}
        {isOperator && (
          <li>
            <a href={paths.platform({})} aria-current={entered === undefined ? "true" : undefined}>
              Platform
            </a>
          </li>
        )}
      </ul>
    </div>
  );
}

function OtherMode({ entered, pathname }: Parameters<typeof WorkspaceMenu>[0]) {
  const href = entered && otherModeOf(entered, pathname);
  if (href === undefined) return null;
  return (
    <div role="group" aria-label="Mode">
      <a href={href}>{entered!.isTest ? "Switch to live mode" : "Switch to test mode"}</a>
    </div>
  );
}

function Person({ account, workspace }: { readonly account: Account; readonly workspace: string | undefined }) {
  const leave = useAction(leaveHere);
  return (
    <>
      <div role="group" aria-label="You">
        <p>
          {account.name}
          <br />
          <span class="minor">{account.email}</span>
        </p>
        <a href={paths.account({}, { workspace })}>Account</a>
      </div>
      <div role="group" aria-label="Leave">
        <button type="button" onClick={() => void leave.run()}>
          Sign out
        </button>
        {leave.problem && (
          <p class="field-error" role="alert">
            {leave.problem.message}
          </p>
        )}
      </div>
    </>
  );
}
