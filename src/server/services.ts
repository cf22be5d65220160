import { CustomerService } from "../../gen/shipments/v1/customer_service_pb.js";
import { EventService } from "../../gen/shipments/v1/event_service_pb.js";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { WebhookService } from "../../gen/shipments/v1/webhook_service_pb.js";
import { WorkspaceService } from "../../gen/shipments/v1/workspace_service_pb.js";
