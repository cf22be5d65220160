import type { TrackingTexts } from "../texts.ts";

export const de: TrackingTexts = {
  title: (sender) => `Ihre Lieferung von ${sender}`,
  headline: {
    pending: "Ihre Lieferung ist gebucht",
    awaiting_pickup: "Ihre Lieferung wartet auf die Abholung",
    in_transit: "Ihre Lieferung ist unterwegs",
    delivered: "Ihre Lieferung ist angekommen",
    cancelled: "Ihre Lieferung wurde storniert",
  },
  step: {
    pending: "Gebucht",
    awaiting_pickup: "Bereit zur Abholung",
    in_transit: "Unterwegs",
    delivered: "Zugestellt",
    cancelled: "Storniert",
  },
  steps: "Verlauf",
  pickup: (window) => `Abholung: ${window}`,
  delivery: (window) => `Zustellung: ${window}`,
  late: "Später als geplant",
  current: "jetzt",
  reference: "Sendungsnummer",
  area: "Gebiet",
  contact: "Fragen?",
  timeZone: (name) => `Alle Zeiten gelten in der Zeitzone ${name}.`,
  test: "Ein Test: Es wird nichts zugestellt.",
  missing: "Unter dieser Adresse gibt es keine Lieferung",
  missingWhy:
    "Der Link ist vielleicht abgelaufen oder wurde ersetzt. Der Absender kann Ihnen einen neuen schicken.",
};
