import type { TrackingTexts } from "../texts.ts";

export const en: TrackingTexts = {
  title: (sender) => `Your delivery from ${sender}`,
  headline: {
    pending: "Your delivery is booked",
    awaiting_pickup: "Your delivery is waiting for the courier",
    in_transit: "Your delivery is on its way",
    delivered: "Your delivery has arrived",
    cancelled: "Your delivery was cancelled",
  },
  step: {
    pending: "Booked",
    awaiting_pickup: "Waiting for the courier",
    in_transit: "On its way",
    delivered: "Delivered",
    cancelled: "Cancelled",
  },
  steps: "Progress",
  pickup: (window) => `Collected by the courier: ${window}`,
  delivery: (window) => `Delivery: ${window}`,
  late: "Later than planned",
  reference: "Reference",
  area: "Area",
  contact: "Questions?",
  timeZone: (name) => `Times are in the time zone ${name}.`,
  test: "This is a test: nothing is delivered.",
  missing: "This link does not work any more",
  missingWhy: "It has ended or was replaced. Whoever sent it to you can send a new one.",
  busy: "Try again in a moment",
  busyWhy: "Too much is asked of this page just now.",
};
