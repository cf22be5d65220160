import type { DescEnum } from "@bufbuild/protobuf";

/**
 * The names of an enum's values in the JSON dialect, by number: lower case, without the prefix that
 * the values share (`SHIPMENT_STATUS_AWAITING_PICKUP` is `awaiting_pickup`). The unspecified value
 * has none: it stands for absence.
 */
export function enumNames(schema: DescEnum): ReadonlyMap<number, string> {
  const prefix = schema.sharedPrefix?.length ?? 0;
  const named = schema.values.filter((value) => value.number !== 0);
  return new Map(named.map((value) => [value.number, value.name.slice(prefix).toLowerCase()]));
}
