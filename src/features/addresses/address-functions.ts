import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AddressSchema, type AddressService } from "../../../gen/shipments/v1/address_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Point } from "../../domain/coverage/geo.ts";
import { refuse } from "../../domain/refusal.ts";
import { type End, ENDS } from "../../domain/route-ends.ts";
import { STATES } from "../../domain/shipment/shipment-state.ts";
import { compileToMessage } from "../../json/records.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { listParts, readShipmentFilters, selectListed } from "../shipments/shipment-filters.ts";
import type { AddressLookups } from "./address-lookups.ts";

export interface AddressDeps {
  readonly em: EntityManager;
  /** `undefined` without a geocoder. */
  readonly addresses: AddressLookups | undefined;
}

const toAddress = compileToMessage(AddressSchema);

const DEFAULT_LIMIT = 5;
/** Number of a customer's latest shipments whose addresses are listed. */
const MAX_SHIPMENTS = 50;

export const ADDRESS_FUNCTIONS: ServiceFunctions<typeof AddressService, Call, AddressDeps> = {
  async searchAddresses(request, call, { addresses }) {
    const { query, limit = DEFAULT_LIMIT } = request;
    const near = nearOf(request);
    const { search, attribution } = assertGeocoder(addresses);
    const found = await search(call, { text: query, near, limit });
    return { data: found.map(toAddress), attribution };
  },

  async reverseGeocode({ lat, lng }, call, { addresses }) {
    const { reverse, attribution } = assertGeocoder(addresses);
    return { data: (await reverse(call, { lat, lng })).map(toAddress), attribution };
  },

  /** Returns each address once, as entered most recently. */
  async listRecentAddresses({ customer, limit = DEFAULT_LIMIT }, { caller }, { em }) {
    const filters = readShipmentFilters(caller.workspaceId, {
      customerId: customer,
      failed: false,
    });
    const values: unknown[] = [caller.workspaceId];
    const parts = listParts(STATES, filters, values);
    const sql = selectListed(ROUTE, parts, `limit ${MAX_SHIPMENTS}`);
    const rows = await runStatement<Route>(em, sql, values);
    const used = rows.flatMap(({ pickup, dropoff, createdAtMs }) =>
      [pickup, dropoff].map((end) => ({ ...end, lastUsedAt: timestampFromMs(createdAtMs) })),
    );
    const byText = Map.groupBy(used, ({ address }) => address.toLowerCase());
    byText.delete("");
    return { data: [...byText.values()].slice(0, limit).map(([latest]) => latest!) };
  },
};

const endJson = (end: End) =>
  `json_build_object('address', ${end}_address, 'lat', ${end}_lat, 'lng', ${end}_lng) as ${end}`;

const ROUTE = `${ENDS.map(endJson).join(", ")},
  (extract(epoch from created_at) * 1000)::float8 as "createdAtMs"`;

interface Route extends Readonly<Record<End, Point & { readonly address: string }>> {
  readonly createdAtMs: number;
}

/**
 * Returns the point near which addresses rank higher, if any.
 *
 * @throws Refusal FIELD_INVALID if only one of the coordinates is given
 */
function nearOf({ lat, lng }: Partial<Point>): Point | undefined {
  if (lat !== undefined && lng !== undefined) return { lat, lng };
  if (lat === undefined && lng === undefined) return undefined;
  const [present, missing] = lat === undefined ? ["lng", "lat"] : ["lat", "lng"];
  const text = `${missing} is required with ${present}. Set both or neither.`;
  throw refuse("FIELD_INVALID", text, { subject: missing! });
}

function assertGeocoder(addresses: AddressLookups | undefined): AddressLookups {
  if (addresses === undefined) throw refuse("GEOCODER_NOT_CONFIGURED");
  return addresses;
}
