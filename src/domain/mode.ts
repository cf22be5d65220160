/** Whether it is for real, or in the test twin of a workspace. */
export type Mode = "live" | "test";
