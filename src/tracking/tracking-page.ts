import { createHash } from "node:crypto";
import { escapeHtml, isolatedHtml } from "../domain/escape-html.ts";
import { isolateText } from "../domain/isolate-text.ts";
import type { EditResult } from "../domain/shipment/delivery-details.ts";
import { isLate, isOverdue, type TrackedShipment } from "../domain/shipment/tracked-shipment.ts";
import { hasEnded, SHIPMENT_STATUSES, type ShipmentStatus } from "../domain/shipment/shipment-state.ts";
import { TEXTS, type Language } from "./texts.ts";
import type { TrackingTexts } from "./texts/en.ts";

export const LANGUAGES = Object.keys(TEXTS) as readonly Language[];

const STYLE = `
:root{color-scheme:light dark;--page:light-dark(#f6f7f9,#14171c);--surface:light-dark(#fff,#1b1f26);
--line:light-dark(#dde1e8,#313843);--text:light-dark(#1a1f29,#e4e8ef);--minor:light-dark(#5b6473,#9ba5b5);
--accent:light-dark(#1f5fbf,#8ab4f8);--good:light-dark(#1c6b3a,#7fd19b);
--late:light-dark(#855000,#f0bd66);--late-soft:light-dark(#fcf0d9,#3a2e17)}
*,::before{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main,aside{max-width:34rem;margin:0 auto;padding:clamp(1rem,6vw,3rem) 1rem}
.photo{display:block;width:100%;max-height:32rem;object-fit:contain;margin:1.5rem 0 0;border-radius:.75rem;background:var(--surface);border:1px solid var(--line)}
.logo{display:block;max-width:12rem;max-height:4rem;margin:0 0 .75rem;padding:.25rem;border-radius:.25rem;background:light-dark(transparent,#fff)}
.sender{margin:0 0 .25rem;color:var(--minor);font-weight:600}
h1{margin:0;font-size:1.75rem;line-height:1.2;text-wrap:balance}
.plan{margin:.75rem 0 0;font-size:1.125rem}
.note{display:inline-block;margin:.5rem 0;padding:.125rem .625rem;border-radius:1rem;background:var(--late-soft);color:var(--late);font-weight:600}
section,dl{margin:1.5rem 0 0;padding:1.25rem;background:var(--surface);border:1px solid var(--line);border-radius:.75rem}
h2{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
ol{list-style:none;margin:0;padding:0}
li{position:relative;padding:0 0 1.25rem 2rem;color:var(--minor)}
li:last-child{padding-bottom:0}
li::before{content:"";position:absolute;left:0;top:.25rem;width:1rem;height:1rem;border-radius:50%;border:2px solid var(--line);background:var(--surface);z-index:1}
li:not(:last-child)::after{content:"";position:absolute;left:calc(.5rem - 1px);top:.75rem;bottom:-.25rem;width:2px;background:var(--line)}
li.done,li.now{color:var(--text)}
li.done::before,li.now::before{border-color:var(--accent);background:var(--accent)}
li.done::after{background:var(--accent)!important}
li.now strong{font-weight:700}
li.end::before{border-color:var(--good);background:var(--good)}
li strong{font-weight:500}
time{display:block;color:var(--minor);font-size:.875rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.5rem 1.25rem}
dt{color:var(--minor)}dd{margin:0;white-space:pre-line}
a{color:var(--accent)}
aside{padding-top:0}
aside form{display:flex;flex-wrap:wrap;gap:.5rem;padding:1.25rem;background:var(--surface);border:1px solid var(--line);border-radius:.75rem}
aside button{margin:0}
label{flex:1 0 100%;color:var(--minor)}
input,textarea{width:7rem;padding:.5rem .75rem;border:1px solid var(--minor);border-radius:.375rem;background:var(--surface);color:inherit;font:inherit}
input{letter-spacing:.2em}
textarea{width:100%;resize:vertical}
button{margin:1.5rem 0 0;padding:.625rem 1.125rem;border:0;border-radius:.375rem;background:var(--accent);color:var(--surface);font:inherit;font-weight:600}
footer{margin:1.5rem 0 0;color:var(--minor);font-size:.875rem}
@media(max-width:26rem){dl{grid-template-columns:1fr;gap:0}dd+dt{margin-top:.75rem}}
`;

/**
 * Poll interval of the page, in milliseconds. The page polls in addition to events, because some ETA changes cause no
 * event.
 */
const POLL_MS = 15_000;
const LIVE_POLL_MS = 60_000;

/**
 * Reloads the page after each event, and regularly while it is visible. Replaces the main part if it has
 * changed. Leaves a form unchanged, or removes it if the new page has none. A page that was opened with digits stays open. Reloading
 * stops when the new page has no script, as for a completed shipment. Without scripts the page does not change.
 */
const SCRIPT = `
const page = location.pathname.replace(/\\/open$/, "");
const { recipient } = document.currentScript.dataset;
const opened = recipient && { method: "POST", body: new URLSearchParams({ recipient }) };
let tag, timer, events, isBusy, isOver;
let isStale = false;
async function refresh() {
  isStale = true;
  if (isBusy) return;
  clearTimeout(timer);
  isBusy = true;
  while (isStale && !isOver && !document.hidden) try {
    isStale = false;
    const response = await fetch(opened ? page + "/open" : page, { ...opened, cache: "no-store", credentials: "omit", headers: tag && !opened ? { "if-none-match": tag } : {} });
    tag = response.headers.get("etag") ?? undefined;
    if (response.status === 200 || response.status === 404) {
      const read = new DOMParser().parseFromString(await response.text(), "text/html");
      const main = read.querySelector("main");
      const shown = document.querySelector("main");
      if (main.innerHTML !== shown.innerHTML) {
        shown.replaceChildren(...main.childNodes);
        document.title = read.title;
      }
      isOver = !read.querySelector("script");
      if (!read.querySelector("aside")) document.querySelector("aside")?.remove();
    }
  } catch {}
  isBusy = false;
  follow();
  rest();
}
function rest() {
  clearTimeout(timer);
  if (!isOver) timer = setTimeout(refresh, events?.readyState === 1 ? ${LIVE_POLL_MS} : ${POLL_MS});
}
function follow() {
  if (isOver || document.hidden) {
    events?.close();
    events = undefined;
  } else if (!events) {
    events = new EventSource(page + "/events");
    events.onmessage = refresh;
    events.onerror = () => {
      events.close();
      events = undefined;
      rest();
    };
  }
}
document.addEventListener("visibilitychange", follow);
follow();
rest();
`;

const digest = (text: string) => createHash("sha256").update(text).digest("base64");

/**
 * Content security policy of the pages. It allows only their own style and script, and requests to the same origin.
 */
export const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${digest(STYLE)}'`,
  `script-src 'sha256-${digest(SCRIPT)}'`,
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'self'",
].join("; ");

/** Language of a page and locale of its dates (RFC 5646). */
export interface Reader {
  readonly language: Language;
  readonly locale: string;
}

const STEPS = SHIPMENT_STATUSES.slice(0, SHIPMENT_STATUSES.indexOf("delivered") + 1);

/** Details for a verified recipient, or the number of remaining attempts. */
type Opened = OpenedPart | { readonly triesLeft: number };

interface OpenedPart {
  readonly address: string;
  readonly photo: Buffer | undefined;
  readonly recipientMac: string;
  readonly instructions: string | undefined;
  /** Whether the recipient may change the instructions. */
  readonly mayEdit: boolean;
  /** Result of changing the instructions. `undefined` if they were not sent. */
  readonly result: EditResult | undefined;
}

/**
 * Renders the tracking page of a shipment.
 *
 * @param at.link last part of the page's path
 * @param at.opened result of entering digits, `undefined` before digits were entered
 */
export function trackingPage(
  tracked: TrackedShipment,
  reader: Reader,
  at: { readonly link: string; readonly opened?: Opened | undefined },
): string {
  const texts = TEXTS[reader.language];
  const { status, workspace, test, reference, area } = tracked;
  const { contact } = workspace;
  const { courier, failed, stage } = tracked;
  const timeZone = timeZoneOf(tracked);
  const dates = datesOf(reader, timeZone);
  const problem = at.opened && "triesLeft" in at.opened ? at.opened : undefined;
  const opened = at.opened && "address" in at.opened ? at.opened : undefined;
  const { address, photo, instructions } = opened ?? {};
  const items = tracked.items.map(({ name, quantity }) => `${quantity} × ${isolatedHtml(name)}`);
  const away = courier?.distanceKm ? texts.away(kilometers(reader).format(courier.distanceKm)) : undefined;
  const courierParts = [courier?.firstName, courier?.vehicle, away].flatMap((part) =>
    part ? [isolatedHtml(part)] : [],
  );
  const facts: (readonly [string, string])[] = [
    ...(courierParts.length > 0 ? [[texts.courier, courierParts.join(" · ")] as const] : []),
    [texts.reference, escapeHtml(reference)],
    ...(address === undefined ? [] : [[texts.open.address, isolatedHtml(address)] as const]),
    ...(instructions === undefined ? [] : [[texts.open.instructions, isolatedHtml(instructions)] as const]),
    ...(items.length === 0 ? [] : [[texts.items, items.join("\n")] as const]),
    ...(area === undefined || address !== undefined ? [] : [[texts.area, isolatedHtml(area)] as const]),
    ...(contact === undefined ? [] : [[texts.contact, contactLink(contact)] as const]),
  ];
  const clock = datesOf(reader, timeZone, CLOCK);
  const dayOf = (atMs: number) =>
    Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).toPlainDate();
  /** Formats the time of a step. Omits the day if the previous step was on the same day. */
  const stepTime = (atMs: number, previousMs: number | undefined) =>
    (previousMs !== undefined && dayOf(previousMs).equals(dayOf(atMs)) ? clock : dates).format(atMs);
  const steps = stepsOf(tracked).map((step, index, all) => stepItem(step, all[index - 1], tracked, texts, stepTime));
  const content = `${test ? note(texts.test) : ""}
${workspace.logo ? `<img class="logo" alt="" src="data:image/png;base64,${workspace.logo.toString("base64")}">` : ""}
<p class="sender">${isolatedHtml(workspace.name)}</p>
<h1>${escapeHtml(stage === "at_dropoff" ? texts.atDoor : texts.headline[status])}</h1>
${plansOf(tracked, texts, dates)
  .map((plan) => `<p class="plan">${escapeHtml(plan)}</p>`)
  .join("")}
${failed ? note(`${texts.attempt[failed.reason]} (${dates.format(failed.atMs)})`) : ""}
${isLate(tracked) || isOverdue(tracked) ? note(texts.late) : ""}
<section>
<h2>${escapeHtml(texts.steps)}</h2>
<ol>${steps.join("")}</ol>
</section>
${photo ? `<img class="photo" alt="${escapeHtml(texts.open.photo)}" src="data:image/jpeg;base64,${photo.toString("base64")}">` : ""}
<dl>${facts.map(([term, value]) => `<dt>${escapeHtml(term)}</dt><dd dir="auto">${value}</dd>`).join("")}</dl>
<footer>${escapeHtml(timeZoneText(reader, timeZone))}</footer>`;
  const title = texts.title(isolateText(workspace.name));
  const digitsForm = tracked.canOpen ? openForm(texts, at.link, tracked.hasPhoto, problem) : "";
  const form = opened ? instructionsForm(texts, at.link, opened) : digitsForm;
  const recipient = opened ? ` data-recipient="${opened.recipientMac}"` : "";
  const script = hasEnded(status) ? "" : `<script${recipient}>${SCRIPT}</script>`;
  return html(reader, title, content, `${form}${script}`);
}

/**
 * Renders the form for digits. It is outside the part that is replaced, so that entered digits and their result stay.
 */
function openForm(
  { open }: TrackingTexts,
  link: string,
  hasPhoto: boolean,
  problem: { readonly triesLeft: number } | undefined,
): string {
  const isLocked = problem?.triesLeft === 0;
  const text = problem && (isLocked ? open.locked : open.wrong(problem.triesLeft));
  const alert = text === undefined ? "" : `<p class="note" role="alert">${escapeHtml(text)}</p>`;
  if (isLocked) return `<aside>${alert}</aside>\n`;
  return `<aside><form method="post" action="/t/${link}/open">
<label for="digits">${escapeHtml(open.digits)}</label>
<input id="digits" name="digits" inputmode="numeric" autocomplete="off" pattern="[0-9]{4}" maxlength="4" required>
<button>${escapeHtml(hasPhoto ? open.showAll : open.show)}</button>
${alert}</form></aside>
`;
}

/** Renders the form for instructions, or only its result if they can no longer be changed. */
function instructionsForm({ open }: TrackingTexts, link: string, opened: OpenedPart): string {
  const { mayEdit, result, recipientMac, instructions = "" } = opened;
  const alert = result === undefined ? "" : `<p class="note" role="alert">${escapeHtml(open[result])}</p>`;
  if (!mayEdit) return alert && `<aside>${alert}</aside>\n`;
  return `<aside><form method="post" action="/t/${link}/open">
<input type="hidden" name="recipient" value="${recipientMac}">
<label for="instructions">${escapeHtml(open.instructions)}</label>
<textarea id="instructions" name="instructions" dir="auto" rows="4" maxlength="500">${escapeHtml(instructions)}</textarea>
<button>${escapeHtml(open.save)}</button>
${alert}</form></aside>
`;
}

function kilometers({ locale }: Reader): Intl.NumberFormat {
  return new Intl.NumberFormat(locale, { style: "unit", unit: "kilometer" });
}

export function missingPage(reader: Reader): string {
  const { missing, missingReason } = TEXTS[reader.language];
  return html(reader, missing, messageHtml(missing, missingReason));
}

/** Renders the page shown while the service cannot respond. */
export function busyPage(reader: Reader): string {
  const { busy, busyReason } = TEXTS[reader.language];
  return html(reader, busy, messageHtml(busy, busyReason));
}

/** Renders the unsubscribe page. It asks for confirmation, because programs that show previews also open links. */
export function unsubscribePage(sender: string, isDone: boolean, reader: Reader): string {
  const { mail } = TEXTS[reader.language];
  const question = (isDone ? mail.stopped : mail.mayStop)(isolateText(sender));
  const form = isDone ? "" : `<form method="post"><button>${escapeHtml(mail.stopNow)}</button></form>`;
  return html(reader, mail.stop, `<h1>${escapeHtml(question)}</h1>\n${form}`);
}

function messageHtml(what: string, why: string): string {
  return `<h1>${escapeHtml(what)}</h1>\n<p>${escapeHtml(why)}</p>`;
}

function html({ language }: Reader, title: string, content: string, script = ""): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex,nofollow">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main aria-live="polite">${content}</main>
${script}
</body>
</html>
`;
}

function note(text: string): string {
  return `<p class="note">${escapeHtml(text)}</p>`;
}

/** Returns the time zone in which times are shown. */
export function timeZoneOf({ windows, workspace }: TrackedShipment): string {
  return windows.dropoff?.timeZone ?? windows.pickup?.timeZone ?? workspace.timeZone;
}

/** Names a time zone, such as "Eastern Time". The name does not depend on daylight saving time. */
export function timeZoneText({ language, locale }: Reader, timeZone: string): string {
  // The generic name of UTC is "GMT+00:00".
  const timeZoneName = timeZone.endsWith("UTC") ? "long" : "longGeneric";
  const format = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName });
  const name = format.formatToParts().find(({ type }) => type === "timeZoneName")!.value;
  return TEXTS[language].timeZone(name);
}

export function datesOf(
  { locale }: Reader,
  timeZone: string,
  format: Intl.DateTimeFormatOptions = { ...DAY, ...CLOCK },
): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(locale, { ...format, timeZone });
}

/** Returns the planned times of a pickup and delivery that have not happened yet. Includes ETAs that have passed. */
export function plansOf(tracked: TrackedShipment, texts: TrackingTexts, dates: Intl.DateTimeFormat): string[] {
  const {
    status,
    stage,
    etas,
    windows: { pickup, dropoff },
  } = tracked;
  if (hasEnded(status)) return [];
  const isOnItsWay = status === "in_transit";
  const isExpected = stage !== "at_dropoff" && etas.dropoff !== null;
  const etaText = isOverdue(tracked) ? texts.overdue : texts.eta;
  const plans = [
    isExpected && etaText(dates.format(etas.dropoff)),
    pickup && !isOnItsWay && texts.pickup(dates.formatRange(pickup.startMs, pickup.endMs)),
    dropoff && texts.delivery(dates.formatRange(dropoff.startMs, dropoff.endMs)),
  ];
  return plans.filter((plan) => typeof plan === "string");
}

/** Returns the steps of a shipment. For a canceled or returned shipment, returns only the completed steps. */
function stepsOf({ status, reachedMs }: TrackedShipment): readonly ShipmentStatus[] {
  if (STEPS.includes(status)) return STEPS;
  return [...STEPS.filter((step) => reachedMs[step] !== undefined), status];
}

function stepItem(
  step: ShipmentStatus,
  previous: ShipmentStatus | undefined,
  { status, reachedMs }: TrackedShipment,
  texts: TrackingTexts,
  stepTime: (atMs: number, previousMs: number | undefined) => string,
): string {
  const offset = SHIPMENT_STATUSES.indexOf(step) - SHIPMENT_STATUSES.indexOf(status);
  const atMs = offset > 0 ? undefined : reachedMs[step];
  const time =
    atMs === undefined
      ? ""
      : `<time datetime="${new Date(atMs).toISOString()}">${escapeHtml(stepTime(atMs, previous && reachedMs[previous]))}</time>`;
  const kind = offset > 0 ? "" : offset < 0 ? "done" : step === "delivered" ? "now end" : "now";
  const mark = offset === 0 ? ' aria-current="step"' : "";
  return `<li class="${kind}"${mark}><strong>${escapeHtml(texts.step[step])}</strong>${time}</li>`;
}

const DAY = { weekday: "long", day: "numeric", month: "long" } as const;
const CLOCK = { hour: "numeric", minute: "2-digit" } as const;

/** Matches the 0 in `+49 (0)30`, which is not dialed from abroad. */
const TRUNK_PREFIX = /(?<=^\+.*)\(0\)/;
const PHONE = /^\+?(?:[\s()./-]*\d){5,}[\s()./-]*$/;

/** Returns a link for a contact that is an email, phone number or web address. */
export function contactLink(contact: string): string {
  const text = escapeHtml(contact);
  if (/^https?:\/\/\S+$/.test(contact)) return `<a href="${text}" rel="noreferrer">${text}</a>`;
  if (/^[^\s@]+@[^\s@]+$/.test(contact)) return `<a href="mailto:${text}">${text}</a>`;
  if (!PHONE.test(contact)) return text;
  const number = contact.replace(TRUNK_PREFIX, "").replaceAll(/[^\d+]/g, "");
  return `<a href="tel:${number}">${text}</a>`;
}
