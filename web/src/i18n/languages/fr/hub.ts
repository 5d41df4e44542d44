import { sandboxReasons } from './sandbox-reasons.ts';
import type { HubTexts } from '../../hub-texts.ts';

export const reasons: HubTexts['reasons'] = {
  command_not_found: {
    text: 'La commande « {{command}} » est introuvable dans le PATH.',
    advice: 'Installez-la sur la machine du hub, ou indiquez un chemin absolu.',
  },
  command_misspelled: {
    text: 'La commande « {{command}} » est introuvable dans le PATH.',
    advice: 'Vouliez-vous dire « {{suggestion}} » ? Sinon, installez-la, ou indiquez un chemin absolu.',
  },
  launcher_not_found: {
    text: 'La commande « {{command}} » est introuvable dans le PATH.',
    advice: 'Installez {{product}} sur la machine du hub, ou indiquez un chemin absolu.',
  },
  file_not_found: { text: '« {{command}} » n’existe pas.', advice: 'Corrigez le chemin dans « Commande ».' },
  folder_not_found: {
    text: 'Le répertoire de travail « {{folder}} » n’existe pas.',
    advice: 'Créez-le, ou corrigez "cwd".',
  },
  not_executable: {
    text: '« {{command}} » ne peut pas être exécuté : la permission manque.',
    advice: 'Vérifiez ses permissions (chmod +x), ou lancez-le par son interpréteur.',
  },
  ...sandboxReasons,
  no_room: {
    text: 'Le système ne peut pas démarrer d’autre processus ({{error}}).',
    advice: 'Arrêtez d’autres programmes, ou relevez les limites de processus et de fichiers ouverts.',
  },
  npm_package_not_found: {
    text: 'Le paquet « {{package}} » n’existe pas dans le registre npm, ou il est privé.',
    advice: 'Vérifiez son nom dans « Arguments » ; un paquet privé demande un jeton dans .npmrc.',
  },
  python_package_not_found: {
    text: 'Aucun paquet Python « {{package}} » ne peut être installé.',
    advice: 'Vérifiez son nom et sa version dans « Arguments ».',
  },
  package_version_not_found: {
    text: 'Le paquet existe, mais pas dans la version demandée : {{package}}.',
    advice: 'Corrigez la version dans « Arguments », ou omettez-la.',
  },
  package_without_program: {
    text: 'Le paquet est installé, mais ne contient aucun programme à lancer.',
    advice:
      'Vérifiez son nom dans « Arguments » : c’est peut-être une bibliothèque, ou le programme porte un autre nom (npx -p <paquet> <programme>).',
  },
  image_not_found: {
    text: 'L’image « {{image}} » ne peut pas être récupérée : elle n’existe pas, ou elle est privée.',
    advice: 'Vérifiez son nom et son tag dans « Arguments », ou connectez-vous à son registre (docker login).',
  },
  docker_not_running: { text: 'Docker ne répond pas.', advice: 'Démarrez-le, et vérifiez avec "docker version".' },
  registry_refused: {
    text: 'Le registre de paquets a refusé la requête ({{code}}).',
    advice: 'Vérifiez le jeton correspondant dans .npmrc.',
  },
  registry_unreachable: {
    text: 'Le registre de paquets est injoignable ({{code}}).',
    advice: 'Vérifiez le réseau, le DNS et le proxy de la machine du hub.',
  },
  disk_full: { text: 'Le disque est plein.', advice: 'Libérez de la place sur la machine du hub.' },
  module_not_found: {
    text: 'Il manque au programme le module « {{module}} ».',
    advice: 'Installez ce dont le programme a besoin, dans le dossier ou l’environnement d’où il est lancé.',
  },
  script_not_found: {
    text: 'Le fichier à exécuter « {{file}} » n’existe pas.',
    advice: 'Corrigez le chemin dans « Arguments » ; un chemin relatif part de "cwd".',
  },
  program_not_found: {
    text: 'La commande lance « {{command}} », qui est introuvable.',
    advice: 'Installez-le sur la machine du hub, ou corrigez les arguments.',
  },
  value_missing: {
    text: 'Le programme demande {{name}} : {{line}}',
    advice: 'Définissez {{name}} dans « Variables d’environnement ».',
  },
  value_refused: {
    text: 'Le programme n’a pas pu s’authentifier avec ce qu’il a reçu : {{line}}',
    advice: 'Vérifiez le jeton ou le mot de passe dans « Variables d’environnement ».',
  },
  wrong_arguments: { text: 'Le programme n’accepte pas ses arguments : {{line}}', advice: 'Corrigez les arguments.' },
  port_taken: {
    text: 'Le programme veut un port déjà utilisé par un autre : {{line}}',
    advice: 'Arrêtez l’autre programme, ou donnez un autre port à celui-ci.',
  },
  not_permitted: {
    text: 'Le programme n’a pas le droit d’utiliser un fichier ou un dossier : {{line}}',
    advice: 'Donnez ce droit à l’utilisateur sous lequel tourne le hub.',
  },
  peer_unreachable: {
    text: 'Le programme n’atteint pas un service dont il dépend : {{line}}',
    advice: 'Vérifiez que ce service fonctionne, et l’adresse donnée au programme.',
  },
  stdout_noise: {
    text: 'Le serveur n’a pas répondu en {{seconds}} s. Il a écrit sur stdout autre chose qu’un message MCP : « {{line}} ».',
    advice: 'Vérifiez que la commande lance un serveur MCP qui communique par stdio ; les journaux vont sur stderr.',
  },
  exited_after_noise: {
    text: 'Le programme s’est terminé avec le code {{code}}. Il a écrit sur stdout autre chose qu’un message MCP : « {{line}} ».',
    advice: 'Vérifiez que la commande lance un serveur MCP qui communique par stdio.',
  },
  exited: {
    text: 'Le programme s’est terminé avec le code {{code}} : {{line}}',
    advice: 'Ses dernières lignes en disent plus. Corrigez ce qu’elles indiquent, ou la commande et ses arguments.',
  },
  exited_silently: {
    text: 'Le programme s’est terminé avec le code {{code}}, sans dire pourquoi.',
    advice: 'Lancez la commande à la main sur la machine du hub pour voir ce qu’elle fait.',
  },
  install_failed_silently: {
    text: 'L’installation du paquet s’est terminée avec le code {{code}}, sans dire pourquoi.',
    advice:
      'Un script d’un paquet a peut-être échoué, par exemple celui qui télécharge un navigateur. Lancez la commande à la main sur la machine du hub avec --foreground-scripts comme premier argument, qui montre ce que les scripts affichent.',
  },
  killed: {
    text: 'Le programme a été arrêté par {{signal}}.',
    advice: 'Avec SIGKILL, le système manquait peut-être de mémoire ; ses dernières lignes en disent peut-être plus.',
  },
  hung_up: {
    text: 'Le programme a fermé {{pipe}} sans se terminer ; il a donc été arrêté.',
    advice: 'Vérifiez que la commande lance un serveur MCP qui communique par stdio.',
  },
  silent: {
    text: 'Le serveur n’a pas répondu en {{seconds}} s, et n’a rien affiché.',
    advice: 'Vérifiez que la commande lance un serveur MCP qui communique par stdio, et qui n’attend rien d’autre.',
  },
  slow: {
    text: 'Le serveur n’a pas répondu en {{seconds}} s. Sa dernière sortie : {{line}}',
    advice:
      'S’il lui faut seulement plus de temps, les prochaines tentatives lui en laisseront davantage ; CONNECT_TIMEOUT_MS le fait dès le début.',
  },
  installs_long: {
    text: 'Le paquet n’était pas installé au bout de {{minutes}} min.',
    advice: '{{launcher}} continue de lui-même, et la prochaine tentative l’attend.',
  },
  credential_refused: {
    text: '{{where}} a répondu {{status}} : les identifiants sont refusés, ou il en faut.',
    advice:
      'Vérifiez le jeton dans « En-têtes » (Authorization) : il manque peut-être, a expiré ou vient d’un autre compte.',
  },
  credential_insufficient: {
    text: '{{where}} a répondu {{status}} : ces identifiants ne le permettent pas.',
    advice: 'Donnez au jeton les droits dont le serveur a besoin, ou utilisez-en un autre.',
  },
  no_sign_in: {
    text: '{{where}} demande des identifiants et n’offre aucune connexion (OAuth) que le hub puisse utiliser.',
    advice:
      'Donnez-lui un jeton dans « En-têtes » (Authorization), ou indiquez son serveur d’autorisation dans "oauth.issuer".',
  },
  no_endpoint: {
    text: '{{where}} a répondu {{status}}.',
    advice: 'Est-ce bien l’adresse de son endpoint MCP ? Beaucoup finissent par /mcp ou /sse.',
  },
  web_page: {
    text: '{{where}} a répondu par une page web.',
    advice: 'Est-ce bien l’adresse de son endpoint MCP ? Beaucoup finissent par /mcp ou /sse.',
  },
  not_mcp: {
    text: '{{where}} a répondu {{status}}, avec autre chose qu’un message MCP.',
    advice: 'Est-ce bien l’adresse de son endpoint MCP ?',
  },
  redirected: {
    text: '{{where}} redirige vers {{target}}, une autre origine, que le hub ne suit pas.',
    advice: 'Si c’est bien le serveur, indiquez cette adresse comme URL.',
  },
  redirected_in_a_circle: {
    text: '{{where}} redirige trop de fois.',
    advice: 'Ouvrez l’adresse dans un navigateur, et prenez celle à laquelle il aboutit.',
  },
  too_many_requests: {
    text: '{{where}} a répondu {{status}} : trop de requêtes.',
    advice: 'Le hub espace ses tentatives ; il faut peut-être relever les limites du compte.',
  },
  server_fault: {
    text: '{{where}} a répondu {{status}}.',
    advice: 'La panne vient du serveur : consultez son propre journal.',
  },
  silent_address: {
    text: 'Le serveur n’a pas répondu en {{seconds}} s.',
    advice: 'L’adresse est joignable. Consultez le journal du serveur, ou d’un proxy placé devant.',
  },
  api_not_fetched: {
    text: 'Le document OpenAPI à {{where}} a reçu la réponse {{status}}.',
    advice: 'Vérifiez son adresse dans "openapi.url".',
  },
  api_credential: {
    text: 'Le document OpenAPI à {{where}} a reçu la réponse {{status}} : il n’est pas accessible à tous.',
    advice: 'Donnez-lui des identifiants avec "openapi.specSecurity".',
  },
  api_unreadable: {
    text: 'Le document OpenAPI n’a pas pu être lu : {{why}}.',
    advice: 'Corrigez-le à cet endroit, ou son adresse dans "openapi.url".',
  },
  api_no_document: {
    text: 'Ce qui se trouve à {{where}} n’est pas un document OpenAPI.',
    advice: 'Est-ce l’adresse de la page de documentation et non celle du document ?',
  },
  api_swagger: {
    text: 'Le document à {{where}} est en Swagger 2.0, qui n’est pas pris en charge.',
    advice: 'Convertissez-le en OpenAPI 3, par exemple avec https://converter.swagger.io.',
  },
  api_version: {
    text: 'Le document à {{where}} n’indique pas qu’il est en OpenAPI 3.',
    advice: 'Son membre "openapi" doit valoir "3.0.x" ou "3.1.x".',
  },
  api_without_operations: {
    text: 'Le document OpenAPI n’a aucune opération utilisable : {{why}}.',
    advice: 'Corrigez-le, ou utilisez le document d’une autre version de l’API.',
  },
  api_failed: {
    text: 'L’API n’a pas pu être lue : {{why}}',
    advice: 'Le journal en dit plus. Si le document est correct, signalez-le.',
  },
  port_closed: { text: '{{where}} est injoignable : connexion refusée.', advice: 'Le serveur est-il en marche ?' },
  host_unknown: {
    text: '{{where}} est injoignable : nom d’hôte inconnu.',
    advice: 'Vérifiez l’adresse dans {{setting}}, et le DNS.',
  },
  no_route: {
    text: '{{where}} est injoignable : aucune route vers l’hôte ({{code}}).',
    advice: 'Vérifiez le réseau et les pare-feu.',
  },
  no_connection_in_time: {
    text: '{{where}} est injoignable : pas de connexion dans le délai prévu.',
    advice: 'L’adresse est-elle juste ? Un pare-feu la bloque-t-il ?',
  },
  tls_self_signed: {
    text: '{{where}} est injoignable : son certificat est autosigné.',
    advice: 'Ajoutez le certificat avec NODE_EXTRA_CA_CERTS.',
  },
  tls_unknown_issuer: {
    text: '{{where}} est injoignable : l’émetteur de son certificat est inconnu.',
    advice: 'Ajoutez le certificat de l’émetteur avec NODE_EXTRA_CA_CERTS.',
  },
  tls_expired: {
    text: '{{where}} est injoignable : son certificat a expiré.',
    advice: 'Il doit être renouvelé sur le serveur.',
  },
  tls_not_valid_yet: {
    text: '{{where}} est injoignable : son certificat n’est pas encore valide.',
    advice: 'Vérifiez l’heure de la machine.',
  },
  tls_other_name: {
    text: '{{where}} est injoignable : son certificat est pour un autre nom d’hôte.',
    advice: 'Utilisez le nom qui figure dans le certificat.',
  },
  tls_not_spoken: {
    text: '{{where}} est injoignable : TLS n’y est pas pris en charge.',
    advice: 'L’adresse devrait-elle commencer par http:// ?',
  },
  tls_failed: {
    text: '{{where}} est injoignable : aucune connexion sécurisée n’aboutit ({{code}}).',
    advice: 'Vérifiez les versions de TLS acceptées des deux côtés.',
  },
  http_not_spoken: {
    text: '{{where}} est injoignable : HTTP n’y est pas pris en charge.',
    advice: 'Le port est-il le bon ?',
  },
  sign_in_needed: {
    text: 'Le serveur demande une connexion.',
    advice: 'Connectez-vous-y une fois, sur sa page du tableau de bord.',
  },
};
