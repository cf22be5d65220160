/** Parent span of a transaction, such as the span of a call. */
export interface TransactionParent {
  readonly isRecorded: boolean;
  /** Starts the transaction's span, with links to the other parent spans. */
  beginTransaction(others: readonly TransactionParent[]): { end(error?: unknown): void };
}

/**
 * Runs a transaction and records it in the trace of the first sampled parent. Several parents share one
 * span, because the transaction runs once. Links connect the span with the other parents.
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
