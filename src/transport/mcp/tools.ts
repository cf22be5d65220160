import { readFile } from "node:fs/promises";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { Tool as ToolDefinition } from "@modelcontextprotocol/server";
import { AddressService } from "../../../gen/shipments/v1/address_service_pb.js";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { QuoteService } from "../../../gen/shipments/v1/quote_service_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { compileDecodeJson, type DecodeJson } from "../../json/decode-json.ts";
import { compileEncodeJson } from "../../json/encode-json.ts";
import type { Rpc } from "../../pipeline/rpc.ts";
import { pagingOf, type Paging } from "./result-pages.ts";
import { toolNameOf } from "./tool-fix.ts";
import { inputSchemaOf, outputSchemaOf, type ApiDocument, type Operation } from "./tool-schemas.ts";

/** An RPC that agents can call as a tool. */
interface ToolRpc {
  readonly method: DescMethodUnary;
  /** Field that limits a list, and its default for agents. */
  readonly size?: readonly [field: string, count: number];
  /** Whether the tool needs a geocoder. */
  readonly needsGeocoder?: true;
  /**
   * Whether calls with equal arguments count as the same call without an idempotency key, because the effect is final.
   * Updates do not, because another update can make the same update necessary again.
   */
  readonly isOnce?: true;
}

/** RPCs that are tools, the most useful first. Tool names are derived from RPC names. */
export const TOOLS: readonly ToolRpc[] = [
  { method: AddressService.method.searchAddresses, size: ["limit", 5], needsGeocoder: true },
  { method: QuoteService.method.createQuote },
  { method: ShipmentService.method.listPickupSlots, size: ["days", 3] },
  { method: ShipmentService.method.createShipment, isOnce: true },
  { method: ShipmentService.method.getShipment },
  { method: ShipmentService.method.searchShipments, size: ["limit", 3] },
  { method: ShipmentService.method.listShipments, size: ["page_size", 10] },
  { method: ShipmentService.method.updateShipment },
  { method: ShipmentService.method.cancelShipment, isOnce: true },
  { method: ShipmentService.method.createCheckout },
  { method: EventService.method.listEvents, size: ["page_size", 10] },
];

export interface Tool extends ToolRpc {
  /** Paging of the tool's lists. `undefined` if the method returns no list. */
  readonly paging: Paging | undefined;
  readonly rpc: Rpc;
  readonly definition: ToolDefinition;
  readonly decodeJson: DecodeJson;
  readonly encodeJson: ReturnType<typeof compileEncodeJson>;
}

/**
 * Creates the tools from the RPCs and the OpenAPI document, which contains the proto comments and the
 * rules as JSON Schema.
 *
 * @returns the tools by name, such as `create_shipment`
 */
export async function loadTools(
  rpcs: readonly Rpc[],
  file: string,
  { hasGeocoder }: { readonly hasGeocoder: boolean },
): Promise<ReadonlyMap<string, Tool>> {
  const api = JSON.parse(await readFile(file, "utf8")) as ApiDocument;
  const operations = Object.values(api.paths).flatMap((methods) => Object.values(methods));
  const offered = TOOLS.filter(({ needsGeocoder }) => hasGeocoder || needsGeocoder === undefined);
  const tools = offered.map((tool) => {
    const rpc = rpcs.find(({ method }) => method === tool.method);
    const operation = operations.find((it) => it.operationId === tool.method.localName);
    if (rpc === undefined || operation === undefined) {
      throw new Error(`${tool.method.name} is not served, and so is no tool`);
    }
    const paging = tool.size === undefined ? undefined : pagingOf(tool.method);
    return {
      ...tool,
      paging,
      rpc,
      definition: define({ ...tool, paging }, rpc, operation, api),
      decodeJson: compileDecodeJson(tool.method.input),
      encodeJson: compileEncodeJson(tool.method.output),
    };
  });
  return new Map(tools.map((tool) => [tool.definition.name, tool]));
}

function define(
  { method, size, paging }: Pick<Tool, "method" | "size" | "paging">,
  { readOnly }: Rpc,
  operation: Operation,
  api: ApiDocument,
): ToolDefinition {
  return {
    name: toolNameOf(method.name),
    title: titleOf(method.name),
    description: operation.description,
    inputSchema: inputSchemaOf(operation, api, { size, paging, hasKey: !readOnly }),
    outputSchema: outputSchemaOf(operation, api, paging),
    annotations: {
      readOnlyHint: readOnly,
      // A create call only adds data (AIP-133).
      destructiveHint: !readOnly && !method.name.startsWith("Create"),
      // Repeated calls have an idempotency key or lead to the same state.
      idempotentHint: true,
    },
  };
}

/** Returns "Cancel shipment" for `CancelShipment`. */
function titleOf(rpc: string): string {
  return rpc.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
