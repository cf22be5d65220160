import type { ComponentChildren } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import { findWorkspace, useAccount, WorkspaceId, type EnteredWorkspace } from "../api/session.ts";
import { AttentionQuery, countText, useAttention } from "../attention/attention-query.ts";
import { paths } from "../routes/paths.ts";
import { linkLeftBy, useLocation } from "../routes/router.ts";
import { SearchButton } from "../search/search-button.tsx";
import { TestClockQuery, useTestClock } from "../test-mode/test-clock.ts";
import { reloadOnce } from "../ui/lazily.tsx";
import { NotFoundPage } from "../ui/page.tsx";
import { useKeys } from "../ui/use-keys.ts";
import { Navigation, pagesOf, otherModeOf } from "./navigation.tsx";
import { WorkspaceMenu } from "./workspace-menu.tsx";
import type { TestClock } from "../../../gen/shipments/v1/test_service_pb.js";
import { Time } from "../ui/values.tsx";
import "./layout.css";

export function Layout({ children }: { readonly children: ComponentChildren }) {
  const account = useAccount();
  const { pathname } = useLocation();
  const workspace = useContext(WorkspaceId);
  const shown = useWorkspaceOfMenu(workspace);
  const main = useFocusOnNewPage(pathname);
  const isMember = workspace === undefined || findWorkspace(account.workspaces, workspace) !== undefined;
  const entered = findWorkspace(account.workspaces, shown);
  const isPlatform = shown === undefined && account.operatorRole !== undefined;
  const scope = entered ? { workspace: String(entered.id) } : isPlatform ? "platform" : undefined;
  const attention = useAttention(scope, pathname);
  const count = countText(attention.data);
  const clock = useTestClock(entered, pathname);
  useKeys({ "?": showKeys });
  return (
    <div class={entered?.isTest ? "frame test" : "frame"}>
      <a class="skip" href="#main">
        Skip to main content
      </a>
      <header class="top">
        <button type="button" class="menu-button button quiet" popovertarget="navigation">
          <span aria-hidden="true">☰</span>
          <span class="visually-hidden">Navigation</span>
          {count && <span class="dot" title={`${count} need attention`} />}
        </button>
        <WorkspaceMenu {...{ account, entered, pathname }} />
        {entered?.isTest && <TestBar {...{ entered, pathname }} clock={clock.data} />}
        {(entered ?? isPlatform) && <SearchButton workspace={entered && String(entered.id)} pages={pagesOf(entered)} />}
      </header>
      <Navigation pathname={pathname} current={shown} count={count} />
      <main id="main" ref={main} tabIndex={-1}>
        <AttentionQuery.Provider value={attention}>
          <TestClockQuery.Provider value={clock}>{isMember ? children : <NotFoundPage />}</TestClockQuery.Provider>
        </AttentionQuery.Provider>
      </main>
    </div>
  );
}

function showKeys(): void {
  import("../ui/key-list.tsx").then(({ openKeyList }) => openKeyList(), reloadOnce);
}

/** Returns the workspace shown in the navigation. The account page keeps the previous one. */
function useWorkspaceOfMenu(workspace: string | undefined): string | undefined {
  const { workspaces, operatorRole } = useAccount();
  const { pathname, query } = useLocation();
  if (pathname !== paths.account({})) return workspace;
  const from = query.get("workspace");
  const known = findWorkspace(workspaces, from);
  const shown = known ?? (operatorRole === undefined ? workspaces[0] : undefined);
  return shown && String(shown.id);
}

/** Focuses a new page, for screen readers and shortcuts. After "back", focuses the link that was followed. */
function useFocusOnNewPage(pathname: string) {
  const main = useRef<HTMLElement>(null);
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    for (const id of ["navigation", "workspace-menu"]) document.getElementById(id)?.hidePopover();
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
    return focusWhenThere(main.current!, linkLeftBy());
  }, [pathname]);
  return main;
}

/** Focuses a link once it has loaded, unless the user acts first. Returns an unsubscribe function. */
function focusWhenThere(main: HTMLElement, href: string | undefined): (() => void) | undefined {
  if (href === undefined) return undefined;
  const controller = new AbortController();
  const stop = () => controller.abort();
  const look = () => {
    const link = [...main.querySelectorAll("a")].find((each) => each.href === href);
    if (link === undefined) return;
    link.focus();
    stop();
  };
  const observer = new MutationObserver(look);
  observer.observe(main, { childList: true, subtree: true });
  const { signal } = controller;
  signal.addEventListener("abort", () => observer.disconnect());
  for (const type of ["keydown", "pointerdown", "wheel"]) addEventListener(type, stop, { signal });
  look();
  return stop;
}

/** The test mode bar, with a link to live mode and, if the clock is stopped, its time. */
function TestBar(props: {
  readonly entered: EnteredWorkspace;
  readonly pathname: string;
  readonly clock: TestClock | undefined;
}) {
  const { entered, pathname, clock } = props;
  const live = otherModeOf(entered, pathname);
  return (
    <div class="test-bar">
      <a class="mode" href={paths.testMode({ workspace: entered.id })}>
        <strong>Test mode</strong>
        {clock?.frozen && <Time at={clock.time} exact />}
      </a>
      {live !== undefined && <a href={live}>To live mode</a>}
    </div>
  );
}
