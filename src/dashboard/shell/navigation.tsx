import { useRef } from "preact/hooks";
import { findWorkspace, useAccount, type EnteredWorkspace } from "../api/session.ts";
import { ATTENTION, ICONS, keysOf, PAGE_ENTRIES } from "../routes/pages.ts";
import { paths, settingsHref, type Path } from "../routes/paths.ts";
import { useKeys } from "../ui/use-keys.ts";
import { settingsParts } from "../workspaces/settings-parts.ts";

type PageLink = readonly [label: string, href: string];

/** Returns the navigation entries of a workspace in one mode, or of the platform. */
function entriesOf(workspace?: bigint, isTestMode = false) {
  return PAGE_ENTRIES.flatMap(([name, { path, label, section, key, isTest = false }]) => {
    const isPlatform = path.startsWith("/platform");
    if (label === undefined || isPlatform !== (workspace === undefined)) return [];
    if (isTest && !isTestMode) return [];
    const href = (paths[name] as Path<"/:workspace">)({ workspace: workspace ?? "" });
    return {
      section: section ?? (isPlatform ? "Platform" : "Workspace"),
      label,
      icon: ICONS[label],
      href,
      keys: keysOf({ label, key }),
    };
  });
}

type Entries = ReturnType<typeof entriesOf>;

/** Returns the pages that the search covers: those of a workspace and its settings, or of the platform. */
export function pagesOf(entered: EnteredWorkspace | undefined): readonly PageLink[] {
  const pages = entriesOf(entered?.id, entered?.isTest).map(({ label, href }) => [label, href] as const);
  if (entered === undefined) return pages;
  const { id, isTest } = entered;
  return [...pages, ...settingsParts(isTest).map((part) => [part.label, settingsHref(part.id, {}, id)] as const)];
}

/** Returns the URL of the page's counterpart in the workspace's other mode, or `undefined` if absent. */
export function otherModeOf(entered: EnteredWorkspace, pathname: string): string | undefined {
  const { isTest, live, testWorkspace } = entered;
  const other = isTest ? live : testWorkspace;
  if (other === undefined) return undefined;
  const here = labelAt(pathname, entriesOf(entered.id, isTest));
  const there = entriesOf(other, !isTest).find(({ label }) => label === here);
  return there?.href ?? paths.shipments({ workspace: other });
}

function useEntries(current: string | undefined): Entries {
  const { workspaces, operatorRole } = useAccount();
  if (current === undefined) return operatorRole === undefined ? [] : entriesOf();
  const entered = findWorkspace(workspaces, current);
  return entered === undefined ? [] : entriesOf(entered.id, entered.isTest);
}

/** Returns the label of a page's navigation entry, which is the longest matching URL. */
function labelAt(pathname: string, entries: Entries): string | undefined {
  return entries
    .filter(({ href }) => pathname === href || pathname.startsWith(`${href}/`))
    .toSorted((a, b) => b.href.length - a.href.length)[0]?.label;
}

export function Navigation(props: {
  readonly pathname: string;
  /** ID of the workspace whose pages are listed. `undefined` for the platform. */
  readonly current: string | undefined;
  readonly count: string | undefined;
}) {
  const { pathname, current, count } = props;
  const entries = useEntries(current);
  const here = labelAt(pathname, entries);
  const nav = useRef<HTMLElement>(null);
  // A click on the link asks before unsaved changes are lost.
  const open = (keys: string) => nav.current!.querySelector<HTMLElement>(`[data-keys="${keys}"]`)!.click();
  useKeys(Object.fromEntries(entries.map(({ keys }) => [keys, () => open(keys)])));
  return (
    <nav ref={nav} id="navigation" class="navigation" popover="auto" aria-label="Pages">
      <button type="button" class="button quiet close" popovertarget="navigation" popovertargetaction="hide">
        <span aria-hidden="true">×</span> Close
      </button>
      {[...Map.groupBy(entries, ({ section }) => section)].map(([section, own]) => (
        <div key={section}>
          <h2>{section}</h2>
          <ul>
            {own.map(({ label, href, icon, keys }) => (
              <li key={label}>
                <a href={href} aria-current={label === here ? "page" : undefined} data-keys={keys} data-page={label}>
                  <Icon drawn={icon} />
                  {label}
                  {label === ATTENTION && count && <span class="count">{count}</span>}
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
              <Icon drawn="M8 4.2C6.5 3 4.5 2.8 2.3 3v9.8c2.2-.2 4.2 0 5.7 1.2 1.5-1.2 3.5-1.4 5.7-1.2V3C11.5 2.8 9.5 3 8 4.2Zm0 0V14" />
              Docs
            </a>
          </li>
        </ul>
      </div>
    </nav>
  );
}

function Icon({ drawn }: { readonly drawn: string | undefined }) {
  return (
    <svg class="nav-icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={drawn} />
    </svg>
  );
}
