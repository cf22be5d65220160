import { useEffect, useLayoutEffect } from "preact/hooks";
import { useDebounced, useQuery } from "../api/use-query.ts";
import { AlertOrState } from "../shipments/shipment-badge.tsx";
import { useLocation } from "../routes/router.ts";
import { OPEN } from "../ui/pager.tsx";
import { ProblemNote } from "../ui/query-view.tsx";
import { type Groups, hasWords, referenceIn, useFinder } from "./finders.ts";
import type { Hit } from "./hit.ts";

const PAUSE_MS = 80;

/** The workspace and pages that the search covers. */
export interface SearchSource {
  /** Workspace ID, or `undefined` on the platform's pages. */
  readonly workspace: string | undefined;
  readonly pages: readonly (readonly [label: string, href: string])[];
}

export interface SearchField {
  readonly placeholder: string;
  /** Element ID of the selected result. */
  readonly chosen?: string | undefined;
}

interface SearchResultsProps extends SearchSource {
  readonly id: string;
  readonly text: string;
  /** Number of down arrow presses minus up arrow presses since the text changed. */
  readonly steps: number;
  /** The text at the time Enter was pressed, or `undefined` once processed. */
  readonly entered: string | undefined;
  readonly clearEntered: () => void;
  /** Sets the input attributes that depend on the results. */
  readonly setField: (field: SearchField) => void;
}

/**
 * Searches the shipments, customers and pages of a workspace, or the platform, during typing.
 * Without a text, lists recently opened shipments. Enter follows the selected result once the
 * search has finished, unless the text has changed since.
 */
export function SearchResults(props: SearchResultsProps) {
  const { id, text, steps, entered, setField, clearEntered } = props;
  const { groups, query, isSettled, placeholder } = useHits(text.trim(), props);
  const hits = groups.flatMap(([, own]) => own);
  const isNothing = isSettled && text.trim() !== "" && hits.length === 0;
  const at = hits.length === 0 ? -1 : ((steps % hits.length) + hits.length) % hits.length;
  const optionId = (hit: Hit | undefined) => hit && `${id}-${hits.indexOf(hit)}`;
  const chosen = optionId(hits[at]);
  useLayoutEffect(() => setField({ placeholder, chosen }), [placeholder, chosen]);
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  useEffect(() => {
    if (entered === undefined || !isSettled) return;
    clearEntered();
    if (entered === text && chosen !== undefined) document.getElementById(chosen)?.click();
  }, [entered, text, chosen, isSettled]);
  return (
    <>
      {query.problem && <ProblemNote problem={query.problem} retry={query.reload} />}
      <div role="listbox" id={id} aria-label="Results" hidden={hits.length === 0}>
        {groups.map(([name, own]) => (
          <div key={name} role="group" aria-label={name}>
            <p aria-hidden="true">{name}</p>
            {own.map((hit) => {
              const shown = { id: optionId(hit)!, hit, isChosen: hit === hits[at] };
              return <Option key={hit.href ?? hit.label} {...shown} />;
            })}
          </div>
        ))}
      </div>
      <p class="minor" role="status">
        {isNothing && `No results for “${text.trim()}”.`}
      </p>
    </>
  );
}

function Option(props: { readonly id: string; readonly hit: Hit; readonly isChosen: boolean }) {
  const { href, run, label, note, shipment } = props.hit;
  const option = {
    id: props.id,
    role: "option",
    tabIndex: -1,
    "aria-selected": props.isChosen,
  } as const;
  if (run !== undefined) {
    return (
      <div {...option} onClick={run}>
        {label}
      </div>
    );
  }
  return (
    <a {...option} href={href}>
      <span>{shipment ? <code>{label}</code> : label}</span>
      {shipment && <AlertOrState {...shipment} />}
      {note && <span class="about">{note}</span>}
    </a>
  );
}

function useHits(text: string, { workspace, pages }: SearchSource) {
  const { pathname, query: pageQuery } = useLocation();
  const onScreen = referenceIn(pathname) ?? referenceIn(pageQuery.get(OPEN) ?? "");
  const { placeholder, recent, find } = useFinder(workspace, onScreen);
  const debounced = useDebounced(text, PAUSE_MS);
  const query = useQuery(
    async (signal) => ({ text: debounced, found: await find(debounced, signal) }),
    [find, debounced],
  );
  const named = pages.map(([label, href]) => ({ label, href }));
  const groups: Groups = [
    ["Recent", text === "" ? recent : []],
    ...(text === "" && query.data?.text !== "" ? [] : (query.data?.found ?? [])),
    ["Pages", named.filter(({ label }) => hasWords(label, text))],
  ];
  const isSettled = query.data?.text === text && !query.isLoading;
  return { groups: groups.filter(([, hits]) => hits.length > 0), query, isSettled, placeholder };
}
