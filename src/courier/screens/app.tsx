import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorNote } from "../inputs/error-note.tsx";
import { readyActs } from "../run/queue.ts";
import { isOpen, nextEnd } from "../run/shipment.ts";
import type { Point } from "../../domain/coverage/geo.ts";
import { keepSynchronized } from "../sync/keep-synchronized.ts";
import { followPosition } from "../sync/places.ts";
import { type LinkResult, openLink } from "../sync/session.ts";
import { chooseLanguage, textsIn } from "../texts/texts.ts";
import { ActScreen } from "./act-screen.tsx";
import { OutboxScreen } from "./outbox-screen.tsx";
import { paths, tokenInAddress, useRoute } from "./route.ts";
import { RunScreen } from "./run-screen.tsx";
import { AppContext, type State, useStoredState, useApp } from "./state.ts";
import { StopScreen } from "./stop-screen.tsx";

const MINUTE_MS = 60_000;

/** The courier's page. */
export function Courier() {
  const [state, reload, isUnreadable] = useStoredState();
  const [isNotSynchronized, setNotSynchronized] = useState(false);
  const link = useLink();
  const synchronize = useRef<(() => void) | undefined>(undefined);
  useEffect(() => {
    if (link === "opening") return;
    // A link can be opened several times.
    if (synchronize.current === undefined) synchronize.current = keepSynchronized(setNotSynchronized);
    else synchronize.current();
  }, [link]);
  const position = usePosition(state);
  const nowMs = useNow() + (state?.clockOffsetMs ?? 0);
  const language = state?.language ?? chooseLanguage(navigator.languages);
  const t = textsIn(language);
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = t.run;
  }, [language]);
  const isFailed = isUnreadable || isNotSynchronized;
  if (state === undefined) return <main class="notice">{isFailed ? t.noStorage : t.loading}</main>;
  const app = { state, t, position, nowMs, reload, synchronize: () => synchronize.current?.() };
  return (
    <AppContext.Provider value={app}>
      <Banner />
      <ErrorNote text={isFailed && t.noStorage} />
      {link === "invalid" || link === "unreachable" ? (
        <LinkNeeded result={link} />
      ) : (
        link === undefined && state.session === undefined && <LinkNeeded />
      )}
      {state.session !== undefined && <Screen />}
    </AppContext.Provider>
  );
}

function Screen() {
  const [name, ...parts] = useRoute();
  const main = useRef<HTMLElement>(null);
  const path = [name, ...parts].join("/");
  useEffect(() => {
    scrollTo(0, 0);
    // Screen readers announce the new screen.
    if (path !== "") main.current?.querySelector<HTMLElement>("h1")?.focus();
  }, [path]);
  return (
    <main ref={main}>
      {name === "stop" ? (
        <StopScreen shipment={parts[0] ?? ""} end={parts[1] ?? ""} />
      ) : name === "act" ? (
        <ActScreen key={path} kind={parts[0] ?? ""} shipments={parts[1]?.split(",") ?? []} />
      ) : name === "outbox" ? (
        <OutboxScreen />
      ) : (
        <RunScreen />
      )}
    </main>
  );
}

/** Delay before a link is opened again if the service cannot be reached. Phones can be "online" without reception. */
const REOPEN_MS = 5_000;

/** Opens the link in the address, repeatedly until the service responds. Removes its token from the address. */
function useLink(): LinkResult | "opening" | undefined {
  const [result, setResult] = useState<LinkResult | "opening" | undefined>(
    tokenInAddress() === undefined ? undefined : "opening",
  );
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let opening: string | undefined;
    const open = async () => {
      clearTimeout(timer);
      const token = tokenInAddress();
      if (token === undefined || token === opening) return;
      opening = token;
      setResult((before) => (before === "unreachable" ? before : "opening"));
      const opened = await openLink(token).catch(() => "unreachable" as const);
      // Another link was followed in the meantime.
      if (opening !== token) return;
      opening = undefined;
      if (opened === "unreachable") timer = setTimeout(open, REOPEN_MS);
      else history.replaceState(null, "", `${location.pathname}${paths.run}`);
      setResult(opened);
    };
    void open();
    // A link that is opened while the page is open changes only the fragment.
    addEventListener("hashchange", open);
    addEventListener("online", open);
  }, []);
  return result;
}

/** Follows the device's position while the courier shares it and has stops ahead. */
function usePosition(state: State | undefined): Point | undefined {
  const [position, setPosition] = useState<Point>();
  const open = state?.shipments.filter(isOpen) ?? [];
  const isOn = state?.isLocated === true && open.length > 0;
  const references = useRef<readonly string[]>([]);
  // Recipients see the position once their shipment is picked up. The next pickup's dispatcher sees it before.
  const next = open.find((it) => nextEnd(it) === "pickup");
  references.current = open.filter((it) => it.status === "in_transit" || it === next).map((it) => it.reference);
  useEffect(() => {
    if (!isOn) return setPosition(undefined);
    return followPosition(() => references.current, setPosition);
  }, [isOn]);
  return position;
}

function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Asks the courier to open a link. `result` is the reason why the last link did not open. */
function LinkNeeded({ result }: { readonly result?: "invalid" | "unreachable" }) {
  const { state, t } = useApp();
  // Without a session, this is the whole page.
  const Element = state.session === undefined ? "main" : "section";
  const text = { invalid: t.linkInvalid, unreachable: t.linkUnreachable, none: t.linkNeededText }[result ?? "none"];
  return (
    <Element class="notice">
      {state.session === undefined && <h1>{t.linkNeeded}</h1>}
      <p role="alert">{text}</p>
    </Element>
  );
}

/** Number of unsent updates and the reason, with a link to the queue. */
function Banner() {
  const { state, t } = useApp();
  const { acts, connection, session } = state;
  if (session === undefined && acts.length === 0) return null;
  const refused = acts.filter(({ conflict }) => conflict !== undefined).length;
  const unsent = acts.length - refused;
  const ready = readyActs(acts, session?.courier.id).length;
  const text = {
    online: ready > 0 ? t.sending(ready) : unsent > 0 ? t.unsent(unsent) : "",
    offline: t.offline(unsent),
    signed_out: t.signedOut(unsent),
    suspended: t.suspended(unsent),
  }[connection];
  const isBad = refused > 0 || connection === "signed_out" || connection === "suspended";
  return (
    <div role="status">
      {(text !== "" || refused > 0) && (
        <a class={`banner ${isBad ? "bad" : ""}`} href={paths.outbox}>
          {text !== "" && <span>{text}</span>}
          {refused > 0 && <strong>{t.refused(refused)}</strong>}
        </a>
      )}
    </div>
  );
}
