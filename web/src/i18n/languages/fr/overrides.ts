import type { Texts } from '../../texts.ts';

export const overrides: Texts['overrides'] = {
  open: 'Modifier ce que voient les clients',
  openOf: 'Modifier ce que les clients de ce groupe voient de {{tool}}',
  badge: 'redéfini',
  title: 'Ce que les clients voient de {{tool}}',
  ofServer: 'Vaut sur chaque endpoint. Le serveur « {{server}} » lui-même n’est pas modifié.',
  ofGroup:
    'Vaut sur les endpoints du groupe « {{group}} » et prime sur ce qui est défini pour le serveur « {{server}} ».',
  nameOnly: 'Ce serveur est géré par d’autres. Dans votre groupe, vous pouvez donner d’autres noms à ses outils.',
  unknown: 'Le serveur n’a pas encore listé cet outil : rien ne peut être comparé.',
  name: 'Nom pour les clients',
  nameHint: 'Lettres, chiffres, « _ » et « - ».',
  toolTitle: 'Titre',
  toolTitleHint: 'Ce que les clients affichent aux personnes.',
  description: 'Description',
  descriptionHint: 'Chaque modèle la lit à chaque conversation. Vide : le texte du serveur.',
  hintsHint:
    'Les règles et les clés d’accès en lecture seule s’appuient dessus. Corrigez-les là où le serveur ne dit rien, ou se trompe.',
  hintsOfGroup:
    'Les clients du groupe les voient. Les règles et les clés d’accès s’appuient sur ce que dit le serveur, ou sa propre redéfinition.',
  hints: {
    readOnlyHint: 'Lit seulement',
    destructiveHint: 'Peut détruire quelque chose',
    idempotentHint: 'Un second appel ne change rien de plus',
    openWorldHint: 'Accède au monde extérieur',
  },
  saysYes: 'Comme le dit le serveur : oui',
  saysNo: 'Comme le dit le serveur : non',
  saysNothing: 'Le serveur ne dit rien',
  yes: 'Oui',
  no: 'Non',
  arguments: 'Arguments',
  argumentsHint:
    'N’y mettez pas de secrets : ceux qui gèrent le serveur voient ces valeurs, et elles figurent dans les enregistrements des appels.',
  required: 'obligatoire',
  gone: 'l’outil ne l’a pas actuellement',
  way: 'Qui le donne',
  ways: {
    open: 'Le client, comme le dit le serveur',
    default: 'Le client ; sinon cette valeur',
    value: 'Toujours cette valeur',
  },
  value: 'Valeur',
  asJson: 'En JSON : 20, true, "texte", ["a", "b"]',
  noJson: 'Ce n’est pas une valeur JSON. Un texte doit être entre guillemets.',
  hide: 'Le cacher aux clients',
  preview: 'Tel que les clients le voient',
  difference: 'L’outil listé, avant et après',
  same: 'Tel que son serveur le présente.',
  costs: '≈ {{before}} tokens avant, ≈ {{after}} après',
  overtaken: 'Cette redéfinition a été modifiée ailleurs entre-temps. Enregistrer la remplace par ce qui est ici.',
  remove: 'Revenir à l’outil du serveur',
  removeTitle: 'Supprimer la redéfinition ?',
  removeText: 'Les clients voient l’outil avec le nom, les textes et les arguments qu’il avait auparavant.',
  removed: 'La redéfinition est supprimée.',
};

export const parts: Texts['parts'] = {
  title: 'Grands résultats',
  were: 'Les résultats de cet outil ont compté jusqu’à ≈ {{tokens}} tokens ces 30 derniers jours.',
  offer: 'Les renvoyer en plusieurs parties',
  most: 'Nombre maximal de tokens par résultat',
  mostHint:
    'Les clients reçoivent les premiers éléments entiers et lisent la suite au besoin. 0 : toujours entier. Vide : comme le serveur.',
  ofServer: 'Nombre maximal de tokens par résultat',
  ofServerHint:
    'Les résultats plus grands arrivent en plusieurs parties. 0 : toujours entiers. Vide : selon les paramètres.',
  ofGroupHint:
    'Aux endpoints de ce groupe. Les résultats plus grands arrivent en parties. 0 : toujours entiers. Vide : comme pour le serveur.',
  ofHubHint:
    'Les résultats plus grands arrivent en plusieurs parties ; un serveur, un groupe ou un outil peut avoir sa propre limite. Vide : toujours entiers.',
  context: 'Ce que lisent les modèles',
  skills: 'Dossier des skills',
  skillsHint:
    'Sur la machine du hub. Chaque dossier contenant un SKILL.md y est proposé à tous les clients de tous les endpoints.',
  code: 'Mode code',
  codeHint: 'Limites d’une exécution sur /mcp/$code.',
  codeSeconds: 'Secondes',
  codeMemory: 'Mémoire (Mo)',
  codeCalls: 'Appels',
};

export const secrets: Texts['secrets'] = {
  title: 'Secrets dans les appels',
  secretsIn: 'Secrets dans les arguments',
  secretsOut: 'Secrets dans les résultats',
  hint: 'Les jetons et les clés reconnaissables à leur forme.',
  allow: 'Ne sont pas recherchés',
  mask: 'Sont masqués',
  refuse: 'L’appel est refusé',
};
