import type { DescMethod } from "@bufbuild/protobuf";
import {
  ApiRequestSchema,
  RequestOutcomeSchema,
  type ReportService,
} from "../../../gen/shipments/v1/report_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { readInOrder } from "../../db/transaction.ts";
import { compileEnumName, compileToMessage } from "../../json/records.ts";
import type { Call } from "../../pipeline/call.ts";
import { endPage, readPage, toId } from "../../pipeline/page.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { ApiRequest, type RequestOutcome } from "./api-request.entity.ts";
import { pathTemplateOf } from "./request-path.ts";

interface RequestDeps {
  readonly em: EntityManager;
  readonly methods: ReadonlyMap<string, DescMethod>;
}

const outcomeOf = compileEnumName<RequestOutcome>(RequestOutcomeSchema);
const toRequest = compileToMessage(ApiRequestSchema);

/**
 * Lists requests, newest first. Filters scan all stored requests of the workspace, which number at most about 10,000.
 */
export const listRequests: ServiceFunctions<typeof ReportService, Call, RequestDeps>["listRequests"] = async (
  request,
  { caller },
  { em, methods },
) => {
  const outcome = outcomeOf(request.outcome);
  const { method } = request;
  const { workspaceId: workspace } = caller;
  const page = readPage(request, { list: "requests", workspace, method, outcome }, toId);
  const where = {
    workspace,
    ...(page.after === undefined ? {} : { id: { $lt: page.after } }),
    ...(method === undefined ? {} : { method }),
    ...(outcome === undefined ? {} : { outcome }),
  };
  const options = { orderBy: { id: "desc" }, limit: page.limit } as const;
  const found = await readInOrder(em, (tx) => tx.find(ApiRequest, where, options));
  const { rows, nextPageToken } = endPage(found, page, ({ id }) => [id]);
  return {
    data: rows.map((row) => {
      const called = methods.get(row.method);
      return toRequest({ ...row, path: row.path ?? (called && pathTemplateOf(called)) });
    }),
    nextPageToken,
  };
};
