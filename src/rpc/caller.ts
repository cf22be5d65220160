/** Who calls: the workspace that an API key stands for. */
export interface Caller {
  readonly workspaceId: number;
}

/** One call on its way to an RPC's function, whichever door it came in by. */
export interface Call {
  readonly caller: Caller;
  readonly requestId: string;
  /** When the caller stops waiting, on the clock of `performance.now()`, in milliseconds. */
  readonly deadlineMs: number | undefined;
}
