import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";

/** By the field of bytes that holds a file in a message: what HTTP says of it, which sends it alone. */
export const FILE_TYPES: Readonly<Record<string, string>> = {
  geojson: "application/geo+json",
  csv: "text/csv; charset=utf-8",
  jpeg: "image/jpeg",
  png: "image/png",
};

/** The field that holds a file in a response; undefined where that is something else. */
export function fileFieldOf({ fields }: DescMessage): DescField | undefined {
  return fields.find((it) => it.scalar === ScalarType.BYTES && it.name in FILE_TYPES);
}
