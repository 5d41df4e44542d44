import type { Texts } from '../../texts.ts';

export const login: Texts['login'] = {
  title: 'Se connecter',
  username: 'Nom d’utilisateur',
  password: 'Mot de passe',
  submit: 'Se connecter',
  expired: 'Votre session a expiré. Reconnectez-vous pour revenir là où vous étiez.',
  first: 'Première visite ?',
  firstHint:
    'À son premier démarrage, le hub a affiché le mot de passe de « admin » dans le terminal ; s’il écrit un journal à la place, celui-ci indique le fichier qui le contient. Perdu ? Définissez ADMIN_PASSWORD et démarrez avec un nouveau fichier de paramètres, ou adressez-vous à un autre administrateur.',
  lead: 'Une seule adresse pour tous vos serveurs MCP.',
  withProvider: 'Se connecter avec {{name}}',
  goOnAs: 'Continuer en tant que {{name}}',
  withPassword: 'Se connecter avec un mot de passe',
};

export const fresh: Texts['fresh'] = {
  title: 'Confirmez votre mot de passe',
  text: 'Votre connexion date de plus de 10 minutes. Cette opération demande une connexion récente.',
  go: 'Continuer',
};

export const strength: Texts['strength'] = {
  weak: 'Faible.',
  fair: 'Moyen : plus long serait mieux.',
  good: 'Bon.',
  strong: 'Fort.',
  short: 'Il est court : tous les mots de passe de cette longueur peuvent être essayés.',
  common: 'Il fait partie des mots de passe les plus courants, ou en est très proche.',
  name: 'C’est le nom d’utilisateur, ou presque.',
  product: 'C’est le nom de ce programme, ou presque.',
  repeated: 'Il répète les mêmes quelques caractères.',
  sequence: 'C’est une suite de l’alphabet, de chiffres ou du clavier.',
};
