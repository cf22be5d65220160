import type { TrackingTexts } from "../texts.ts";

export const fr: TrackingTexts = {
  title: (sender) => `Votre livraison · ${sender}`,
  headline: {
    pending: "Votre livraison est enregistrée",
    awaiting_pickup: "Votre livraison attend le coursier",
    in_transit: "Votre livraison est en route",
    delivered: "Votre livraison est arrivée",
    cancelled: "Votre livraison a été annulée",
  },
  step: {
    pending: "Enregistrée",
    awaiting_pickup: "En attente du coursier",
    in_transit: "En route",
    delivered: "Livrée",
    cancelled: "Annulée",
  },
  steps: "Suivi",
  pickup: (window) => `Prise en charge par le coursier : ${window}`,
  delivery: (window) => `Livraison : ${window}`,
  late: "Plus tard que prévu",
  reference: "Référence",
  area: "Secteur",
  contact: "Des questions ?",
  timeZone: (name) => `Les heures sont celles du fuseau horaire ${name}.`,
  test: "Test : aucune livraison réelle.",
  missing: "Ce lien n’est plus valable",
  missingWhy:
    "Il a expiré ou a été remplacé. La personne qui vous l’a envoyé peut vous en envoyer un autre.",
  busy: "Réessayez dans un instant",
  busyWhy: "Cette page reçoit trop de visites en ce moment.",
};
