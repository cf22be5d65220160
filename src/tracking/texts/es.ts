import type { TrackingTexts } from "../texts.ts";

export const es: TrackingTexts = {
  title: (sender) => `Su envío de ${sender}`,
  headline: {
    pending: "Su envío está reservado",
    awaiting_pickup: "Su envío espera la recogida",
    in_transit: "Su envío está en camino",
    delivered: "Su envío ha llegado",
    cancelled: "Su envío fue cancelado",
  },
  step: {
    pending: "Reservado",
    awaiting_pickup: "Listo para la recogida",
    in_transit: "En camino",
    delivered: "Entregado",
    cancelled: "Cancelado",
  },
  steps: "Progreso",
  pickup: (window) => `Recogida: ${window}`,
  delivery: (window) => `Entrega: ${window}`,
  late: "Más tarde de lo previsto",
  current: "ahora",
  reference: "Referencia",
  area: "Zona",
  contact: "¿Preguntas?",
  timeZone: (name) => `Las horas son de la zona horaria ${name}.`,
  test: "Una prueba: no se entrega nada.",
  missing: "No hay ningún envío en esta dirección",
  missingWhy:
    "Es posible que el enlace haya caducado o se haya sustituido. Quien se lo envió puede enviarle otro.",
};
