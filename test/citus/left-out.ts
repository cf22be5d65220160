/** The service's test files that do not run on a distributed database, each with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {};
