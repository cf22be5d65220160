import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";

/** Content types of bytes fields that contain a file. HTTP responses send the file as the body. */
export const FILE_TYPES: Readonly<Record<string, string>> = {
  geojson: "application/geo+json",
  csv: "text/csv; charset=utf-8",
  jpeg: "image/jpeg",
  png: "image/png",
};

export function fileFieldOf({ fields }: DescMessage): DescField | undefined {
  return fields.find((it) => it.scalar === ScalarType.BYTES && it.name in FILE_TYPES);
}
