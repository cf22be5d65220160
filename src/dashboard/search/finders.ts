import { useMemo } from "preact/hooks";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { type SearchMatch, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { clientFor } from "../api/clients.ts";
import { type EnteredWorkspace, findWorkspace, useAccount } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { recentShipments } from "../shipments/newest-shipments.ts";
import { connectionLoader, generalActs, shipmentActs } from "./acts.tsx";
import type { Hit } from "./hit.ts";

const MAX_HITS = 8;

export type Groups = readonly (readonly [name: string, hits: readonly Hit[]])[];

interface Finder {
  readonly placeholder: string;
  /** Recently opened results. */
  readonly recent: readonly Hit[];
  readonly find: (text: string, signal: AbortSignal) => Promise<Groups>;
}

/**
 * Returns a search for everything except pages, in a workspace or, without one, on the platform.
 *
 * @param onScreen reference of the page's shipment
 */
export function useFinder(workspace: string | undefined, onScreen: string | undefined): Finder {
  const { workspaces } = useAccount();
  const entered = findWorkspace(workspaces, workspace);
  return useMemo(
    () => (entered === undefined ? platformFinder() : workspaceFinder(entered, onScreen)),
    [entered?.id, entered?.role, onScreen],
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

function workspaceFinder(entered: EnteredWorkspace, onScreen: string | undefined): Finder {
  const workspace = String(entered.id);
  const client = clientFor(ShipmentService, workspace);
  const connection = connectionLoader(entered);
  const load = async (shipment: string, signal: AbortSignal) =>
    (await client.getShipment({ shipment }, { signal }).catch(() => undefined))?.data;
  const search = async (text: string, signal: AbortSignal) =>
    text === "" ? { shipments: [], customers: [], matches: [] } : client.searchShipments({ text }, { signal });
  return {
    placeholder: "Reference, name, address, phone, email, courier, note or action",
    recent: recentShipments(workspace).map(({ reference, customer }) => ({
      href: paths.shipment({ workspace, reference }),
      label: reference,
      note: customer,
    })),
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
      const found: Groups = [
        ["Shipments", shipments.map((shipment) => shipmentHit(workspace, shipment, matches))],
        [
          "Customers",
          customers.map(({ id, name, email }) => ({
            href: paths.customer({ workspace, customer: id }),
            label: name,
            note: noteOf(
              name,
              [email],
              matches.filter(({ customer }) => customer === id),
            ),
          })),
        ],
      ];
      return rest === "" ? [...found, ["Actions", acts]] : [["Actions", acts], ...found];
    },
  };
}

function shipmentHit(workspace: string, shipment: Shipment, matches: readonly SearchMatch[]): Hit {
  const { reference, externalReference, customer, dropoffAddress } = shipment;
  const parts = [externalReference, customer?.name, dropoffAddress];
  return {
    href: paths.shipment({ workspace, reference }),
    label: reference,
    note: noteOf(
      reference,
      parts,
      matches.filter((match) => match.shipment === reference),
    ),
    shipment,
  };
}

/** Returns a result's note: matched fields that the label and parts do not show, then the parts. */
function noteOf(label: string, parts: readonly (string | undefined)[], matches: readonly SearchMatch[]): string {
  const others = matches.filter(({ value }) => value !== label && !parts.includes(value));
  const named = others.map(({ field, value }) => `${fieldText(field)}: ${value}`);
  return [...named, ...parts.filter(Boolean)].join(" · ");
}

/** Converts a field path to text: `courier.name` to `Courier name`, `metadata["po_number"]` to `po_number`. */
function fieldText(field: string): string {
  const key = /^metadata\["(.*)"\]$/s.exec(field)?.[1];
  if (key !== undefined) return key;
  return field.replaceAll(/[._]/g, " ").replace(/^./, (first) => first.toUpperCase());
}

function platformFinder(): Finder {
  const workspaces = clientFor(WorkspaceAdminService);
  const operators = clientFor(OperatorService);
  const tariffs = clientFor(TariffService);
  return {
    placeholder: "Workspace, operator or draft",
    recent: [],
    async find(text, signal) {
      if (text === "") return [];
      const [ofWorkspaces, ofOperators, ofDrafts] = await Promise.all([
        workspaces.listWorkspaces({ nameContains: text, pageSize: MAX_HITS }, { signal }),
        operators.listOperators({ pageSize: 100 }, { signal }),
        tariffs.listTariffDrafts({}, { signal }),
      ]);
      const named = <Row extends { readonly name: string }>(rows: readonly Row[], hrefOf: (row: Row) => string) =>
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
        ["Operators", named(ofOperators.data, ({ id }) => paths.operator({ operator: id }))],
        ["Drafts", named(ofDrafts.data, ({ id }) => paths.tariffDraft({ draft: id }))],
      ];
    },
  };
}
