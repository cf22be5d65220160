import { create, type DescMethod } from "@bufbuild/protobuf";
import {
  CreateTariffDraftRequestSchema,
  DeleteTariffDraftRequestSchema,
  PublishTariffRequestSchema,
  TariffService,
  UploadTariffZonesRequestSchema,
  type PublishTariffResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { isObject } from "../../../domain/faults.ts";
import { parseTariff } from "../../../domain/pricing/tariff.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { createTransact } from "../../idempotency/with-idempotency.ts";
import { faultyTariffError, type DraftDeps } from "./check-stored-draft.ts";
import { createTariffDraft } from "./create-tariff-draft.ts";
import { publishTariff } from "./publish-tariff.ts";
import { deleteDraft } from "./tariff-drafts.ts";
import { uploadTariffZones } from "./upload-tariff-zones.ts";

export interface DocumentToPublish {
  /** Parsed JSON document. Its `version`, which `loadPublishedTariff` adds, is ignored. */
  readonly document: unknown;
  readonly name: string;
  readonly note?: string | undefined;
  /** Whether existing quotes keep their price. Defaults to true. */
  readonly honoursQuotes?: boolean | undefined;
  callOf(method: DescMethod): OperatorCall;
}

/**
 * Publishes a document, which replaces the tariff in force. Uses a temporary draft, which is removed even on failure.
 *
 * @throws Refusal TARIFF_FAULTY with every error and its path, and the refusals of `createTariffDraft`,
 *   `uploadTariffZones` and `publishTariff`
 */
export async function publishDocument(
  deps: DraftDeps,
  { document, name, note, honoursQuotes, callOf }: DocumentToPublish,
): Promise<PublishTariffResponse> {
  if (!isObject(document)) throw faultyTariffError(parseTariff(document).faults!);
  const { version: _, zones, ...head } = document;
  const { method } = TariffService;
  const transact = createTransact(deps);
  const request = create(CreateTariffDraftRequestSchema, { name });
  const call = callOf(method.createTariffDraft);
  const creating = { method: method.createTariffDraft, request, call };
  const created = await transact(creating, (tx) => createTariffDraft(request, call, tx, head));
  const draft = created.data!.id;
  try {
    if (zones !== undefined) {
      const data = Buffer.from(JSON.stringify(zones));
      const uploading = create(UploadTariffZonesRequestSchema, { draft, data });
      await uploadTariffZones(uploading, callOf(method.uploadTariffZones), deps);
    }
    const publishing = create(PublishTariffRequestSchema, { draft, note, honoursQuotes });
    return await publishTariff(publishing, callOf(method.publishTariff), deps);
  } catch (error) {
    const deleting = {
      method: method.deleteTariffDraft,
      request: create(DeleteTariffDraftRequestSchema, { draft }),
      call: callOf(method.deleteTariffDraft),
    };
    // Ignores errors while deleting the draft, because the publishing error is more useful.
    await transact(deleting, ({ em }) => deleteDraft(em, deleting.call, draft)).catch(() => undefined);
    throw error;
  }
}
