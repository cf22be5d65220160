/** Writes the alerts as a resource for the Prometheus operator, which cannot read the alerts file directly. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ALERTS = join(import.meta.dirname, "alerts.yaml");
const RULE = "../kubernetes/components/service-monitor/prometheus-rule.yaml";

const HEAD = `# Written by \`npm run generate\` from src/deploy/monitoring/alerts.yaml.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: shipment-booking
  labels:
    app.kubernetes.io/name: shipment-booking
spec:
`;

const [groups] = /^groups:.*/ms.exec(readFileSync(ALERTS, "utf8"))!;
writeFileSync(join(import.meta.dirname, RULE), HEAD + groups.replace(/^(?=.)/gm, "  "));
