import { UpdateShipmentRequestSchema } from "../../gen/shipments/v1/shipment_service_pb.js";
import type { FeedWatch } from "../features/events/feed-watch.ts";
import { createSubjectWatch } from "../features/events/subject-watch.ts";
import { followLinked } from "../features/shipments/follow-linked.ts";
import { findLinked, type TrackingDeps } from "../features/shipments/find-tracked.ts";
import { editInstructions, type EditDeps } from "../features/recipients/edit-instructions.ts";
import { openLinked } from "../features/recipients/open-tracking.ts";
import { unsubscribe } from "../features/recipients/send-recipient-mails.ts";
import { zoneNameAt } from "../features/tariffs/coverage/coverage-functions.ts";
import type { TariffCache } from "../features/tariffs/versions/tariff-cache.ts";
import { busyPage, LANGUAGES, missingPage, POLICY, trackingPage, unsubscribePage } from "../tracking/tracking-page.ts";
import { compileValidateRequest } from "../pipeline/request/validate-request.ts";
import type { Language } from "../tracking/texts.ts";
import type { TrackingPages } from "../transport/http/tracking.ts";

export function createTrackingPages({
  tariffs,
  feeds,
  ...own
}: Omit<EditDeps, "zoneAt" | "validateUpdate"> & {
  readonly tariffs: Pick<TariffCache, "current" | "currentVersion">;
  readonly feeds: FeedWatch;
}): TrackingPages<Language> {
  const deps = { ...own, validateUpdate: compileValidateRequest(UpdateShipmentRequestSchema) };
  const watch = createSubjectWatch({ em: deps.em, feeds });
  const zoneAt: TrackingDeps["zoneAt"] = (point) => zoneNameAt(tariffs, point);
  return {
    languages: LANGUAGES,
    contentSecurityPolicy: POLICY,
    async page(link, readerOf) {
      const { tracked } = (await findLinked(link, { ...deps, zoneAt })) ?? {};
      return tracked && trackingPage(tracked, readerOf(tracked.recipientLocale), { link });
    },
    async open(request, readerOf) {
      const { instructions } = request;
      const linked =
        instructions === undefined
          ? await openLinked(request, { ...deps, zoneAt })
          : await editInstructions(request, instructions, { ...deps, zoneAt });
      if (linked === undefined) return undefined;
      const { opened, result } = linked;
      const { tracked } = linked.shipment;
      const reader = readerOf(tracked.recipientLocale);
      return async () =>
        trackingPage(tracked, reader, {
          link: request.link,
          opened: opened && "address" in opened ? { ...opened, result, photo: await opened.loadPhoto() } : opened,
        });
    },
    follow: (link, changed) => followLinked(link, changed, { ...deps, zoneAt, watch }),
    async unsubscribe(request, readerOf) {
      const found = await unsubscribe(request, { ...deps, zoneAt });
      if (found === undefined) return undefined;
      const { sender, recipientLocale } = found;
      return unsubscribePage(sender, request.isConfirmed, readerOf(recipientLocale));
    },
    missing: missingPage,
    busy: busyPage,
  };
}
