import type { TrackingTexts } from "../texts.ts";

export const fr: TrackingTexts = {
  title: (sender) => `Votre livraison de ${sender}`,
  headline: {
    pending: "Votre livraison est réservée",
    awaiting_pickup: "Votre livraison attend d’être enlevée",
    in_transit: "Votre livraison est en route",
    delivered: "Votre livraison est arrivée",
    cancelled: "Votre livraison a été annulée",
  },
  step: {
    pending: "Réservée",
    awaiting_pickup: "Prête à être enlevée",
    in_transit: "En route",
    delivered: "Livrée",
    cancelled: "Annulée",
  },
  steps: "Suivi",
  pickup: (window) => `Enlèvement : ${window}`,
  delivery: (window) => `Livraison : ${window}`,
  late: "Plus tard que prévu",
  current: "maintenant",
  reference: "Référence",
  area: "Secteur",
  contact: "Des questions ?",
  timeZone: (name) => `Les heures sont celles du fuseau horaire ${name}.`,
  test: "Un essai : rien n’est livré.",
  missing: "Il n’y a pas de livraison à cette adresse",
  missingWhy:
    "Le lien a peut-être expiré ou été remplacé. La personne qui vous l’a envoyé peut vous en envoyer un autre.",
};
