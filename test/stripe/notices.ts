import { Stripe } from "stripe";

/** An address that is told of events. */
export interface WebhookEndpoint {
  readonly url: string;
  /** `whsec_...`; the notices are signed with it. */
  readonly secret: string;
  /**
   * Whose events it is told of: an account's id for its own; undefined for the platform's, which is
   * told of those of all connected accounts.
   */
  readonly account?: string;
}

/** An event that an endpoint has not taken yet. */
export interface Notice {
  readonly event: Stripe.EventBase;
  readonly endpoint: WebhookEndpoint;
}

/** Sends a notice as Stripe does, signed at this time; gives the status, or 0 without an answer. */
export async function send({ event, endpoint }: Notice, nowMs: number): Promise<number> {
  const payload = JSON.stringify(event, null, 2);
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload,
    secret: endpoint.secret,
    timestamp: Math.floor(nowMs / 1000),
  });
  try {
    const response = await fetch(endpoint.url, {
      method: "POST",
      headers: { "content-type": "application/json; charset=utf-8", "stripe-signature": signature },
      body: payload,
      redirect: "manual",
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
