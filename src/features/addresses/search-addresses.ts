import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  AddressPrecision,
  type AddressSchema,
  type SearchAddressesRequestValid,
  type SearchAddressesResponse,
  SearchAddressesResponseSchema,
} from "../../../gen/shipments/v1/address_service_pb.js";
import type { Point } from "../../domain/coverage/geo.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import type { AddressLookUps } from "./address-look-ups.ts";
import type { FoundAddress } from "./geocoder.ts";

/** What RPCs that ask the geocoder work with. */
export interface AddressDeps {
  /** Undefined without a geocoder. */
  readonly addresses: AddressLookUps | undefined;
}

const DEFAULT_LIMIT = 5;

/**
 * Finds addresses by what somebody types.
 *
 * @throws Refusal GEOCODER_NOT_CONFIGURED, FIELD_INVALID for half of a point, RATE_LIMITED, UNAVAILABLE
 */
export async function searchAddresses(
  request: SearchAddressesRequestValid,
  call: Call,
  { addresses }: AddressDeps,
): Promise<SearchAddressesResponse> {
  const { query, limit = DEFAULT_LIMIT } = request;
  const near = nearOf(request);
  const { search, attribution } = assertGeocoder(addresses);
  const found = await search(call, { text: query, near, limit });
  const data = found.map(addressMessage);
  return create(SearchAddressesResponseSchema, { data, attribution });
}

/** @throws Refusal FIELD_INVALID when only one of the two is given */
function nearOf({ lat, lng }: Partial<Point>): Point | undefined {
  if (lat !== undefined && lng !== undefined) return { lat, lng };
  if (lat === undefined && lng === undefined) return undefined;
  const [given, missing] = lat === undefined ? ["lng", "lat"] : ["lat", "lng"];
  const text = `${missing} is required with ${given}: give both or neither.`;
  throw refuse("FIELD_INVALID", text, { subject: missing! });
}

/** @throws Refusal GEOCODER_NOT_CONFIGURED */
export function assertGeocoder(addresses: AddressLookUps | undefined): AddressLookUps {
  if (addresses === undefined) throw refuse("GEOCODER_NOT_CONFIGURED");
  return addresses;
}

const PRECISIONS = {
  building: AddressPrecision.BUILDING,
  street: AddressPrecision.STREET,
  area: AddressPrecision.AREA,
} as const;

/** An address as answers have it. */
export function addressMessage(found: FoundAddress): MessageInitShape<typeof AddressSchema> {
  return { ...found, precision: PRECISIONS[found.precision] };
}
