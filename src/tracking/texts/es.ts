import type { TrackingTexts } from "../texts.ts";

export const es: TrackingTexts = {
  title: (sender) => `Su envío de ${sender}`,
  headline: {
    pending: "Su envío está reservado",
    awaiting_pickup: "Su envío está a la espera del mensajero",
    in_transit: "Su envío está en camino",
    delivered: "Su envío ha llegado",
    cancelled: "Su envío se ha cancelado",
  },
  step: {
    pending: "Reservado",
    awaiting_pickup: "A la espera del mensajero",
    in_transit: "En camino",
    delivered: "Entregado",
    cancelled: "Cancelado",
  },
  steps: "Progreso",
  pickup: (window) => `Recogida por el mensajero: ${window}`,
  delivery: (window) => `Entrega: ${window}`,
  late: "Más tarde de lo previsto",
  reference: "Referencia",
  area: "Zona",
  contact: "¿Dudas?",
  timeZone: (name) => `Las horas son de la zona horaria ${name}.`,
  test: "Es una prueba: no se entregará nada.",
  missing: "Este enlace ya no es válido",
  missingWhy: "Ha caducado o se ha sustituido. Quien se lo envió puede enviarle otro.",
  busy: "Vuelva a intentarlo en un momento",
  busyWhy: "Esta página recibe demasiadas visitas en este momento.",
};
