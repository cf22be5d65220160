/** The span of what a transaction is done for, such as a call. */
export interface TransactionParent {
  readonly isRecorded: boolean;
  /** Begins the transaction's span; `others` are the spans of what else it is done for. */
  beginTransaction(others: readonly TransactionParent[]): { end(error?: unknown): void };
}

/**
 * Does a transaction, and records it in the trace of the first parent that is recorded. There is one
 * span for a transaction that is done for several, since it takes its time and its commit once; links
 * lead to it from the others, and back.
 */
export async function traceTransaction<T>(
  parents: readonly (TransactionParent | undefined)[],
  transaction: () => Promise<T>,
): Promise<T> {
  const [first, ...others] = parents.filter((parent) => parent?.isRecorded === true);
  if (first === undefined) return transaction();
  const span = first.beginTransaction(others as readonly TransactionParent[]);
  try {
    const result = await transaction();
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
