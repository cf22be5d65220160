import { useIsTest } from "../api/session.ts";
import { grpcAddress } from "../api/sign-in.ts";
import { useQuery } from "../api/use-query.ts";
import { Code } from "../ui/copy-button.tsx";
import { Section } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";

const ROUTE = `{"pickup_lat": 40.758, "pickup_lng": -73.9855,
       "dropoff_lat": 40.6782, "dropoff_lng": -73.9442,
       "weight_kg": 2.5}`;

/** Commands that quote, for the address at which the reader sees the service. */
export function ApiCalls() {
  const grpc = useQuery(grpcAddress, []);
  return (
    <Section title="A first call">
      <div class="form">
        <p>
          Put a key into a variable, and ask what a delivery would cost. The key says for which
          workspace.
        </p>
        <Code
          text={curlCommand(location.origin, useIsTest() ? "shp_test_..." : "shp_...")}
          what="command"
        />
        <p>
          The same by gRPC, with the definitions from the service itself. Connect and gRPC-Web are
          spoken at <code>{location.origin}</code>.
        </p>
        <QueryView query={grpc}>
          {(address) => <Code text={grpcCommand(address)} what="command for gRPC" />}
        </QueryView>
      </div>
    </Section>
  );
}

function curlCommand(origin: string, key: string): string {
  return `export SHIPMENTS_KEY=${key}
curl -sS ${origin}/v1/shipments/quote \\
  -H "Authorization: Bearer $SHIPMENTS_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${ROUTE}'`;
}

function grpcCommand(address: string): string {
  const cleartext = address.startsWith("http:") ? " --http2-prior-knowledge" : "";
  return `npx @bufbuild/buf curl --protocol grpc${cleartext} \\
  -H "Authorization: Bearer $SHIPMENTS_KEY" \\
  -d '${ROUTE}' \\
  ${address}/shipments.v1.ShipmentService/QuoteShipment`;
}
