/** What is drawn for each place of the navigation, in 16 units by 16, by the place's name. */
const DRAWN: Readonly<Record<string, string>> = {
  Overview: "M2.5 13.5h11M4 11V8M8 11V3.5M12 11V6",
  "Needs attention": "M8 2.2 14.3 13.3H1.7ZM8 6.6v3M8 11.5h.01",
  Shipments: "M8 1.8 13.5 5v6L8 14.2 2.5 11V5ZM2.5 5 8 8.2 13.5 5M8 8.2v6",
  "Quote and book": "M4 2.5h8v11l-2-1.3-2 1.3-2-1.3-2 1.3ZM6 5.8h4M6 8.5h4",
  Customers: "M8 7.5a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2ZM3 13.7a5 5 0 0 1 10 0",
  General:
    "M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4ZM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4",
  API: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  Webhooks: "M2 8h8M7 4.5 10.5 8 7 11.5M13.5 3v10",
  Tariff: "M8.5 2h5.5v5.5L7.8 13.7 2.3 8.2ZM11 5h.01",
  Drafts: "M9.8 3.2 12.8 6.2 5.8 13.2H2.8v-3ZM8.3 4.7l3 3",
  Workspaces: "M2 2.5h5v5H2ZM9 2.5h5v5H9ZM2 9.5h5v4H2ZM9 9.5h5v4H9Z",
  Operators: "M8 1.8 13 3.6v4c0 3.1-2 5.4-5 6.6-3-1.2-5-3.5-5-6.6v-4ZM5.8 8l1.6 1.6 3-3.2",
  "Audit log": "M3 3.5h10M3 6.5h10M3 9.5h6M3 12.5h6M11 11.5l1.2 1.2 2-2.2",
  Health: "M1.5 8.5H5L6.5 4l3 8.5L11 8.5h3.5",
  Docs: "M8 4.2C6.5 3 4.5 2.8 2.3 3v9.8c2.2-.2 4.2 0 5.7 1.2 1.5-1.2 3.5-1.4 5.7-1.2V3C11.5 2.8 9.5 3 8 4.2Zm0 0V14",
};

/** The picture of a place, which its name says besides. */
export function NavIcon({ place }: { readonly place: string }) {
  return (
    <svg class="nav-icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={DRAWN[place] ?? ""} />
    </svg>
  );
}
