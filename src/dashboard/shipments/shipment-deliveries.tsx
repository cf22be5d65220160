import type { Event } from "../../../gen/shipments/v1/event_pb.js";
import type { Webhook, WebhookDelivery } from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useQuery } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { QueryView } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { DeliveryBadge, LastResponse } from "../webhooks/webhook-dialogs.tsx";

/** Number of newest deliveries to search per webhook, which is the maximum of one call. */
const NEWEST = 100;

interface Sent {
  readonly delivery: WebhookDelivery;
  readonly webhook: Webhook;
}

/** Lists a shipment's webhook deliveries. The API lists deliveries only by webhook, not by shipment. */
export function ShipmentDeliveries({ events }: { readonly events: readonly Event[] }) {
  const webhooks = useClient(WebhookService);
  const query = useQuery(
    async (signal) => {
      const { data } = await webhooks.listWebhooks({}, { signal });
      const lists = data.map(async (webhook) => {
        const request = { webhook: webhook.id, pageSize: NEWEST };
        const { data: newest } = await webhooks.listWebhookDeliveries(request, { signal });
        return newest.map((delivery): Sent => ({ delivery, webhook }));
      });
      return (await Promise.all(lists)).flat();
    },
    // New events cause new deliveries.
    [webhooks, events.length],
  );
  return (
    <QueryView query={query}>
      {(newest) => {
        const ids = new Set(events.map(({ id }) => id));
        const sent = newest.filter(({ delivery }) => ids.has(delivery.event));
        return sent.length === 0 ? (
          <p class="minor">
            No deliveries among the newest {NEWEST} of each webhook. A webhook&apos;s page lists all deliveries of the
            last 30 days.
          </p>
        ) : (
          <>
            <Table
              label="Webhook deliveries"
              columns={COLUMNS}
              rows={sent}
              keyOf={({ delivery }) => String(delivery.id)}
              href={({ delivery, webhook }) =>
                paths.webhook({ webhook: webhook.id }, { delivery: String(delivery.id) })
              }
            />
            <p class="hint note">Among the newest {NEWEST} deliveries of each webhook.</p>
          </>
        );
      }}
    </QueryView>
  );
}

const COLUMNS: readonly Column<Sent>[] = [
  { header: "Event", selfEvident: true, cell: ({ delivery }) => <code>{delivery.type}</code> },
  {
    header: "Status",
    selfEvident: true,
    cell: ({ delivery }) => <DeliveryBadge status={delivery.status} />,
  },
  { header: "Last response", cell: ({ delivery }) => <LastResponse delivery={delivery} /> },
  { header: "To", cell: ({ webhook }) => webhook.url },
  { header: "Sent", align: "end", cell: ({ delivery }) => <Time at={delivery.createdAt} /> },
];
