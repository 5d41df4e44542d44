import type { Texts } from '../../texts.ts';

export const palette: Texts['palette'] = {
  title: 'Rechercher partout',
  open: 'Rechercher…',
  placeholder: 'Serveurs, outils, groupes, pages, actions',
  found_one: '{{number}} résultat',
  found_many: '{{number}} de résultats',
  found_other: '{{number}} résultats',
  kinds: {
    page: 'Page',
    action: 'Action',
    server: 'Serveur',
    group: 'Groupe',
    tool: 'Outil',
    key: 'Clé',
    user: 'Utilisateur',
  },
  reconnect: 'Reconnecter {{name}}',
  paste: 'Ajouter des serveurs en collant une configuration',
  theme: 'Changer de thème : {{theme}}',
  keys: 'Raccourcis clavier',
  keysText: 'Ils sont sans effet pendant la saisie dans un champ ou quand une boîte de dialogue est ouverte.',
  everywhere: 'Sur toutes les pages',
  pages: 'Aller à une page',
  slash: 'Rechercher sur cette page',
  escape: 'Fermer, ou vider la recherche',
  records: 'Appel suivant et précédent, quand un appel est ouvert',
};
