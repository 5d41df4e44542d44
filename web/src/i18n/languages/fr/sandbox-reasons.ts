/** Why a server in a sandbox does not start: a part of `reasons`. */
export const sandboxReasons = {
  sandbox_missing: {
    text: 'Le serveur doit tourner dans un bac à sable, et la commande "bwrap" (bubblewrap) manque sur cette machine.',
    advice: 'Installez le paquet bubblewrap, ou mettez "sandbox" du serveur à false.',
  },
  container_missing: {
    text: 'Le serveur doit tourner dans un conteneur, et ni "docker" ni "podman" n’est sur cette machine.',
    advice: 'Installez l’un des deux, ou retirez "container" du serveur.',
  },
  sandbox_forbidden: {
    text: 'Le système ne laisse pas le hub créer de bac à sable : {{line}}',
    advice:
      'Autorisez les espaces de noms utilisateur pour l’utilisateur du hub, ou mettez "sandbox" du serveur à false.',
  },
  sandbox_path: {
    text: '« {{path}} », que le bac à sable doit contenir, n’existe pas.',
    advice: 'Créez-le, ou corrigez "{{list}}".',
  },
  sandbox_secret: {
    text: '« {{path}} » est ou contient ce qu’aucun bac à sable ne contient : le dossier de données ou les réglages du hub, ou le système lui-même.',
    advice:
      'Indiquez dans "{{list}}" des dossiers qui ne les contiennent pas, ou déplacez le dossier de données et les réglages.',
  },
  sandbox_nested: {
    text: '« {{path}} » se trouve dans un dossier où le bac à sable peut écrire, ou passe par un tel dossier : le programme pourrait y mettre un lien.',
    advice: 'Indiquez dans "{{list}}" des chemins hors de "sandbox.write".',
  },
  sandbox_program: {
    text: 'Le programme « {{command}} » n’est pas dans son bac à sable.',
    advice: 'Ajoutez son dossier à "sandbox.read".',
  },
};
