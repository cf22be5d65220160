import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useDebounced, useQuery } from "../api/use-query.ts";
import { AlertOrState } from "../shipments/shipment-badge.tsx";
import { usePlace } from "../routes/router.ts";
import { useModal } from "../ui/dialog.tsx";
import { OPEN } from "../ui/pager.tsx";
import { ProblemNote } from "../ui/query-view.tsx";
import { type Groups, hasWords, type Hit, referenceIn, useFinder } from "./finders.ts";
import "./search-dialog.css";

const MAX_LENGTH = 60;
const PAUSE_MS = 80;

export interface SearchDialogProps {
  /** Undefined on the pages of the platform. */
  readonly workspace: string | undefined;
  readonly pages: readonly (readonly [label: string, href: string])[];
  readonly close: () => void;
}

/**
 * Finds what is in a workspace, or on the platform, and pages, as one types; before, it shows what was looked at
 * last. The arrow keys choose, Enter goes there.
 */
export function SearchDialog(props: SearchDialogProps) {
  const [text, setText] = useState("");
  const { groups, query, isSettled, placeholder } = useHits(text.trim(), props);
  const hits = groups.flatMap(([, own]) => own);
  const isNothing = isSettled && text.trim() !== "" && hits.length === 0;
  const [chosen, setChosen] = useState(0);
  const at = Math.min(chosen, hits.length - 1);
  const id = useId();
  const move = (step: number) => setChosen((at + step + hits.length) % Math.max(hits.length, 1));
  const optionId = (hit: Hit | undefined) => hit && `${id}-${hits.indexOf(hit)}`;
  const followWhenFound = useFollow(text, optionId(hits[at]), isSettled);
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  return (
    <Modal close={props.close}>
      <input
        type="text"
        role="combobox"
        aria-label="Search"
        aria-expanded={hits.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={optionId(hits[at])}
        placeholder={placeholder}
        autoComplete="off"
        spellcheck={false}
        maxLength={MAX_LENGTH}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") move(1);
          else if (event.key === "ArrowUp") move(-1);
          else if (event.key === "Enter") followWhenFound();
          else return;
          event.preventDefault();
        }}
      />
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
        {isNothing && `Nothing is found by “${text.trim()}”.`}
      </p>
    </Modal>
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

function useHits(text: string, { workspace, pages }: SearchDialogProps) {
  const { pathname, query: place } = usePlace();
  const onScreen = referenceIn(pathname) ?? referenceIn(place.get(OPEN) ?? "");
  const { placeholder, recent, find } = useFinder(workspace, onScreen);
  const asked = useDebounced(text, PAUSE_MS);
  const query = useQuery(
    async (signal) => ({ text: asked, found: await find(asked, signal) }),
    [find, asked],
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

/** Follows an option at Enter; where what was typed is still looked up, once that is found, unless more is typed. */
function useFollow(text: string, option: string | undefined, isSettled: boolean): () => void {
  const awaited = useRef<string>(undefined);
  const follow = () => option !== undefined && document.getElementById(option)?.click();
  useEffect(() => {
    if (!isSettled) return;
    if (awaited.current === text) follow();
    awaited.current = undefined;
  }, [text, option, isSettled]);
  return () => {
    if (!isSettled) awaited.current = text;
    else follow();
  };
}

function Modal(props: { readonly close: () => void; readonly children: ComponentChildren }) {
  const dialog = useModal();
  return (
    <dialog
      ref={dialog}
      class="search-dialog"
      aria-label="Search"
      onClose={props.close}
      onClick={({ target, currentTarget }) => {
        const option = (target as Element).closest("[role=option]");
        // A click beside it is one on the dialog itself: its content covers it. The page that is shown is there already,
        // and an act opens a dialog of its own.
        const isLeft = option instanceof HTMLAnchorElement && option.href !== location.href;
        if (target === currentTarget || (option && !isLeft)) props.close();
      }}
    >
      <div>{props.children}</div>
    </dialog>
  );
}
