/** Texts of the tracking page and emails in English. Functions insert names and times unchanged. */
export const en = {
  title: (sender: string) => `Your delivery from ${sender}`,
  headline: {
    pending: "Your delivery is booked",
    awaiting_pickup: "Your delivery is waiting for the courier",
    in_transit: "Your delivery is on its way",
    delivered: "Your delivery has arrived",
    returned: "Your delivery was returned to the sender",
    cancelled: "Your delivery was cancelled",
  },
  /** Name of each status in the list of steps. */
  step: {
    pending: "Booked",
    awaiting_pickup: "Waiting for the courier",
    in_transit: "On its way",
    delivered: "Delivered",
    returned: "Returned",
    cancelled: "Cancelled",
  },
  steps: "Progress",
  pickup: (window: string) => `Courier pickup: ${window}`,
  delivery: (window: string) => `Delivery: ${window}`,
  eta: (time: string) => `Expected ${time}`,
  overdue: (time: string) => `Was expected ${time}`,
  atDoor: "Your courier is at the door",
  courier: "Courier",
  away: (distance: string) => `about ${distance} away`,
  attempt: {
    nobody_there: "No one was there to accept it",
    refused: "It was not accepted",
    wrong_address: "The address could not be found",
    damaged: "It was damaged",
    other: "It could not be delivered",
  },
  late: "Later than planned",
  reference: "Reference",
  area: "Area",
  contact: "Questions?",
  timeZone: (name: string) => `Times are in ${name}.`,
  items: "Contents",
  test: "This is a test: nothing is delivered.",
  missing: "This link is no longer valid",
  missingReason: "It has expired or was replaced. Ask the sender for a new link.",
  busy: "Try again in a moment",
  busyReason: "This page is busy.",
  /** Texts for the verified recipient. */
  open: {
    digits: "If you are the recipient, enter the last four digits of your phone number",
    show: "Show address",
    /** Text of the button once there is a photo. */
    showAll: "Show address and photo",
    wrong: (triesLeft: number) =>
      `Those digits don’t match. You have ${triesLeft} ${triesLeft === 1 ? "try" : "tries"} left.`,
    locked: "No tries are left. Please ask the sender.",
    address: "Address",
    photo: "Photo of the delivery",
    instructions: "Instructions for the courier",
    save: "Save",
    saved: "Your instructions are saved.",
    invalid: "Use at most 500 characters.",
    closed: "The instructions can no longer be changed here. Please ask the sender.",
  },
  /** Additional texts for emails and for the unsubscribe page. */
  mail: {
    attempted: "Your delivery could not be handed over",
    pin: (digits: string) => `Tell the courier this PIN: ${digits}`,
    follow: "Track your delivery",
    why: (sender: string) => `You’re receiving this email because ${sender} is delivering a parcel to you.`,
    stop: "Unsubscribe",
    mayStop: (sender: string) => `Unsubscribe from emails about deliveries from ${sender}?`,
    stopNow: "Unsubscribe",
    stopped: (sender: string) => `You’re unsubscribed from emails about deliveries from ${sender}.`,
  },
};

/** Texts in one language. */
export type TrackingTexts = typeof en;
