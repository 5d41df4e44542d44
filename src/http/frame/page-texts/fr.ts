import type { PageTexts } from './en.ts';

export const texts: PageTexts = {
  notConnected: 'Non connecté',
  wentWrong: 'Une erreur s’est produite dans le hub. Son journal en dit plus.',
  wentWrongBeginAgain: 'Une erreur s’est produite dans le hub. Son journal en dit plus. Recommencez.',
  sentByOther: 'Ce formulaire a été envoyé par une autre page. Recommencez dans l’application.',
  sentByOtherOpenThis: 'Ce formulaire a été envoyé par une autre page. Ouvrez plutôt l’adresse de celle-ci.',

  username: 'Nom d’utilisateur',
  password: 'Mot de passe',
  continueButton: 'Continuer',
  code: 'Code de votre application d’authentification, ou code de récupération',
  recoveryCode: 'Code de récupération',
  usePasskey: 'Utiliser une passkey',
  noPasskey: 'Le navigateur n’a fourni aucune passkey. Réessayez, ou utilisez un code.',
  oneAdmin: 'Se connecter avec un mot de passe (un administrateur le peut)',
  logInWith: 'Se connecter avec {{provider}}',

  logIn: 'Se connecter à Tool Hub',
  logInForApp: '{{client}} souhaite utiliser ce Tool Hub. Connectez-vous pour dire ce qui lui est permis.',
  noWayIn: 'Aucune connexion n’est possible pour cette application. Demandez à un administrateur.',

  letIn: 'Laisser entrer {{client}} ?',
  wantsToUse: '{{client}} souhaite utiliser les outils de ce hub en tant que {{user}}.',
  answerAt: 'La réponse lui parvient à {{host}}.',
  notProved: 'L’application n’a pas prouvé son identité : n’importe quelle application peut s’appeler ainsi.',
  proved: 'L’application a prouvé son identité : {{host}} s’en porte garant.',
  onlySays:
    'L’application n’a pas prouvé qu’elle est celle de {{host}} : n’importe quelle application de votre ordinateur peut le prétendre.',
  asksFor: 'Elle demande {{resource}}. Elle peut lister et appeler ce qui s’y trouve, sans modifier aucun paramètre.',
  asksForApi: 'Elle demande {{resource}}. Elle peut lister et appeler ce qui s’y trouve.',
  reach: 'Ce à quoi elle peut accéder',
  everything: 'Tout ce que vous pouvez utiliser là, sauf choix ci-dessous',
  onlyGroups: 'Seulement ces groupes',
  onlyServers: 'Seulement ces serveurs',
  more: 'Ce qu’elle demande de plus',
  manage:
    'Gérer ce hub comme vous le pouvez : serveurs, groupes, paramètres, journaux, mais ni comptes, ni mots de passe, ni clés, ni applications.',
  manageAsAdmin: 'Vous êtes administrateur : elle pourrait exécuter n’importe quel programme là où le hub fonctionne.',
  allow: 'Autoriser',
  deny: 'Refuser',

  notSignedIn: 'Connexion non aboutie',
  signIn: 'Se connecter à {{server}}',
  signInLead: 'Dites à Tool Hub qui vous êtes. Vous serez ensuite dirigé là où le serveur demande de vous connecter.',
  signInAfter: '{{link}}, puis connectez-vous là au serveur.',
  signedIn: 'Connecté à {{server}}',
  signedInLead: 'Le hub s’y connecte maintenant. Vous pouvez fermer cette fenêtre.',

  notLoggedIn: 'Connexion non aboutie',
  backToHub: 'Retour au hub',
};
