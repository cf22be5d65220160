/** Live, or test mode in the workspace's test twin. */
export type Mode = "live" | "test";
