import { useMemo } from "preact/hooks";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { type SearchMatch, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { clientFor } from "../api/clients.ts";
import { type EnteredWorkspace, findWorkspace, useAccount } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { PHONE } from "../ui/page.tsx";
import { recentShipments } from "../shipments/newest-shipments.ts";
import { connectionLoader, generalActs, platformActs, shipmentActs } from "./acts.tsx";
import type { Hit } from "./hit.ts";

const MAX_HITS = 8;
/** Maximum number of customers beside shipments. */
const MAX_CUSTOMERS = 3;
const MAX_NEWEST = 5;

export type Groups = readonly (readonly [name: string, hits: readonly Hit[]])[];

interface Finder {
  readonly placeholder: string;
  /** Recently opened results. */
  readonly recent: readonly Hit[];
  readonly find: (text: string, signal: AbortSignal) => Promise<Groups>;
  /** Searches and pages proposed if nothing is found, and how to search. */
  readonly propose: (text: string) => readonly Hit[];
  readonly hint: string;
}

/**
 * Returns a search for everything except pages, in a workspace or, without one, on the platform.
 *
 * @param onScreen reference of the page's shipment
 */
export function useFinder(workspace: string | undefined, onScreen: string | undefined): Finder {
  const { workspaces, operatorRole } = useAccount();
  const entered = findWorkspace(workspaces, workspace);
  return useMemo(
    () => (entered === undefined ? platformFinder(platformActs(operatorRole)) : workspaceFinder(entered, onScreen)),
    [entered?.id, entered?.role, operatorRole, onScreen],
  );
}

/** Whether each word of a text starts a word of the label, ignoring case. */
export function hasWords(label: string, text: string): boolean {
  const words = label
    .toLowerCase()
    .split(/[^\p{L}\p{N}-]+/u)
    .flatMap((word) => [word, ...word.split("-")]);
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((begun) => words.some((word) => word.startsWith(begun)));
}

/** Returns the first shipment reference in a text. */
export function referenceIn(text: string): string | undefined {
  return /\bSHP-[0-9A-Z]{12}\b/i.exec(text)?.[0];
}

const PLACEHOLDER = "Reference, name, address, phone, email, courier, note or action";
const SHORT_PLACEHOLDER = "Reference, name, address…";

function workspaceFinder(entered: EnteredWorkspace, onScreen: string | undefined): Finder {
  const workspace = String(entered.id);
  const client = clientFor(ShipmentService, workspace);
  const connection = connectionLoader(entered);
  const load = async (shipment: string, signal: AbortSignal) =>
    (await client.getShipment({ shipment }, { signal }).catch(() => undefined))?.data;
  const recent = recentShipments(workspace).map(({ reference, customer }) => ({
    href: paths.shipment({ workspace, reference }),
    label: reference,
    note: customer,
  }));
  const search = async (text: string, signal: AbortSignal) => {
    if (text !== "") return client.searchShipments({ text }, { signal });
    const newest = recent.length > 0 ? [] : (await client.listShipments({ pageSize: MAX_NEWEST }, { signal })).data;
    return { shipments: newest, customers: [], matches: [] };
  };
  return {
    placeholder: PHONE.matches ? SHORT_PLACEHOLDER : PLACEHOLDER,
    hint: "Check the spelling, or search by the start of a name, a street or the last four digits of a phone number.",
    recent,
    propose: (text) => [
      ...wordsOf(text),
      ...generalActs(entered).filter(({ href }) => href !== undefined),
      { label: "Show all shipments", href: paths.shipments({ workspace }) },
      { label: "Show all customers", href: paths.customers({ workspace }) },
    ],
    async find(text, signal) {
      // Words next to a shipment reference search that shipment's actions.
      const reference = referenceIn(text) ?? text;
      const rest = text.replace(reference, "").trim();
      const [{ shipments, customers, matches }, current] = await Promise.all([
        search(reference, signal),
        onScreen === undefined ? undefined : load(onScreen, signal),
      ]);
      const [only] = shipments.length === 1 ? shipments : [];
      const ofFound = only === undefined ? [] : await shipmentActs(entered, only, connection);
      const ofCurrent =
        current === undefined || current.reference === only?.reference
          ? []
          : await shipmentActs(entered, current, connection);
      const others = [...ofCurrent, ...generalActs(entered)];
      const acts = [
        ...ofFound.filter(({ label }) => hasWords(label, rest)),
        ...others.filter(({ label }) => hasWords(label, text)),
      ];
      const ofCustomers = customers.map((customer) => customerHit(workspace, customer, matches));
      if (shipments.length > 0 && customers.length > MAX_CUSTOMERS) {
        const all = { label: "Show all customers found", href: paths.customers({ workspace }, { text }) };
        ofCustomers.splice(MAX_CUSTOMERS, Infinity, all);
      }
      const found: Groups = [
        [text === "" ? "Newest" : "Shipments", shipments.map((shipment) => shipmentHit(workspace, shipment, matches))],
        ["Customers", ofCustomers],
      ];
      const isName = matches.some(({ customer, field }) => customer !== undefined && field === "name");
      const ordered = isName ? found.toReversed() : found;
      return rest === "" ? [...ordered, ["Actions", acts]] : [["Actions", acts], ...ordered];
    },
  };
}

/** Proposes a search for each word of a text of several words. */
function wordsOf(text: string): readonly Hit[] {
  const words = [...new Set(text.split(/\s+/))];
  return words.length < 2 ? [] : words.map((word) => ({ label: `Search for “${word}” alone`, search: word }));
}

function shipmentHit(workspace: string, shipment: Shipment, all: readonly SearchMatch[]): Hit {
  const { reference, recipientName, customer, dropoffAddress } = shipment;
  const parts = [recipientName ?? customer?.name ?? "", dropoffAddress];
  const own = all.filter((match) => match.shipment === reference);
  const href = paths.shipment({ workspace, reference });
  return { href, label: reference, note: parts.join(" · "), matches: named(own, [reference, ...parts]), shipment };
}

function customerHit(workspace: string, { id, name, email }: Customer, all: readonly SearchMatch[]): Hit {
  const own = all.filter(({ customer }) => customer === id);
  const href = paths.customer({ workspace, customer: id });
  return { href, label: name, note: email, matches: named(own, [name, email]) };
}

/** Returns the matched fields with their names, except those whose values the result already shows. */
function named(matches: readonly SearchMatch[], shown: readonly string[]): Hit["matches"] {
  return matches.filter(({ value }) => !shown.includes(value)).map(({ field, value }) => [fieldText(field), value]);
}

/** Converts a field path to text: `courier.name` to `Courier`, `metadata["po_number"]` to `po_number`. */
function fieldText(field: string): string {
  const key = /^metadata\["(.*)"\]$/s.exec(field)?.[1];
  if (key !== undefined) return key;
  const text = field.replace(/[._]name$/, "").replaceAll(/\[\d+\]/g, "");
  return text.replaceAll(/[._]/g, " ").replace(/^./, (first) => first.toUpperCase());
}

function platformFinder(acts: readonly Hit[]): Finder {
  const workspaces = clientFor(WorkspaceAdminService);
  const operators = clientFor(OperatorService);
  const tariffs = clientFor(TariffService);
  return {
    placeholder: "Workspace, operator, draft or action",
    hint: "Check the spelling, or search by a part of a workspace’s name.",
    recent: [],
    propose: (text) => [
      ...wordsOf(text),
      ...acts,
      { label: "Show all workspaces", href: paths.platformWorkspaces({}) },
    ],
    async find(text, signal) {
      if (text === "") return [["Actions", acts]];
      const [ofWorkspaces, ofOperators, ofDrafts] = await Promise.all([
        workspaces.listWorkspaces({ nameContains: text, pageSize: MAX_HITS }, { signal }),
        operators.listOperators({ pageSize: 100 }, { signal }),
        tariffs.listTariffDrafts({}, { signal }),
      ]);
      const withWords = <Row extends { readonly name: string }>(rows: readonly Row[], hrefOf: (row: Row) => string) =>
        rows
          .filter(({ name }) => hasWords(name, text))
          .slice(0, MAX_HITS)
          .map((row) => ({ href: hrefOf(row), label: row.name }));
      return [
        [
          "Workspaces",
          ofWorkspaces.data.map(({ id, name, suspendedAt }) => ({
            href: paths.platformWorkspace({ workspace: id }),
            label: name,
            note: suspendedAt && "Suspended",
          })),
        ],
        ["Operators", withWords(ofOperators.data, ({ id }) => paths.operator({ operator: id }))],
        ["Drafts", withWords(ofDrafts.data, ({ id }) => paths.tariffDraft({ draft: id }))],
        ["Actions", acts.filter(({ label }) => hasWords(label, text))],
      ];
    },
  };
}
