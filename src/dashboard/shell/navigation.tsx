import { findWorkspace, useAccount, type EnteredWorkspace } from "../api/session.ts";
import { paths, settingsHref } from "../routes/paths.ts";
import { settingsParts } from "../workspaces/settings-parts.ts";
import { NavIcon } from "./nav-icon.tsx";

/** A place of the navigation: what it is called, and where it leads. */
type Place = readonly [label: string, href: string];

/** Pages by the section of the navigation that they stand in. */
type Menu = Readonly<Record<string, readonly Place[]>>;

const ATTENTION = "Needs attention";

function workspaceMenu(workspace: bigint): Menu {
  return {
    Workspace: [
      ["Overview", paths.overview({ workspace })],
      [ATTENTION, paths.attention({ workspace })],
      ["Shipments", paths.shipments({ workspace })],
      ["Quote and book", paths.book({ workspace })],
      ["Customers", paths.customers({ workspace })],
    ],
    Settings: [
      ["General", paths.settings({ workspace })],
      ["API", paths.apiKeys({ workspace })],
      ["Webhooks", paths.webhooks({ workspace })],
    ],
  };
}

/** The pages of a workspace and the parts of its settings, for the search. */
export function pagesOf({ id, isTest }: EnteredWorkspace): readonly Place[] {
  const parts = settingsParts(isTest).map(
    (part) => [part.label, settingsHref(id, part.id)] as const,
  );
  return [...Object.values(workspaceMenu(id)).flat(), ...parts];
}

/** The same page in the workspace's other mode; undefined where there is none. */
export function otherModeOf(entered: EnteredWorkspace, pathname: string): string | undefined {
  const { isTest, live, testWorkspace } = entered;
  const other = isTest ? live : testWorkspace;
  if (other === undefined) return undefined;
  const label = labelAt(pathname, workspaceMenu(entered.id));
  const there = Object.values(workspaceMenu(other)).flat();
  return there.find(([it]) => it === label)?.[1] ?? paths.shipments({ workspace: other });
}

const PLATFORM_MENU: Menu = {
  Platform: [
    ["Overview", paths.platform({})],
    [ATTENTION, paths.platformAttention({})],
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
  const entered = findWorkspace(workspaces, current);
  return entered === undefined ? {} : workspaceMenu(entered.id);
}

/** The label of the entry that a page belongs to: of the longest address that leads to it. */
function labelAt(pathname: string, menu: Menu): string | undefined {
  return Object.values(menu)
    .flat()
    .filter(([, href]) => pathname === href || pathname.startsWith(`${href}/`))
    .toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0];
}

/** The places that the reader can go to, by section. */
export function Navigation(props: {
  readonly pathname: string;
  /** The id of the workspace whose pages it has; the platform's without one. */
  readonly current: string | undefined;
  /** How many things need attention; undefined for none. */
  readonly count: string | undefined;
}) {
  const { pathname, current, count } = props;
  const menu = useMenu(current);
  const here = labelAt(pathname, menu);
  return (
    <nav id="navigation" class="navigation" popover="auto" aria-label="Pages">
      {Object.entries(menu).map(([section, entries]) => (
        <div key={section}>
          <h2>{section}</h2>
          <ul>
            {entries.map(([label, href]) => (
              <li key={label}>
                <a href={href} aria-current={label === here ? "page" : undefined}>
                  <NavIcon place={label} />
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
              <NavIcon place="Docs" />
              Docs
            </a>
          </li>
        </ul>
      </div>
    </nav>
  );
}
