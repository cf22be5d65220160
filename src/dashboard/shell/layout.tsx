import type { ComponentChildren } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import type { Account } from "../../../gen/shipments/account/v1/account_service_pb.js";
import { useAccount, WorkspaceId } from "../api/session.ts";
import { signOut } from "../api/sign-in.ts";
import { useAction } from "../api/use-action.ts";
import { paths } from "../routes/paths.ts";
import { navigate, usePlace } from "../routes/router.ts";
import { NotFoundPage } from "../ui/page.tsx";
import icon from "./icon.svg";
import "./layout.css";

/** The frame around every page: the bar at the top, the navigation, and the page itself. */
export function Layout({ children }: { readonly children: ComponentChildren }) {
  const account = useAccount();
  const { pathname } = usePlace();
  const workspace = useContext(WorkspaceId);
  const shown = useWorkspaceOfMenu(workspace);
  const main = useFocusOnNewPage(pathname);
  const isMember =
    workspace === undefined || account.workspaces.some(({ id }) => String(id) === workspace);
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="top">
        <button type="button" class="menu-button button quiet" popovertarget="navigation">
          <span aria-hidden="true">☰</span>
          <span class="visually-hidden">Navigation</span>
        </button>
        <a class="home" aria-label="Shipments: start" href={paths.home({})}>
          <img src={icon} alt="" width="22" height="22" />
          <span>Shipments</span>
        </a>
        <WorkspaceSwitcher current={shown} />
        <PersonMenu account={account} workspace={shown} />
      </header>
      <Navigation pathname={pathname} current={shown} />
      <main id="main" ref={main} tabIndex={-1}>
        {isMember ? children : <NotFoundPage />}
      </main>
    </div>
  );
}

/**
 * The workspace whose pages the navigation has: on the account's page, the one that the reader came
 * from.
 */
function useWorkspaceOfMenu(workspace: string | undefined): string | undefined {
  const { workspaces, operatorRole } = useAccount();
  const { pathname, query } = usePlace();
  if (pathname !== paths.account({})) return workspace;
  const from = query.get("workspace");
  const known = workspaces.find(({ id }) => String(id) === from);
  const shown = known ?? (operatorRole === undefined ? workspaces[0] : undefined);
  return shown && String(shown.id);
}

/** Who has signed in, and what they can do about that. */
function PersonMenu(props: { readonly account: Account; readonly workspace: string | undefined }) {
  const { account, workspace } = props;
  const leave = useAction(async () => {
    await signOut();
    navigate(paths.signIn({}));
  });
  return (
    <>
      <button type="button" class="person button quiet" popovertarget="person-menu">
        {account.name}
      </button>
      <div id="person-menu" class="person-menu" popover="auto">
        <p>
          {account.name}
          <br />
          <span class="minor">{account.email}</span>
        </p>
        <div class="actions">
          <a class="button" href={paths.account({}, { workspace })}>
            Account
          </a>
          <button type="button" class="button" onClick={() => void leave.run()}>
            Sign out
          </button>
        </div>
        {leave.problem && (
          <p class="field-error" role="alert">
            {leave.problem.message}
          </p>
        )}
      </div>
    </>
  );
}

/** Moves the focus to a page that was gone to, so that its heading is read next and keys work. */
function useFocusOnNewPage(pathname: string) {
  const main = useRef<HTMLElement>(null);
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    for (const id of ["navigation", "person-menu"]) document.getElementById(id)?.hidePopover();
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return main;
}

function WorkspaceSwitcher({ current }: { readonly current: string | undefined }) {
  const { workspaces, operatorRole } = useAccount();
  if (workspaces.length + Number(operatorRole !== undefined) < 2) {
    return <span class="workspace-name">{workspaces[0]?.name}</span>;
  }
  return (
    <select
      class="workspace-switcher"
      aria-label="Workspace"
      value={current ?? ""}
      onChange={(event) => enter(event.currentTarget.value)}
    >
      {workspaces.map(({ id, name, suspended }) => (
        <option key={String(id)} value={String(id)}>
          {name}
          {suspended && " (suspended)"}
        </option>
      ))}
      {(operatorRole !== undefined || current === undefined) && <option value="">Platform</option>}
    </select>
  );
}

/** Goes to the first page of a workspace, or with no id of the platform. */
function enter(workspace: string): void {
  if (workspace !== "") navigate(paths.shipments({ workspace }));
  else navigate(paths.platform({}));
}

/** Pages by the section of the navigation that they stand in. */
type Menu = Readonly<Record<string, readonly (readonly [label: string, href: string])[]>>;

function workspaceMenu(workspace: string): Menu {
  return {
    Workspace: [
      ["Overview", paths.overview({ workspace })],
      ["Shipments", paths.shipments({ workspace })],
      ["Quote and book", paths.book({ workspace })],
      ["Customers", paths.customers({ workspace })],
    ],
    Settings: [
      ["API", paths.apiKeys({ workspace })],
      ["Webhooks", paths.webhooks({ workspace })],
      ["Members", paths.members({ workspace })],
      ["Payments", paths.payments({ workspace })],
      ["Workspace", paths.workspace({ workspace })],
    ],
  };
}

const PLATFORM_MENU: Menu = {
  Platform: [
    ["Overview", paths.platform({})],
    ["Tariff", paths.tariff({})],
    ["Drafts", paths.tariffDrafts({})],
    ["Workspaces", paths.platformWorkspaces({})],
    ["Operators", paths.operators({})],
    ["Audit log", paths.auditLog({})],
    ["Health", paths.health({})],
  ],
};

/** The navigation that the reader may see where they are. */
function useMenu(current: string | undefined): Menu {
  const { workspaces, operatorRole } = useAccount();
  if (current === undefined) return operatorRole === undefined ? {} : PLATFORM_MENU;
  return workspaces.some(({ id }) => String(id) === current) ? workspaceMenu(current) : {};
}

/** The address of the entry that a page belongs to: the longest that leads to it. */
function hrefAt(pathname: string, menu: Menu): string | undefined {
  return Object.values(menu)
    .flatMap((entries) => entries.map(([, href]) => href))
    .filter((href) => pathname === href || pathname.startsWith(`${href}/`))
    .toSorted((a, b) => b.length - a.length)[0];
}

function Navigation(props: { readonly pathname: string; readonly current: string | undefined }) {
  const { pathname, current } = props;
  const menu = useMenu(current);
  const here = hrefAt(pathname, menu);
  return (
    <nav id="navigation" class="navigation" popover="auto" aria-label="Pages">
      {Object.entries(menu).map(([section, entries]) => (
        <div key={section}>
          <h2>{section}</h2>
          <ul>
            {entries.map(([label, href]) => (
              <li key={label}>
                <a href={href} aria-current={href === here ? "page" : undefined}>
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <div>
        <h2>Help</h2>
        <ul>
          <li>
            <a href="/docs" rel="external">
              Docs
            </a>
          </li>
        </ul>
      </div>
    </nav>
  );
}
