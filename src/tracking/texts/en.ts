import type { TrackingTexts } from "../texts.ts";

export const en: TrackingTexts = {
  title: (sender) => `Your delivery from ${sender}`,
  headline: {
    pending: "Your delivery is booked",
    awaiting_pickup: "Your delivery is waiting to be picked up",
    in_transit: "Your delivery is on its way",
    delivered: "Your delivery has arrived",
    cancelled: "Your delivery was cancelled",
  },
  step: {
    pending: "Booked",
    awaiting_pickup: "Ready for pickup",
    in_transit: "On its way",
    delivered: "Delivered",
    cancelled: "Cancelled",
  },
  steps: "Progress",
  pickup: (window) => `Pickup: ${window}`,
  delivery: (window) => `Delivery: ${window}`,
  late: "Later than planned",
  current: "now",
  reference: "Reference",
  area: "Area",
  contact: "Questions?",
  timeZone: (name) => `Times are in the time zone ${name}.`,
  test: "A test: nothing is delivered.",
  missing: "There is no delivery at this address",
  missingWhy:
    "The link may have ended or been replaced. Whoever sent it to you can send a new one.",
};
