import { findLinked, type TrackingDeps } from "../features/shipments/find-tracked.ts";
import { unsubscribe } from "../features/recipients/send-notices.ts";
import { zoneNameAt } from "../features/tariffs/coverage/coverage-functions.ts";
import type { TariffCache } from "../features/tariffs/versions/tariff-cache.ts";
import {
  busyPage,
  LANGUAGES,
  missingPage,
  POLICY,
  trackingPage,
  unsubscribePage,
} from "../tracking/tracking-page.ts";
import type { Language } from "../tracking/texts.ts";
import type { TrackingPages } from "../transport/http/tracking.ts";

/** Builds the pages of shipments for whoever waits for them. */
export function createTrackingPages({
  tariffs,
  ...deps
}: Omit<TrackingDeps, "zoneAt"> & {
  readonly tariffs: Pick<TariffCache, "current" | "currentVersion">;
}): TrackingPages<Language> {
  const zoneAt: TrackingDeps["zoneAt"] = (point) => zoneNameAt(tariffs, point);
  return {
    languages: LANGUAGES,
    contentSecurityPolicy: POLICY,
    async page(link, readerOf) {
      const { tracked } = (await findLinked(link, { ...deps, zoneAt })) ?? {};
      return tracked && trackingPage(tracked, readerOf(tracked.recipientLocale));
    },
    async unsubscribe(asked, readerOf) {
      const found = await unsubscribe(asked, { ...deps, zoneAt });
      if (found === undefined) return undefined;
      const { sender, recipientLocale } = found;
      return unsubscribePage(sender, asked.isConfirmed, readerOf(recipientLocale));
    },
    missing: missingPage,
    busy: busyPage,
  };
}
