import type { TrackingTexts } from "../texts.ts";

export const de: TrackingTexts = {
  title: (sender) => `Ihre Lieferung von ${sender}`,
  headline: {
    pending: "Ihre Lieferung ist gebucht",
    awaiting_pickup: "Ihre Lieferung wartet auf den Kurier",
    in_transit: "Ihre Lieferung ist unterwegs",
    delivered: "Ihre Lieferung ist angekommen",
    cancelled: "Ihre Lieferung wurde storniert",
  },
  step: {
    pending: "Gebucht",
    awaiting_pickup: "Wartet auf den Kurier",
    in_transit: "Unterwegs",
    delivered: "Zugestellt",
    cancelled: "Storniert",
  },
  steps: "Verlauf",
  pickup: (window) => `Abholung durch den Kurier: ${window}`,
  delivery: (window) => `Zustellung: ${window}`,
  late: "Später als geplant",
  reference: "Sendungsnummer",
  area: "Gebiet",
  contact: "Fragen?",
  timeZone: (name) => `Alle Zeiten in der Zeitzone ${name}.`,
  test: "Nur ein Test: Es wird nichts zugestellt.",
  missing: "Dieser Link ist nicht mehr gültig",
  missingWhy: "Er ist abgelaufen oder wurde ersetzt. Der Absender kann Ihnen einen neuen schicken.",
  busy: "Bitte versuchen Sie es gleich noch einmal",
  busyWhy: "Diese Seite wird gerade zu oft aufgerufen.",
};
