import type { ComponentChildren } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import type { Account } from "../../../gen/shipments/account/v1/account_service_pb.js";
import icon from "./icon.svg";
import { signOut } from "../api/sign-in.ts";
import { useAction } from "../api/use-action.ts";
import { hasRole, useAccount, WorkspaceId } from "../api/session.ts";
import { firstPlatformPage, type MenuEntry, type Page, PAGES } from "./pages.ts";
import { NotFoundPage } from "../ui/page.tsx";
import { paths } from "../routes/paths.ts";
import { navigate, usePlace } from "../routes/router.ts";
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
  return (
    String((known ?? (operatorRole === undefined ? workspaces[0] : undefined))?.id ?? "") ||
    undefined
  );
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
  else navigate(firstPlatformPage() ?? paths.home({}));
}

type Entry = Page & { readonly menu: MenuEntry };

/** The pages of the navigation, by their sections, that the reader may see where they are. */
function useEntries(current: string | undefined): Map<string, Entry[]> {
  const { workspaces, operatorRole } = useAccount();
  const workspace = workspaces.find(({ id }) => String(id) === current);
  const entries = PAGES.filter((page): page is Entry => {
    const { menu } = page;
    if (menu === undefined) return false;
    if (menu.section === "Platform") return current === undefined && operatorRole !== undefined;
    return workspace !== undefined && (menu.role === undefined || hasRole(workspace, menu.role));
  });
  return Map.groupBy(entries, ({ menu }) => menu.section);
}

/** The entry that a page belongs to: the one with the longest address that leads to it. */
function entryAt(pathname: string, entries: readonly Entry[], parameters: object) {
  return entries
    .map((entry) => ({ entry, href: entry.path(parameters) }))
    .filter(({ href }) => pathname === href || pathname.startsWith(`${href}/`))
    .toSorted((a, b) => b.href.length - a.href.length)[0]?.entry;
}

function Navigation(props: { readonly pathname: string; readonly current: string | undefined }) {
  const { pathname, current } = props;
  const parameters = { workspace: current ?? "" };
  const sections = useEntries(current);
  const here = entryAt(pathname, [...sections.values()].flat(), parameters);
  return (
    <nav id="navigation" class="navigation" popover="auto" aria-label="Pages">
      {[...sections].map(([section, entries]) => (
        <div key={section}>
          <h2>{section}</h2>
          <ul>
            {entries.map((entry) => (
              <li key={entry.menu.label}>
                <a href={entry.path(parameters)} aria-current={entry === here ? "page" : undefined}>
                  {entry.menu.label}
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
