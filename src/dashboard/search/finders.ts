import { useMemo } from "preact/hooks";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { clientFor } from "../api/clients.ts";
import { paths } from "../routes/paths.ts";
import { recentShipments } from "../shipments/newest-shipments.ts";

const MOST = 8;

export interface Hit {
  readonly href: string;
  readonly label: string;
  readonly note?: string | undefined;
  readonly shipment?: Shipment;
}

export type Groups = readonly (readonly [name: string, hits: readonly Hit[]])[];

interface Finder {
  readonly placeholder: string;
  /** What was looked at last. */
  readonly recent: readonly Hit[];
  readonly find: (text: string, signal: AbortSignal) => Promise<Groups>;
}

/** What the search finds besides pages: in a workspace, or on the platform where there is none. */
export function useFinder(workspace: string | undefined): Finder {
  return useMemo(
    () => (workspace === undefined ? platformFinder() : workspaceFinder(workspace)),
    [workspace],
  );
}

/** Whether a label has the words of a text, each of which may be begun, in whatever case. */
export function hasWords(label: string, text: string): boolean {
  const words = label.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((begun) => words.some((word) => word.startsWith(begun)));
}

function workspaceFinder(workspace: string): Finder {
  const client = clientFor(ShipmentService, workspace);
  return {
    placeholder: "Reference, or words of names, addresses and notes",
    recent: recentShipments(workspace).map(({ reference, customer }) => ({
      href: paths.shipment({ workspace, reference }),
      label: reference,
      note: customer,
    })),
    async find(text, signal) {
      const { shipments, customers } = await client.searchShipments({ text }, { signal });
      return [
        ["Shipments", shipments.map((shipment) => shipmentHit(workspace, shipment))],
        [
          "Customers",
          customers.map(({ id, name, email }) => ({
            href: paths.customer({ workspace, customer: id }),
            label: name,
            note: email,
          })),
        ],
      ];
    },
  };
}

function shipmentHit(workspace: string, shipment: Shipment): Hit {
  const { reference, externalReference, customer, dropoffAddress } = shipment;
  const parts = [externalReference, customer?.name, dropoffAddress];
  return {
    href: paths.shipment({ workspace, reference }),
    label: reference,
    note: parts.filter(Boolean).join(" · "),
    shipment,
  };
}

function platformFinder(): Finder {
  const workspaces = clientFor(WorkspaceAdminService);
  const operators = clientFor(OperatorService);
  const tariffs = clientFor(TariffService);
  return {
    placeholder: "Workspace, operator or draft",
    recent: [],
    async find(text, signal) {
      const [ofWorkspaces, ofOperators, ofDrafts] = await Promise.all([
        workspaces.listWorkspaces({ nameContains: text, pageSize: MOST }, { signal }),
        operators.listOperators({ pageSize: 100 }, { signal }),
        tariffs.listTariffDrafts({}, { signal }),
      ]);
      const named = <Row extends { readonly name: string }>(
        rows: readonly Row[],
        hrefOf: (row: Row) => string,
      ) =>
        rows
          .filter(({ name }) => hasWords(name, text))
          .slice(0, MOST)
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
