/** Live mode, or test mode, which uses the workspace's test twin. */
export type Mode = "live" | "test";
