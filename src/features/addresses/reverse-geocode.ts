import { create } from "@bufbuild/protobuf";
import {
  type ReverseGeocodeRequestValid,
  type ReverseGeocodeResponse,
  ReverseGeocodeResponseSchema,
} from "../../../gen/shipments/v1/address_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { type AddressDeps, addressMessage, assertGeocoder } from "./search-addresses.ts";

/**
 * Gives the address at a point.
 *
 * @throws Refusal GEOCODER_NOT_CONFIGURED, RATE_LIMITED, UNAVAILABLE
 */
export async function reverseGeocode(
  { lat, lng }: ReverseGeocodeRequestValid,
  call: Call,
  { addresses }: AddressDeps,
): Promise<ReverseGeocodeResponse> {
  const { reverse, attribution } = assertGeocoder(addresses);
  const data = (await reverse(call, { lat, lng })).map(addressMessage);
  return create(ReverseGeocodeResponseSchema, { data, attribution });
}
