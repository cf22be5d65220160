/** Ends of a route, the pickup first. */
export const ENDS = ["pickup", "dropoff"] as const;

export type End = (typeof ENDS)[number];

/** Values for both ends of a route. `undefined` if absent. */
export type Ends<Of> = Readonly<Record<End, Of | undefined>>;
