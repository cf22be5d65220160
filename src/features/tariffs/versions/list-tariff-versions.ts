import { create } from "@bufbuild/protobuf";
import {
  ListTariffVersionsResponseSchema,
  type ListTariffVersionsRequest,
  type ListTariffVersionsResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { DatabaseDeps } from "../../../db/orm.ts";
import { endPage, readPage } from "../../../pipeline/page.ts";
import { loadVersionsBelow, versionMessage, type VersionRow } from "./load-version.ts";

/** What the list is told apart by from others; it has no filters. */
const FILTERS = { list: "tariff_versions" };
/** Above every version. */
const MAX_VERSION = 2 ** 31 - 1;

/**
 * Lists the versions, the newest first.
 *
 * @throws Refusal FIELD_INVALID for a page token that is not of this list
 */
export async function listTariffVersions(
  request: ListTariffVersionsRequest,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<ListTariffVersionsResponse> {
  const page = readPage(request, FILTERS, toVersionNumber);
  const found = await loadVersionsBelow(em.fork(), page.after ?? MAX_VERSION, page.limit);
  const { rows, nextPageToken } = endPage(found, page, ({ version }) => [version], bytesOf);
  return create(ListTariffVersionsResponseSchema, {
    data: rows.map(versionMessage),
    nextPageToken,
  });
}

function toVersionNumber([version]: readonly unknown[]): number | undefined {
  const isVersion = Number.isInteger(version) && Math.abs(version as number) <= MAX_VERSION;
  return isVersion ? (version as number) : undefined;
}

/** All but the note and the tiers, in bytes. */
const OTHER_BYTES = 1_000;

/** The most bytes that a version takes in an answer: of text each character up to six, escaped. */
function bytesOf({ fees, note, author }: VersionRow): number {
  const text = (note?.length ?? 0) + (author?.length ?? 0);
  return JSON.stringify(fees).length + 6 * text + OTHER_BYTES;
}
