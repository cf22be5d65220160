export const ENDS = ["pickup", "dropoff"] as const;

export type End = (typeof ENDS)[number];

/** A value for each end of a route, `undefined` if the end has none. */
export type Ends<Of> = Readonly<Record<End, Of | undefined>>;
