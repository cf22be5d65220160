import { useEffect, useLayoutEffect } from "preact/hooks";
import { useDebounced, useQuery } from "../api/use-query.ts";
import { AlertOrState } from "../shipments/shipment-badge.tsx";
import { useLocation } from "../routes/router.ts";
import { OPEN } from "../ui/pager.tsx";
import { ProblemNote } from "../ui/page.tsx";
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

/** The text of the input, and the keys pressed since it changed. */
export interface Keys {
  readonly text: string;
  /** Number of down arrow presses minus up arrow presses. */
  readonly steps: number;
  /** `text` and `steps` when Enter was pressed, or `undefined` once processed. */
  readonly entered: Pick<Keys, "text" | "steps"> | undefined;
}

interface SearchResultsProps extends SearchSource, Keys {
  readonly id: string;
  readonly clearEntered: () => void;
  /** Sets the input attributes that depend on the results. */
  readonly setField: (field: SearchField) => void;
}

/**
 * Searches the shipments, customers and pages of a workspace, or the platform, during typing.
 * Without a text, lists recently opened shipments. Enter follows the selected result once the
 * search has finished, unless the text or the selection has changed since. If nothing is found, proposes searches and pages.
 */
export function SearchResults(props: SearchResultsProps) {
  const { id, text, steps, entered, setField, clearEntered } = props;
  const { groups, nothing, query, isSettled, placeholder } = useHits(text.trim(), props);
  const hits = groups.flatMap(([, own]) => own);
  // A proposal must be selected first, because Enter expects a result.
  const isUnselected = hits.length === 0 || (nothing !== undefined && steps === 0);
  const step = nothing !== undefined && steps > 0 ? steps - 1 : steps;
  const at = isUnselected ? -1 : ((step % hits.length) + hits.length) % hits.length;
  const optionId = (hit: Hit | undefined) => hit && `${id}-${hits.indexOf(hit)}`;
  const chosen = optionId(hits[at]);
  useLayoutEffect(() => setField({ placeholder, chosen }), [placeholder, chosen]);
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  useEffect(() => {
    if (entered === undefined || !isSettled) return;
    clearEntered();
    const isCurrent = entered.text === text && entered.steps === steps;
    if (isCurrent && chosen !== undefined) document.getElementById(chosen)?.click();
  }, [entered, text, steps, chosen, isSettled]);
  return (
    <>
      {query.problem && <ProblemNote problem={query.problem} retry={query.reload} />}
      <p class="minor" role="status">
        {nothing}
      </p>
      <div role="listbox" id={id} aria-label="Results" hidden={hits.length === 0}>
        {groups.map(([name, own]) => (
          <div key={name} role="group" aria-label={name}>
            <p aria-hidden="true">{name}</p>
            {own.map((hit) => {
              const shown = { id: optionId(hit)!, hit, isChosen: hit === hits[at], text };
              return <Option key={hit.href ?? hit.label} {...shown} />;
            })}
          </div>
        ))}
      </div>
    </>
  );
}

function Option(props: {
  readonly id: string;
  readonly hit: Hit;
  readonly isChosen: boolean;
  /** The search text, whose words are in bold. */
  readonly text: string;
}) {
  const { text } = props;
  const { href, run, label, note, matches = [], shipment, search } = props.hit;
  const option = {
    id: props.id,
    role: "option",
    tabIndex: -1,
    "aria-selected": props.isChosen,
  } as const;
  if (href === undefined) {
    return (
      <div {...option} data-search={search} onClick={run}>
        {label}
      </div>
    );
  }
  const name = <Marked text={text}>{label}</Marked>;
  return (
    <a {...option} href={href}>
      <span>{shipment ? <code>{name}</code> : name}</span>
      {shipment && <AlertOrState {...shipment} />}
      {note && (
        <span class="about" dir="auto">
          <Marked text={text}>{note}</Marked>
        </span>
      )}
      {matches.map(([field, value]) => (
        <span key={field} class="match">
          {field}: <Marked text={text}>{value}</Marked>
        </span>
      ))}
    </a>
  );
}

/** Shows a value with the parts in bold that match words of the search text. */
function Marked(props: { readonly text: string; readonly children: string }) {
  const words = props.text.match(/[\p{L}\p{M}\p{N}]+/gu);
  if (words === null) return <>{props.children}</>;
  const isNumber = /^[+\d\s().-]{4,}$/.test(props.text);
  // A phone number can be stored without the zeros of a prefix.
  const [, zeros = "", digits = ""] = /^(0*)(.*)$/.exec(words.join(""))!;
  const pattern = isNumber
    ? `((?:${zeros})?${digits.split("").join("[\\s().-]*")})`
    : `(?<![\\p{L}\\p{N}])(${words.join("|")})`;
  // Every second part is a match.
  const parts = props.children.split(new RegExp(pattern, "giu"));
  return <>{parts.map((part, i) => (i % 2 === 1 ? <b key={i}>{part}</b> : part))}</>;
}

function useHits(text: string, { workspace, pages }: SearchSource) {
  const { pathname, query: pageQuery } = useLocation();
  const onScreen = referenceIn(pathname) ?? referenceIn(pageQuery.get(OPEN) ?? "");
  const { placeholder, recent, find, propose, hint } = useFinder(workspace, onScreen);
  const debounced = useDebounced(text, PAUSE_MS);
  const query = useQuery(
    async (signal) => ({ text: debounced, found: await find(debounced, signal) }),
    [find, debounced],
  );
  const named = pages.map(([label, href]) => ({ label, href }));
  const all: Groups = [
    ["Recent", text === "" ? recent : []],
    ...(text === "" && query.data?.text !== "" ? [] : (query.data?.found ?? [])),
    ["Pages", named.filter(({ label }) => hasWords(label, text))],
  ];
  const groups = all.filter(([, hits]) => hits.length > 0);
  const isSettled = query.data?.text === text && !query.isLoading;
  const isNothing = isSettled && groups.length === 0;
  return {
    groups: isNothing ? ([["Try next", propose(text)]] satisfies Groups) : groups,
    nothing: isNothing ? `No results for “${text}”. ${hint}` : undefined,
    query,
    isSettled,
    placeholder,
  };
}
