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
import { faultyTariffError, type DraftDeps } from "./check-stored-draft.ts";
import { createTariffDraft } from "./create-tariff-draft.ts";
import { deleteTariffDraft } from "./delete-tariff-draft.ts";
import { publishTariff } from "./publish-tariff.ts";
import { uploadTariffZones } from "./upload-tariff-zones.ts";

/** What is published, and by whom. */
export interface DocumentToPublish {
  /** As parsed from JSON; a `version`, as `loadPublishedTariff` adds, is left out. */
  readonly document: unknown;
  /** What the draft is called meanwhile. */
  readonly name: string;
  readonly note?: string | undefined;
  /** Whether quotes of before keep their price; default true. */
  readonly honoursQuotes?: boolean | undefined;
  /** Builds the call of a method. */
  callOf(method: DescMethod): OperatorCall;
}

/**
 * Publishes a whole document, in the place of whatever is in force: by a draft, which is removed
 * however it ends.
 *
 * @throws Refusal TARIFF_FAULTY with every fault under its path, and as `createTariffDraft`,
 *   `uploadTariffZones` and `publishTariff` do
 */
export async function publishDocument(
  deps: DraftDeps,
  { document, name, note, honoursQuotes, callOf }: DocumentToPublish,
): Promise<PublishTariffResponse> {
  if (!isObject(document)) throw faultyTariffError(parseTariff(document).faults!);
  const { version: _, zones, ...head } = document;
  const { method } = TariffService;
  const creating = create(CreateTariffDraftRequestSchema, { name });
  const created = await createTariffDraft(creating, callOf(method.createTariffDraft), deps, head);
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
    const deleting = create(DeleteTariffDraftRequestSchema, { draft });
    // Why it was not published says more than why its draft is still there.
    await deleteTariffDraft(deleting, callOf(method.deleteTariffDraft), deps).catch(
      () => undefined,
    );
    throw error;
  }
}
