/** Where the address is kept, for this tab alone. */
const KEY = "return-address";

/** Notes where the reader is, to come back after signing in. */
export function keepReturnAddress(): void {
  const { pathname, search } = location;
  if (pathname !== "/" && pathname !== "/sign-in") sessionStorage.setItem(KEY, pathname + search);
}

/** The address that was noted; undefined when there is none. */
export function returnAddress(): string | undefined {
  const address = sessionStorage.getItem(KEY);
  return address?.startsWith("/") && !address.startsWith("//") ? address : undefined;
}

/** The address that was noted, which is then forgotten. */
export function takeReturnAddress(): string | undefined {
  const address = returnAddress();
  sessionStorage.removeItem(KEY);
  return address;
}
