/** Where the address is kept, for this tab alone. */
const KEY = "return-address";

/** Notes where the reader is, to come back after signing in. */
export function keepReturnAddress(): void {
  const { pathname, search } = location;
  if (pathname !== "/" && pathname !== "/sign-in") sessionStorage.setItem(KEY, pathname + search);
}

/** The address that was noted, once. */
export function takeReturnAddress(): string | undefined {
  const address = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return address?.startsWith("/") && !address.startsWith("//") ? address : undefined;
}
