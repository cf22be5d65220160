interface PageOf<T> {
  readonly data: readonly T[];
  readonly nextPageToken: string;
}

/** Loads all pages of a list. `load` loads one of them. */
export async function loadAllPages<T>(
  load: (request: { readonly pageSize: number; readonly pageToken: string }) => Promise<PageOf<T>>,
): Promise<readonly T[]> {
  const rows: T[] = [];
  let pageToken = "";
  do {
    const page = await load({ pageSize: 100, pageToken });
    rows.push(...page.data);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return rows;
}
