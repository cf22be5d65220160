import { create } from "@bufbuild/protobuf";
import {
  ListOperatorsResponseSchema,
  type ListOperatorsRequestValid,
  type ListOperatorsResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { endPage, readPage } from "../../pipeline/page.ts";
import { loadWorkingKeys } from "./operator-keys.ts";
import { operatorMessage } from "./operators.ts";
import { Operator } from "./operator.entity.ts";

/**
 * Lists operators, oldest first; those that were revoked only if asked for.
 *
 * @throws Refusal FIELD_INVALID for a page token that is not of a list with this filter
 */
export async function listOperators(
  request: ListOperatorsRequestValid,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<ListOperatorsResponse> {
  const { includeRevoked = false } = request;
  const page = readPage(request, { list: "operators", includeRevoked }, readId);
  const reading = em.fork();
  const found = await reading.find(
    Operator,
    {
      ...(includeRevoked ? {} : { revokedAt: null }),
      ...(page.after === undefined ? {} : { id: { $gt: page.after } }),
    },
    { orderBy: { id: "asc" }, limit: page.limit },
  );
  const { rows, nextPageToken } = endPage(found, page, ({ id }) => [id]);
  const keys = await loadWorkingKeys(reading, ...rows.map(({ id }) => id));
  const keysOf = Map.groupBy(keys, ({ operator }) => operator);
  const data = rows.map((operator) => operatorMessage(operator, keysOf.get(operator.id) ?? []));
  return create(ListOperatorsResponseSchema, { data, nextPageToken });
}

function readId([id]: readonly unknown[]): number | undefined {
  return Number.isSafeInteger(id) ? (id as number) : undefined;
}
