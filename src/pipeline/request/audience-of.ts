import type { DescMethod } from "@bufbuild/protobuf";
import type { Audience } from "../call.ts";

/** Whom the services of a package are for; those of others are for workspaces. */
const AUDIENCES: Readonly<Record<string, Audience>> = {
  "shipments.admin.v1": "operator",
  "shipments.account.v1": "person",
};

/** Whose calls a method takes. */
export function audienceOf({ parent }: DescMethod): Audience {
  return AUDIENCES[parent.file.proto.package] ?? "workspace";
}
